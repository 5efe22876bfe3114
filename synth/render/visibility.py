"""Decide which joints a camera sees."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.compilation import njit

MIN_PIXELS = 10
RADIUS_M = 0.1
SURFACE_M = 0.04
"""From a joint to the skin in front of it: the mean push-back of Shotton et al. (2011)."""
DEEP_SURFACE_M = 0.1
"""The same for hips, torso and pelvis, which lie deeper and have no part of their own."""


class _Surfaces(NamedTuple):
    """Where the surface of each joint of a body lies, and which part labels show it."""

    surface_m: np.ndarray  #: float64 (J,), from the joint to the surface in front of it
    shown: np.ndarray  #: int64 (N,), joints; class c shows shown[first[c] : first[c + 1]]
    first: np.ndarray  #: int64 (C + 1,)


@lru_cache(maxsize=4)
def _surfaces(
    parts: tuple[str, ...], joints: tuple[str, ...], joint_parts: tuple[tuple[str, tuple[str, ...]], ...]
) -> _Surfaces:
    """Surfaces of a body, of which only these fields matter here. A joint without parts is shown by every class."""
    classes = BodyDefinition("", parts, joints, dict(joint_parts)).joint_classes()
    owns = np.any(classes, axis=1)
    shown = [np.flatnonzero(column | ~owns) for column in classes.T]
    return _Surfaces(
        surface_m=np.where(owns, SURFACE_M, DEEP_SURFACE_M),
        shown=np.concatenate(shown),
        first=np.cumsum([0, *(len(joints) for joints in shown)]),
    )


def visible_joints(
    depth_m: np.ndarray,
    parts: np.ndarray,
    people: np.ndarray,
    joints_m: np.ndarray,
    intrinsics: Intrinsics,
    body: BodyDefinition,
) -> np.ndarray:
    """Decide which joints are visible.

    A joint is visible when at least MIN_PIXELS pixels of its person and parts lie within RADIUS_M of its surface point.
    The surface point is the joint, moved towards the camera along its ray by the depth of the joint below the surface.
    For a joint without parts every part counts.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    parts, people : uint8 (H, W)
        Labels and ids, 0 = background.
    joints_m : float (P, J, 3), metres
        Camera axes; the person of id k is row k - 1.
    intrinsics : Intrinsics
    body : BodyDefinition
        Of all people.

    Returns
    -------
    bool (P, J)
    """
    joint_parts = tuple((joint, tuple(own)) for joint, own in body.joint_parts.items())
    surfaces = _surfaces(body.parts, body.joints, joint_parts)
    distance = np.maximum(np.linalg.norm(joints_m, axis=2), 1e-6)
    surface = (joints_m * (1 - surfaces.surface_m / distance)[..., None]).astype(np.float32)
    camera = tuple(map(np.float32, (intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy)))
    counts = np.zeros(surface.shape[:2], np.int32)
    _count_near(depth_m, parts, people, camera, surface, surfaces.shown, surfaces.first, counts)
    return counts >= MIN_PIXELS


@njit(cache=True)
def _count_near(depth_m, parts, people, camera, surface, shown, first, counts):
    """Add to ``counts``, int32 (P, J), the pixels within RADIUS_M of each joint's surface point.

    Parameters
    ----------
    depth_m, parts, people, surface : as in `visible_joints`
    camera : tuple of 4 float32, pixels: fx, fy, cx, cy
    shown, first : of `_Surfaces`

    References
    ----------
    Naive twin: tests/reference/synth/render/visibility.py
    """
    fx, fy, cx, cy = camera
    radius2 = np.float32(RADIUS_M * RADIUS_M)
    for row in range(depth_m.shape[0]):
        for col in range(depth_m.shape[1]):
            label, z = parts[row, col], depth_m[row, col]
            if label == 0 or z == 0:
                continue
            k = people[row, col] - 1
            x, y = (np.float32(col) - cx) / fx * z, (np.float32(row) - cy) / fy * z
            for n in range(first[label], first[label + 1]):
                j = shown[n]
                dx, dy, dz = x - surface[k, j, 0], y - surface[k, j, 1], z - surface[k, j, 2]
                if dx * dx + dy * dy + dz * dz < radius2:
                    counts[k, j] += 1
