"""Naive twin of synth/sensors/incidence.py, pixel by pixel in float64."""

from __future__ import annotations

import numpy as np


def squared_tangents(depth_m, fx, fy):
    """(slope along rows)^2 + (slope along columns)^2, a slope being the smaller difference times f / depth."""
    out = np.zeros(depth_m.shape)
    for row, col in np.argwhere(depth_m > 0):
        if 0 < row < depth_m.shape[0] - 1 and 0 < col < depth_m.shape[1] - 1:
            here = float(depth_m[row, col])
            by_row = smaller_step(here, depth_m[row - 1, col], depth_m[row + 1, col])
            by_col = smaller_step(here, depth_m[row, col - 1], depth_m[row, col + 1])
            out[row, col] = (by_row * fy / here) ** 2 + (by_col * fx / here) ** 2
    return out


def smaller_step(here, *neighbours):
    """Smallest difference to a neighbour that is there."""
    return min((abs(here - float(neighbour)) for neighbour in neighbours if neighbour > 0), default=0.0)
