"""Rasterise a scene and label the readings."""
