"""Fits the joint parameters of a classifier: modes, confidences, Gaussian and network."""
