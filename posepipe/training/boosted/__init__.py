"""Trains the stages of boosted trees: person classifier, region classifier and choice of views."""
