"""Naive twin of posepipe/facing/person_picture.py: every cell looks at all pixels that it touches."""

from __future__ import annotations

import math

import numpy as np


def person_picture(depth_m, mask, fx, cells=48, margin=0.1, unit_m=1 / 3):
    """Picture (cells, cells, 4) of the person of a mask (H, W)."""
    rows, columns = np.nonzero(mask)
    height, width = rows.max() - rows.min() + 1, columns.max() - columns.min() + 1
    side = round(max(height, width) * (1 + margin))
    top, left = rows.min() - (side - height) // 2, columns.min() - (side - width) // 2
    mean_m = float(np.mean([depth_m[row, column] for row, column in zip(rows, columns, strict=True)], dtype=float))
    size = math.log(side * mean_m / fx)
    return [
        [_cell(depth_m, mask, _span(top, side, cells, i), _span(left, side, cells, j), mean_m, unit_m, size)
         for j in range(cells)]
        for i in range(cells)
    ]  # fmt: skip


def _span(first, side, cells, number):
    """Pixels of a row of cells, or of a column: every one that the cell touches."""
    return [first + n for n in range(side) if (n + 1) * cells > number * side and n * cells < (number + 1) * side]


def _cell(depth_m, mask, rows, columns, mean_m, unit_m, size):
    inside = [(r, c) for r in rows for c in columns if 0 <= r < mask.shape[0] and 0 <= c < mask.shape[1]]
    own = [float(depth_m[pixel]) for pixel in inside if mask[pixel]]
    pixels = len(rows) * len(columns)
    beyond = (sum(own) / len(own) - mean_m) / unit_m if own else 0.0
    return [beyond, len(own) / pixels, len(inside) / pixels, size]
