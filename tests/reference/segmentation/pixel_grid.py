"""Naive twin of posepipe/segmentation/pixel_grid.py: every pixel is asked whether it is on the grid."""

from __future__ import annotations


def pixels_of(mask, stride):
    """Rows and columns of the mask's pixels that are multiples of the stride."""
    height, width = mask.shape
    every = [(row, col) for row in range(height) for col in range(width) if mask[row, col]]
    return [(row, col) for row, col in every if row % stride[0] == 0 and col % stride[1] == 0]
