"""Kernel: person pixels become weighted points: one weight for every landmark that they may belong to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from posepipe.camera import Intrinsics
from posepipe.parts import PartProbabilities


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPoints:
    """Points of a person's surface: how likely each belongs to each landmark of it, and the leaves it reached."""

    points_m: np.ndarray  #: float32 (N, 3), camera axes, metres
    probabilities: np.ndarray  #: float32 (N, L), of the landmarks
    area_m2: np.ndarray  #: float32 (N,), surface that a pixel stands for, seen face on
    leaves: np.ndarray | None = None  #: int32 (N, T), of `PartProbabilities`; None = nobody can vote

    @property
    def weights(self) -> np.ndarray:
        """float32 (N, L), square metres: probability x area."""
        return self.probabilities * self.area_m2[:, None]


def weigh_points(
    depth_m: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities, landmark_classes: np.ndarray
) -> WeightedPoints:
    """Deproject the classified pixels and weigh them.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    intrinsics : Intrinsics
    parts : PartProbabilities
    landmark_classes : bool (L, C), the classes of each landmark

    Returns
    -------
    WeightedPoints. A pixel's area is d^2 n / (fx fy), n the pixels that it stands for, so that neither distance nor
    resolution changes the weight of a limb.

    Raises
    ------
    ValueError
        For pixels outside the picture, or another number of classes.

    References
    ----------
    Shotton et al., CVPR 2011, eq. 8, in square metres. Naive twin: tests/reference/joints/weighted_points.py
    """
    if parts.values.shape[1] != landmark_classes.shape[1]:
        raise ValueError(f"landmarks are of {landmark_classes.shape[1]} classes, pixels of {parts.values.shape[1]}")
    landmarks, classes = np.nonzero(landmark_classes)
    n_points, n_landmarks = len(parts.pixels), len(landmark_classes)
    points_m, area_m2 = np.empty((n_points, 3), np.float32), np.empty(n_points, np.float32)
    probabilities = np.zeros((n_points, n_landmarks), np.float32)
    lens = np.array([intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy], np.float32)
    per_m2 = np.float32(parts.stands_for / (intrinsics.fx * intrinsics.fy))
    written = points_m, area_m2, probabilities
    if _weigh(depth_m, parts.pixels, parts.values, lens, per_m2, landmarks, classes, *written):
        raise ValueError(f"classified pixels must lie in the picture of {depth_m.shape}, and some do not")
    return WeightedPoints(points_m, probabilities, area_m2, parts.leaves)


@njit(cache=True, parallel=True)
def _weigh(depth_m, pixels, values, lens, per_m2, landmarks, classes, points_m, area_m2, probabilities):
    outside = 0
    for n in prange(len(pixels)):  # a pixel owns its rows of the last three
        row, col = pixels[n, 0], pixels[n, 1]
        if not (0 <= row < depth_m.shape[0] and 0 <= col < depth_m.shape[1]):
            outside += 1
            continue
        z = depth_m[row, col]
        points_m[n, 0] = (np.float32(col) - lens[2]) / lens[0] * z
        points_m[n, 1] = (np.float32(row) - lens[3]) / lens[1] * z
        points_m[n, 2] = z
        area_m2[n] = z * z * per_m2
        for k in range(len(classes)):
            probabilities[n, landmarks[k]] += values[n, classes[k]]
    return outside
