"""Kernel: what each pixel of a candidate says of it: confidence of its label, and distance to the pose."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, njit


@compiled_for("f4[:,::1]", "f4[:,::1]")
@njit(cache=True)
def _label_confidence(values, out):
    for n in range(len(values)):
        top = entropy = np.float32(0)
        for c in range(values.shape[1]):
            value = values[n, c]
            if c > 0:
                top = max(top, value)
            if value > 0:
                entropy -= value * math.log(value)
        out[0, n], out[1, n], out[2, n] = values[n, 0], top, entropy


@compiled_for("f4[:,::1]", "f8[:,::1]", "f4[::1]")
@njit(cache=True)
def _distance_to_joints(points_m, joints_m, out):
    for n in range(len(points_m)):
        nearest = np.inf
        for j in range(len(joints_m)):
            squared = 0.0
            for axis in range(3):
                squared += (points_m[n, axis] - joints_m[j, axis]) ** 2
            nearest = min(nearest, squared)
        out[n] = math.sqrt(nearest)


def label_confidence(values: np.ndarray) -> np.ndarray:
    """Probability of class 0, of the most probable part, and entropy in nats, of every pixel.

    Parameters
    ----------
    values : float32 (N, C), probabilities

    Returns
    -------
    float32 (3, N)

    References
    ----------
    Naive twin: tests/reference/segmentation/pixel_evidence.py
    """
    out = np.empty((3, len(values)), np.float32)
    _label_confidence(values, out)
    return out


def distance_to_joints(points_m: np.ndarray, joints_m: np.ndarray) -> np.ndarray:
    """Distance of surface points to the nearest joint.

    Parameters
    ----------
    points_m : float (N, 3), metres
    joints_m : float64 (J, 3), metres, J > 0

    Returns
    -------
    float32 (N,), metres

    References
    ----------
    Naive twin: tests/reference/segmentation/pixel_evidence.py
    """
    out = np.empty(len(points_m), np.float32)
    _distance_to_joints(points_m, joints_m, out)
    return out
