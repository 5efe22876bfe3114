"""Level axes at a person's body, in which what they rest on or hold is fitted to them."""

from __future__ import annotations

import numpy as np

from posepipe.body import HUMAN


class BodyAxes:
    """Level axes at a point of a body: x sideways, y up, z along a direction. Heights stay the same.

    Parameters
    ----------
    origin_m : float (3,), metres
        Body axes, y up.
    along_m : float (3,)
        Its level part is the direction of z.
    """

    def __init__(self, origin_m: np.ndarray, along_m: np.ndarray) -> None:
        along = np.array([along_m[0], 0.0, along_m[2]])
        along /= max(float(np.linalg.norm(along)), 1e-9)
        self._origin_m = origin_m * [1.0, 0, 1.0]
        self._rows = np.stack([np.cross([0, 1.0, 0], along), [0, 1.0, 0], along])

    def into(self, points_m: np.ndarray) -> np.ndarray:
        """Return body points in these axes."""
        return (points_m - self._origin_m) @ self._rows.T

    def out_of(self, points_m: np.ndarray) -> np.ndarray:
        """Return points of these axes in the body's axes."""
        return points_m @ self._rows + self._origin_m


def joint_of(joints_m: np.ndarray, name: str) -> np.ndarray:
    """Return a person's joint, float (3,), of joints (20, 3)."""
    return joints_m[HUMAN.joint_index(name)]


def hips_forward(joints_m: np.ndarray) -> np.ndarray:
    """Return the direction that a person's hips face, float (3,), of joints (20, 3)."""
    return np.cross(joint_of(joints_m, "left_hip") - joint_of(joints_m, "right_hip"), [0, 1.0, 0])
