"""Naive twin of posepipe/segmentation/label_map.py.

Each pixel of the mask asks for the classified pixel of its cell.
"""

from __future__ import annotations

import numpy as np


def draw_labels(pixels, values, stride, mask):
    """uint8 (H, W), the most probable part of each pixel's cell."""
    of_cell = {(row // stride[0], col // stride[1]): n for n, (row, col) in enumerate(pixels)}
    image = np.zeros(mask.shape, np.uint8)
    for row, col in np.argwhere(mask):
        n = of_cell.get((row // stride[0], col // stride[1]))
        if n is not None and values[n, 1:].max() > 0:
            image[row, col] = values[n, 1:].argmax() + 1
    return image
