"""Recorded depth: one file a format."""
