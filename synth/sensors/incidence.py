"""Angle between the line of sight and the surface at each pixel, from the depth image alone."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit

_NO_NEIGHBOUR = np.float32(1e9)


@njit(cache=True, error_model="numpy")
def squared_tangents(depth_m, fx, fy, out):
    """Fill ``out`` with the squared tangent of the angle between line of sight and surface normal.

    Of the differences to two opposite neighbours the smaller is used, because the other may cross an edge. The angle is
    measured against the optical axis, an approximation for rays near it. Selections instead of branches and NumPy's
    division let the compiler vectorise the loop.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing
    fx, fy : float32, pixels
    out : float32 (H, W), written in place; 0 on the border and where there is no neighbour to compare with

    References
    ----------
    Naive twin: tests/reference/synth/sensors/incidence.py
    """
    height, width = depth_m.shape
    out[:] = 0
    for row in range(1, height - 1):
        for col in range(1, width - 1):
            here = depth_m[row, col]
            above, below = depth_m[row - 1, col], depth_m[row + 1, col]
            left, right = depth_m[row, col - 1], depth_m[row, col + 1]
            to_above = abs(here - above) if above > 0 else _NO_NEIGHBOUR
            to_below = abs(here - below) if below > 0 else _NO_NEIGHBOUR
            to_left = abs(here - left) if left > 0 else _NO_NEIGHBOUR
            to_right = abs(here - right) if right > 0 else _NO_NEIGHBOUR
            by_row = to_above if to_above < to_below else to_below
            by_col = to_left if to_left < to_right else to_right
            by_row = by_row * fy if by_row < _NO_NEIGHBOUR else np.float32(0)
            by_col = by_col * fx if by_col < _NO_NEIGHBOUR else np.float32(0)
            tangent = (by_row * by_row + by_col * by_col) / (here * here)
            out[row, col] = tangent if here > 0 else np.float32(0)
