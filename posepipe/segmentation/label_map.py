"""Kernel: label map of the most probable part, drawn over the grid cell of each classified pixel."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, njit
from posepipe.parts import PartProbabilities
from posepipe.segmentation.pixel_grid import grid_shape

UNKNOWN = -1
"""Label of a cell that has no classified pixel."""


@compiled_for("i4[:,::1], f4[:,::1], i8, i8, i2[:,::1]")
@njit(cache=True)
def _label_cells(pixels, values, row_step, col_step, cells):
    for n in range(len(pixels)):
        best, highest = 0, np.float32(0)
        for c in range(1, values.shape[1]):
            if values[n, c] > highest:
                best, highest = c, values[n, c]
        cells[pixels[n, 0] // row_step, pixels[n, 1] // col_step] = best


@compiled_for("i2[:,::1], i8, i8, b1[:,::1], u1[:,::1]")
@njit(cache=True)
def _draw(cells, row_step, col_step, mask, image):
    for row in range(mask.shape[0]):
        for col in range(mask.shape[1]):
            if not mask[row, col]:
                continue
            r, c = row // row_step, col // col_step
            if cells[r, c] == UNKNOWN:
                nearest = mask.shape[0] ** 2 + mask.shape[1] ** 2
                for i in range(max(row // row_step - 1, 0), min(row // row_step + 2, cells.shape[0])):
                    for k in range(max(col // col_step - 1, 0), min(col // col_step + 2, cells.shape[1])):
                        apart = (i * row_step - row) ** 2 + (k * col_step - col) ** 2
                        if cells[i, k] != UNKNOWN and apart < nearest:
                            nearest, r, c = apart, i, k
            if cells[r, c] > 0:
                image[row, col] = cells[r, c]


def draw_labels(parts: PartProbabilities, mask: np.ndarray) -> np.ndarray:
    """Draw the most probable part of each classified pixel over its grid cell.

    A cell whose own pixel was not classified, at an outline, gets the nearest label of the cells around it.

    Parameters
    ----------
    parts : PartProbabilities
    mask : bool (H, W), the person

    Returns
    -------
    uint8 (H, W), label codes, the lowest of equally probable ones; 0 outside the mask, where every part has
    probability 0, and where no cell around was classified

    References
    ----------
    Naive twin: tests/reference/segmentation/label_map.py
    """
    row_step, col_step = parts.stride
    cells = np.full(grid_shape(mask.shape, parts.stride), UNKNOWN, np.int16)
    _label_cells(parts.pixels, parts.probabilities, row_step, col_step, cells)
    image = np.zeros(mask.shape, np.uint8)
    _draw(cells, row_step, col_step, mask, image)
    return image
