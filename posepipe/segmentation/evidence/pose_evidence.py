"""How well a pose fits a candidate, and the bones of its body: evidence for a person, and for one view of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.results import Pose
from posepipe.segmentation.evidence.pixel_evidence import distance_to_joints
from posepipe.segmentation.evidence.quantiles import quantiles
from posepipe.segmentation.evidence.surface_curvature import QUANTILES, UNKNOWN

MAX_PIXELS = 600
"""Pixels of a candidate that are measured at most, evenly spaced in their order."""
SHORTEST_BONE_M = 1e-3
POSE_EVIDENCE = (
    "joints on the surface",
    "bone error",
    "largest bone error",
    "distance to joints",
    "distance to joints 0.9",
)
"""Names of the numbers of `pose_evidence`."""


@dataclass(frozen=True, slots=True, eq=False)
class BoneLengths:
    """Typical bone lengths of a body, against which those of a pose are held."""

    bones: tuple[tuple[int, int], ...]  #: index pairs (joint, parent)
    median_m: np.ndarray  #: float32 (B,), metres

    @classmethod
    def measure(cls, body: BodyDefinition, joints_m: np.ndarray) -> BoneLengths:
        """Measure true poses, float (P, J, 3) metres. Joints in one place have a bone of SHORTEST_BONE_M."""
        bones = tuple(body.bones())
        ends = np.array(bones, np.int64).reshape(-1, 2)
        lengths_m = np.linalg.norm(joints_m[:, ends[:, 0]] - joints_m[:, ends[:, 1]], axis=-1)
        return cls(bones, np.maximum(np.median(lengths_m, axis=0), SHORTEST_BONE_M).astype(np.float32))


def evenly_spaced(size: int) -> slice | np.ndarray:
    """At most MAX_PIXELS of ``size`` rows. Steps are fractional: whole ones may hit the same columns in every row."""
    return slice(None) if size <= MAX_PIXELS else np.linspace(0, size - 1, MAX_PIXELS).astype(np.int64)


def pose_evidence(
    pose: Pose,
    mask: np.ndarray,
    points_m: np.ndarray,
    intrinsics: Intrinsics,
    body: BodyDefinition,
    lengths: BoneLengths,
) -> tuple[float, ...]:
    """Hold a pose against the surface of its candidate and against typical bones.

    Parameters
    ----------
    pose : Pose
    mask : bool (H, W), the candidate
    points_m : float (N, 3), metres, points of its surface, in the axes of the pose
    intrinsics : of the mask
    body : of the pose
    lengths : of the body

    Returns
    -------
    the numbers of POSE_EVIDENCE: share of joints in front of whose place the mask lies; mean and maximum of
    |ln(bone / median)| over the bones whose joints were both found; mean and upper quantile of the distance of points
    to the nearest joint, metres. UNKNOWN where there is nothing to measure
    """
    return (
        _on_surface(pose, mask, intrinsics),
        *_of_bones(pose, body, lengths),
        *_of_distances(points_m, pose.joints_m),
    )


def _on_surface(pose: Pose, mask: np.ndarray, intrinsics: Intrinsics) -> float:
    if not pose.names:
        return 0.0
    row, col = np.rint(intrinsics.project(pose.joints_m)).T
    inside = (row >= 0) & (row < mask.shape[0]) & (col >= 0) & (col < mask.shape[1])
    on_mask = mask[row[inside].astype(int), col[inside].astype(int)]
    return float(np.count_nonzero(on_mask)) / len(pose.names)


def _of_bones(pose: Pose, body: BodyDefinition, lengths: BoneLengths) -> tuple[float, float]:
    places_m, _ = pose.in_rows_of(body.joints)
    ends = np.array(lengths.bones, np.int64).reshape(-1, 2)
    across_m = places_m[ends[:, 0]] - places_m[ends[:, 1]]
    bones_m = np.sqrt((across_m**2).sum(axis=1))
    found = np.isfinite(bones_m)
    if not found.any():
        return UNKNOWN, UNKNOWN
    errors = np.abs(np.log(np.maximum(bones_m[found], SHORTEST_BONE_M) / lengths.median_m[found]))
    return float(errors.mean()), float(errors.max())


def _of_distances(points_m: np.ndarray, joints_m: np.ndarray) -> tuple[float, float]:
    if not len(joints_m):
        return UNKNOWN, UNKNOWN
    nearest = distance_to_joints(points_m, joints_m)
    return float(nearest.mean()), float(quantiles(nearest[None], QUANTILES[-1:])[0, 0])
