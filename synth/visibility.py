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
    classes = body.joint_classes()
    owns = np.any(classes, axis=1)
    flesh_m = np.where(owns, SURFACE_M, DEEP_SURFACE_M)
    distance = np.maximum(np.linalg.norm(joints_m, axis=1), 1e-6)
    surface = (joints_m * (1 - flesh_m / distance)[:, None]).astype(np.float32)
    asked = [np.flatnonzero(column | ~owns) for column in classes.T]  # the joints that each class speaks for
    first = np.concatenate([[0], np.cumsum([len(joints) for joints in asked])])
    camera = intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy
    counts = _count_near(depth_m, parts, camera, surface, np.concatenate(asked), first, np.float32(RADIUS_M))
    return counts >= MIN_PIXELS


@njit(cache=True)
def _count_near(depth_m, parts, camera, surface, asked, first, radius):
    """Pixels within ``radius`` of each joint's surface point: int32 (J,).

    ``asked[first[c] : first[c + 1]]`` are the joints that class c speaks for.
    """
    fx, fy, cx, cy = camera
    counts = np.zeros(len(surface), np.int32)
    for row in range(depth_m.shape[0]):
        for col in range(depth_m.shape[1]):
            label, z = parts[row, col], depth_m[row, col]
            if label == 0 or z == 0:
                continue
            x, y = np.float32((col - cx) / fx * z), np.float32((row - cy) / fy * z)
            for k in range(first[label], first[label + 1]):
                j = asked[k]
                dx, dy, dz = x - surface[j, 0], y - surface[j, 1], z - surface[j, 2]
                if dx * dx + dy * dy + dz * dz < radius * radius:
                    counts[j] += 1
    return counts
