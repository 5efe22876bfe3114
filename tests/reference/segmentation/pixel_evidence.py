"""Naive twins of the evidence of pixels."""

from __future__ import annotations

import numpy as np


def label_confidence(values) -> np.ndarray:
    """Class 0, most probable part and entropy: float (3, N)."""
    values = np.asarray(values, np.float64)
    logs = np.log(np.where(values > 0, values, 1))
    return np.stack([values[:, 0], values[:, 1:].max(axis=1), -(values * logs).sum(axis=1)])


def distance_to_joints(points_m, joints_m) -> np.ndarray:
    """Distance to the nearest joint, (N,), metres."""
    return np.array([min(np.linalg.norm(point - joint) for joint in joints_m) for point in points_m])
