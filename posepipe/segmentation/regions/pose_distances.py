"""Distances between poses, and between a surface and poses."""

from __future__ import annotations

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.results import Pose


def mean_distance_m(pose: Pose, other: Pose) -> float:
    """Mean distance between the joints that two poses have in common, metres; infinite where they have none."""
    ours, theirs = pose.in_common(other)
    apart_m = np.linalg.norm(pose.joints_m[ours] - other.joints_m[theirs], axis=1)
    return float(apart_m.mean()) if len(apart_m) else np.inf


def skeleton_m(body: BodyDefinition, pose: Pose) -> np.ndarray:
    """Joints, and the middles of the bones that have both ends: float64 (P, 3), metres, camera axes."""
    place_m, names = dict(zip(pose.names, pose.joints_m, strict=True)), body.joints
    bones = [(names[joint], names[parent]) for joint, parent in body.bones()]
    middles_m = [(place_m[a] + place_m[b]) / 2 for a, b in bones if a in place_m and b in place_m]
    return np.array([*place_m.values(), *middles_m], np.float64).reshape(-1, 3)
