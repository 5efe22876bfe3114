"""Which joints a camera sees."""

from __future__ import annotations

import numpy as np

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
    labels = parts[rows, cols]
    classes = body.joint_classes()
    out = np.zeros(len(joints_m), bool)
    for row, joint in enumerate(joints_m):
        owns = classes[row].any()
        near = points[classes[row][labels]] if owns else points
        surface = joint * (1 - (SURFACE_M if owns else DEEP_SURFACE_M) / max(float(np.linalg.norm(joint)), 1e-6))
        out[row] = (((near - surface) ** 2).sum(axis=1) < RADIUS_M**2).sum() >= MIN_PIXELS
    return out
