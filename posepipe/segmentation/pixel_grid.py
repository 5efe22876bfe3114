"""Kernel: grid of the pixels of a person that are classified; and what was found on a grid, in the whole image."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, njit
from posepipe.parts import EVERY_PIXEL, Stride

ENOUGH_PIXELS = 1000
"""Minimum number of classified pixels of a large person. More pixels hardly raise accuracy, and fewer lower it
(docs/evaluation/ablations.md)."""


def stride_for(mask: np.ndarray) -> Stride:
    """Coarsest grid on which a mask, bool (H, W), still has ENOUGH_PIXELS.

    The row step equals the column step or exceeds it by one: hanging limbs are thinner across.
    """
    spare = max(1, int(np.count_nonzero(mask)) // ENOUGH_PIXELS)
    cols = math.isqrt(spare)
    return (cols + 1 if cols * (cols + 1) <= spare else cols), cols


def grid_shape(shape: tuple[int, ...], stride: Stride) -> tuple[int, int]:
    """Rows and columns of the cells that cover an image, of rows and columns, on a grid."""
    (height, width), (row_step, col_step) = shape, stride
    return -(-height // row_step), -(-width // col_step)


@compiled_for("b1[:,::1], i8, i8, i4[:,::1]")
@njit(cache=True)
def _fill_pixels(mask, row_step, col_step, out):
    count = 0
    for row in range(0, mask.shape[0], row_step):
        for col in range(0, mask.shape[1], col_step):
            if mask[row, col]:
                out[count, 0], out[count, 1] = row, col
                count += 1
    return count


def pixels_of(mask: np.ndarray, stride: Stride = EVERY_PIXEL) -> np.ndarray:
    """Pixels of a mask on a grid that starts at the first row and column of the image.

    Parameters
    ----------
    mask : bool (H, W)
    stride : row step and column step of the grid

    Returns
    -------
    int32 (N, 2), row and column, in image order

    References
    ----------
    Naive twin: tests/reference/segmentation/pixel_grid.py
    """
    rows, cols = grid_shape(mask.shape, stride)
    out = np.empty((rows * cols, 2), np.int32)
    return out[: _fill_pixels(np.ascontiguousarray(mask), *stride, out)].copy()


def enlarged(cells: np.ndarray, stride: tuple[int, int], shape: tuple[int, ...]) -> np.ndarray:
    """Repeat grid cells to an image: every pixel gets the value of its cell.

    Memory is bounded by cells and image, whatever the stride: a stride beyond the image is one cell.

    Parameters
    ----------
    cells : (R, C), at least as many as the image has
    stride : rows and columns of a cell, pixels
    shape : rows and columns of the image

    Returns
    -------
    array of the shape and of the cells' dtype
    """
    (height, width), (row_step, col_step) = shape, stride
    tall = cells.repeat(max(1, min(row_step, height)), axis=0)[:height]
    return tall.repeat(max(1, min(col_step, width)), axis=1)[:, :width]
