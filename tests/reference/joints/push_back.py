"""Naive twin of posepipe/joints/modes/push_back.py, point by point."""

from __future__ import annotations

import math

import numpy as np


def push_back(points_m, push_back_m):
    """Each point moved away from the camera by so many metres."""
    out = np.zeros(np.shape(points_m))
    for place in np.ndindex(np.shape(push_back_m)):
        point = [float(value) for value in points_m[place]]
        length = math.sqrt(sum(value**2 for value in point))
        out[place] = [value * (1 + float(push_back_m[place]) / length) for value in point]
    return out
