"""Kernel: push-back of surface points into the body, along the camera's ray."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, njit

MIN_DISTANCE_M = 1e-6


@compiled_for("f4[:,::1], f8[::1], f8[:,::1]")
@njit(cache=True)
def _push_back(points, metres, out):
    for n in range(len(metres)):
        x, y, z = np.float64(points[n, 0]), np.float64(points[n, 1]), np.float64(points[n, 2])
        scale = 1 + metres[n] / max(math.sqrt(x * x + y * y + z * z), MIN_DISTANCE_M)
        out[n, 0], out[n, 1], out[n, 2] = scale * x, scale * y, scale * z


def push_back(points_m: np.ndarray, push_back_m: np.ndarray) -> np.ndarray:
    """Move surface points away from the camera, each along its own ray.

    Parameters
    ----------
    points_m : float (..., 3), camera axes, metres
    push_back_m : float, broadcasts to (...), metres

    Returns
    -------
    float64 (..., 3), metres

    References
    ----------
    Shotton et al., CVPR 2011, section 4. Naive twin: tests/reference/joints/push_back.py
    """
    out, metres = np.empty(points_m.shape), np.empty(points_m.shape[:-1])
    metres[...] = push_back_m
    _push_back(points_m.reshape(metres.size, 3), metres.reshape(-1), out.reshape(metres.size, 3))
    return out
