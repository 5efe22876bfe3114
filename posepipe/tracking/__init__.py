"""Tracking: persistent ids, and optional smoothing."""
