"""Naive twin of synth/sensors/time_of_flight.py, pixel by pixel in float64."""

from __future__ import annotations

import math

import numpy as np


def measure(depth_m, squared_tangents, brightness, own, chance, bias, constants):
    """Noisy metres; ``constants`` is the module under test, of which only the constants are read."""
    out = np.zeros(depth_m.shape)
    for row, col in np.argwhere(depth_m > 0):
        z = float(depth_m[row, col])
        signal = brightness[row, col] / (math.sqrt(1 + squared_tangents[row, col]) * z * z)
        luck = float(chance[row, col]) / constants.FLYING_SHARE
        beyond = far_neighbour(depth_m, row, col, constants.EDGE_M)
        blanked = beyond is not None and 1 <= luck < 2
        if signal < constants.NO_SIGNAL or blanked:
            continue
        if beyond and luck < 1:  # something, and not nothing, lies beyond
            z = (1 - luck) * z + luck * beyond
        noise = constants.SIGMA_AT_1_M * constants.WHITE / signal * float(own[row, col])
        out[row, col] = z + noise + bias * (constants.SYSTEMATIC_M + constants.SYSTEMATIC_SHARE * z)
    return out


def far_neighbour(depth_m, row, col, edge_m):
    """Depth of the first neighbour (left, right, above, below) beyond an edge, or None."""
    for r, c in ((row, col - 1), (row, col + 1), (row - 1, col), (row + 1, col)):
        inside = 0 <= r < depth_m.shape[0] and 0 <= c < depth_m.shape[1]
        if inside and abs(float(depth_m[r, c]) - float(depth_m[row, col])) > edge_m:
            return float(depth_m[r, c])
    return None
