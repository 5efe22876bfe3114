"""Compressed depth images."""
