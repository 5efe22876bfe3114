"""Which joints a camera sees."""

from __future__ import annotations

import numpy as np
from numba import njit

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics

MIN_PIXELS = 10
RADIUS_M = 0.1
SURFACE_M = 0.04
"""From a joint to the skin before it: the mean push-back of Shotton et al. (2011)."""
DEEP_SURFACE_M = 0.1
"""The same for hips, torso and pelvis, which lie deeper and own no part."""


def visible_joints(
    depth_m: np.ndarray, parts: np.ndarray, joints_m: np.ndarray, intrinsics: Intrinsics, body: BodyDefinition
) -> np.ndarray:
    """Decide which joints of one person show.

    A joint is visible when at least 10 pixels of its parts lie within 10 cm of its surface point:
    the joint moved towards the camera, along its ray, by the flesh before it. For a joint without
    parts every pixel of the person counts.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    parts : uint8 (H, W), labels of this person, 0 elsewhere
    joints_m : float (J, 3), camera axes, metres
    intrinsics : Intrinsics
    body : BodyDefinition

    Returns
    -------
    bool (J,)
    """
    rows, cols = np.nonzero((parts > 0) & (depth_m > 0))
    points = intrinsics.deproject_pixels(rows, cols, depth_m[rows, cols])
    classes = body.joint_classes()
    owns = np.any(classes, axis=1, keepdims=True)
    depth = np.where(owns[:, 0], SURFACE_M, DEEP_SURFACE_M)
    distance = np.maximum(np.linalg.norm(joints_m, axis=1), 1e-6)
    surface = (joints_m * (1 - depth / distance)[:, None]).astype(np.float32)
    counts = _count_near(points, parts[rows, cols], surface, classes | ~owns, np.float32(RADIUS_M))
    return counts >= MIN_PIXELS


@njit(cache=True)
def _count_near(points, labels, surface, classes, radius):
    counts = np.zeros(len(surface), np.int32)
    for i in range(len(points)):
        for j in range(len(surface)):
            if classes[j, labels[i]]:
                dx, dy, dz = points[i, 0] - surface[j, 0], points[i, 1] - surface[j, 1], points[i, 2] - surface[j, 2]
                if dx * dx + dy * dy + dz * dz < radius * radius:
                    counts[j] += 1
    return counts
