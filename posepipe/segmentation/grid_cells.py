"""Grid cells back to pixels: what was found on a subsampled image, in the size of the whole one."""

from __future__ import annotations

import numpy as np


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
