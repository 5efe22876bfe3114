"""Poses, tracks and results made by hand, for tests that need no pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from posepipe.body import HUMAN
from posepipe.camera import Intrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.recording import RecordingReader
from posepipe.results import BodyFit, FrameResult, Joint, Pose, Track
from tests.support.paths import WALK

INTRINSICS = Intrinsics(60.0, 60.0, 31.5, 23.5)
FLOOR = Plane((0.0, -0.96, -0.28), 1.5)
"""For a camera 1.5 m above the floor that points down by 16 degrees."""

_SIDE = {"shoulder": (0.2, -0.45), "elbow": (0.25, -0.15), "wrist": (0.28, 0.1), "hand": (0.28, 0.18)}
_SIDE |= {"hip": (0.1, 0.0), "knee": (0.12, 0.45), "ankle": (0.12, 0.88), "foot": (0.13, 0.95)}
_MIDDLE = {"head": (0.0, -0.7), "neck": (0.0, -0.5), "torso": (0.0, -0.2), "pelvis": (0.0, 0.0)}


def standing_m(x: float = 0.0, z: float = 2.5) -> np.ndarray:
    """Joints of a person who faces the camera, in its axes: float64 (20, 3), metres; the pelvis is at (x, 0.1, z)."""
    flat = {**_MIDDLE}
    for name, (out, down) in _SIDE.items():
        flat |= {f"left_{name}": (out, down), f"right_{name}": (-out, down)}
    ahead = {"left_foot": -0.12, "right_foot": -0.12, "head": -0.03}
    return np.array([(flat[j][0] + x, flat[j][1] + 0.1, z + ahead.get(j, 0.0)) for j in HUMAN.joints])


def track_of(id: int, joints: Mapping[str, tuple[float, float, float]], confidence: float = 0.875) -> Track:
    """A track whose pose has these joints, name -> camera axes, metres."""
    return Track(id, Pose.of({name: Joint(name, xyz_m, confidence) for name, xyz_m in joints.items()}))


def track(id: int, xyz_m: np.ndarray, confidence: float = 0.875) -> Track:
    """A track of a human body, joints float (20, 3); joints that are NaN are absent."""
    found = {
        name: tuple(place.tolist()) for name, place in zip(HUMAN.joints, xyz_m, strict=True) if np.isfinite(place).all()
    }
    return track_of(id, found, confidence)


def fitted(found: Track, seed: int = 0) -> Track:
    """The track with a fitted body: its joints, and any rotations."""
    rng, names = np.random.default_rng(seed), found.pose.names
    xyzw = rng.normal(size=(len(names), 4))
    xyzw /= np.linalg.norm(xyzw, axis=1, keepdims=True) * np.where(xyzw[:, 3:] < 0, -1, 1)
    sigma_m = np.where(np.arange(len(names)) == 0, np.nan, 0.0125)
    fit = BodyFit(names, np.array(found.pose.joints_m), xyzw, sigma_m, np.array([0.5, -1.0]), 0.9, 1.0)
    return replace(found, fit=fit)


def result(
    index: int, people: tuple[Track, ...] = (), timestamp_s: float | None = None, floor: Plane | None = None
) -> FrameResult:
    """One frame of 64x48 pixels, 30 a second."""
    depth_m = np.full((48, 64), 1.0 + 0.001 * (index % 100), np.float32)
    frame = DepthFrame(depth_m, INTRINSICS, index / 30 if timestamp_s is None else timestamp_s, index)
    empty = np.zeros(depth_m.shape, np.uint8)
    return FrameResult(frame, empty > 0, empty, (), people, floor)


def one_person(joints_m: np.ndarray, id: int = 1, floor: Plane | None = None) -> list[FrameResult]:
    """Frames of one person, joints (T, 20, 3), camera axes, metres."""
    return [result(i, (track(id, xyz_m),), floor=floor) for i, xyz_m in enumerate(joints_m)]


def true_walk_m() -> np.ndarray:
    """The joints of the rendered person who walks: float (60, 20, 3), camera axes, metres."""
    with RecordingReader(WALK) as truth:
        return np.array([frame.joints_m[0] for frame in truth], float)
