"""Depth differences, and the search for the split of a node."""
