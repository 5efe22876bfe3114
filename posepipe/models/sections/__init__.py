"""Sections of a model file: the arrays of each stage."""
