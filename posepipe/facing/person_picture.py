"""Kernel: the picture of one person that the facing network sees, whatever the camera and however near they are."""

from __future__ import annotations

import math

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.compilation import compiled_for, njit
from posepipe.frames import window_of

SIDE = 48
"""Cells along a side of the picture."""
CHANNELS = 4
"""Depth relative to the person's mean; shares of the cell that show them, and that lie in the image; their size."""
MARGIN_SHARE = 0.1
"""Share of the person's longer side by which the picture is wider."""
DEPTH_UNIT_M = 1 / 3
"""Unit of the depth channel: about how far limbs reach before and behind the trunk."""
SMALLEST_M = 1e-3
"""Lower bound of the width of the picture, metres, before its logarithm is taken."""


@compiled_for("f4[:,::1], b1[:,::1], i8, i8, i8, f8, f8, f4[:,:,::1]")
@njit(cache=True)
def _draw(depth, mask, top, left, side, mean_m, size, out):
    cells = out.shape[0]
    for i in range(cells):
        first, last = top + i * side // cells, top + ((i + 1) * side + cells - 1) // cells
        for j in range(cells):
            start, stop = left + j * side // cells, left + ((j + 1) * side + cells - 1) // cells
            total, shown, inside = 0.0, 0, 0
            for row in range(max(first, 0), min(last, depth.shape[0])):
                for column in range(max(start, 0), min(stop, depth.shape[1])):
                    inside += 1
                    if mask[row, column]:
                        shown += 1
                        total += depth[row, column]
            pixels = (last - first) * (stop - start)
            out[i, j, 0] = (total / shown - mean_m) / DEPTH_UNIT_M if shown else 0.0
            out[i, j, 1] = shown / pixels
            out[i, j, 2] = inside / pixels
            out[i, j, 3] = size


def person_picture(depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics) -> np.ndarray:
    """Draw a person into a square around them, cell by cell the mean of its pixels.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    mask : bool (H, W), the person: at least one pixel, each with a reading
    intrinsics : Intrinsics

    Returns
    -------
    float32 (SIDE, SIDE, CHANNELS), rows from the top: depth beyond the person's mean in units of DEPTH_UNIT_M, 0 where
    they do not show; the shares of the cell that show them, and that lie in the image; the logarithm of the picture's
    width at their mean depth, in metres, everywhere

    References
    ----------
    Naive twin: tests/reference/facing/person_picture.py
    """
    rows, columns = window_of(mask)
    height, width = rows.stop - rows.start, columns.stop - columns.start
    side = max(round(max(height, width) * (1 + MARGIN_SHARE)), 1)
    top, left = rows.start - (side - height) // 2, columns.start - (side - width) // 2
    mean_m = float(depth_m[mask].mean(dtype=np.float64))
    size = math.log(max(side * mean_m / intrinsics.fx, SMALLEST_M))
    out = np.empty((SIDE, SIDE, CHANNELS), np.float32)
    _draw(np.ascontiguousarray(depth_m), np.ascontiguousarray(mask), top, left, side, mean_m, size, out)
    return out
