"""Naive twin of posepipe/segmentation/label_map.py.

Each pixel of the mask asks for the classified pixel of its cell, or else for the nearest one of the cells around.
"""

from __future__ import annotations

import numpy as np


def draw_labels(pixels, values, stride, mask):
    """uint8 (H, W), the most probable part of each pixel's cell."""
    of_cell = {(row // stride[0], col // stride[1]): n for n, (row, col) in enumerate(pixels)}
    image = np.zeros(mask.shape, np.uint8)
    for row, col in np.argwhere(mask):
        r, c = row // stride[0], col // stride[1]
        around = [(r + i, c + k) for i in (-1, 0, 1) for k in (-1, 0, 1) if (r + i, c + k) in of_cell]
        if (r, c) in of_cell:
            n = of_cell[r, c]
        elif around:
            n = of_cell[min(around, key=lambda at: (at[0] * stride[0] - row) ** 2 + (at[1] * stride[1] - col) ** 2)]
        else:
            continue
        if values[n, 1:].max() > 0:
            image[row, col] = values[n, 1:].argmax() + 1
    return image
