"""Kernel: classified pixels to weighted points, with one weight for each landmark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.compilation import compiled_for, njit, prange
from posepipe.parts import JointVotes, PartProbabilities
from posepipe.stage import Stateless


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPoints:
    """Points of a person's surface, with the probability of each landmark and their votes for joints."""

    points_m: np.ndarray  #: float32 (N, 3), camera axes, metres
    landmark_probabilities: np.ndarray  #: float32 (N, L)
    area_m2: np.ndarray  #: float32 (N,), square metres of surface that a pixel represents, seen face on
    votes: JointVotes | None = None  #: of these points; None = the classifier has no votes
    part_probabilities: np.ndarray | None = None  #: float32 (N, C); None = those of the landmarks alone are known

    @property
    def weights(self) -> np.ndarray:
        """float32 (N, L), square metres: probability x area."""
        return self.landmark_probabilities * self.area_m2[:, None]


def weigh_points(
    depth_m: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities, landmark_classes: np.ndarray
) -> WeightedPoints:
    """Deproject classified pixels, weight them, and decode their votes.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    intrinsics : Intrinsics
    parts : PartProbabilities
    landmark_classes : bool (L, C), the classes of each landmark

    Returns
    -------
    WeightedPoints. The area of a pixel is d^2 n / (fx fy), where n pixels are represented by it: the weight of a limb
    depends neither on distance nor on resolution.

    Raises
    ------
    ValueError
        For pixels outside the image, or another number of classes.

    References
    ----------
    Shotton et al., CVPR 2011, eq. 8, in square metres. Naive twin: tests/reference/joints/weighted_points.py
    """
    if parts.probabilities.shape[1] != landmark_classes.shape[1]:
        raise ValueError(
            f"landmarks need pixels of {landmark_classes.shape[1]} classes, got {parts.probabilities.shape[1]}"
        )
    landmarks, classes = np.nonzero(landmark_classes)
    n_points, n_landmarks = len(parts.pixels), len(landmark_classes)
    points_m, area_m2 = np.empty((n_points, 3), np.float32), np.empty(n_points, np.float32)
    probabilities = np.zeros((n_points, n_landmarks), np.float32)
    camera = np.array([intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy], np.float32)
    per_m2 = np.float32(parts.stands_for / (intrinsics.fx * intrinsics.fy))
    written = points_m, area_m2, probabilities
    if _weigh(depth_m, parts.pixels, parts.probabilities, camera, per_m2, landmarks, classes, *written):
        raise ValueError(f"classified pixels must lie in the image of {depth_m.shape}, and some do not")
    votes = None if parts.cast_votes is None else parts.cast_votes(points_m, area_m2)
    return WeightedPoints(points_m, probabilities, area_m2, votes, parts.probabilities)


@compiled_for("f4[:,::1], i4[:,::1], f4[:,::1], f4[::1], f4, i8[:], i8[:], f4[:,::1], f4[::1], f4[:,::1]")
@njit(cache=True, parallel=True)
def _weigh(depth_m, pixels, values, camera, per_m2, landmarks, classes, points_m, area_m2, probabilities):
    outside = 0
    for n in prange(len(pixels)):  # a pixel owns its rows of the last three
        row, col = pixels[n, 0], pixels[n, 1]
        if not (0 <= row < depth_m.shape[0] and 0 <= col < depth_m.shape[1]):
            outside += 1
            continue
        z = depth_m[row, col]
        points_m[n, 0] = (np.float32(col) - camera[2]) / camera[0] * z
        points_m[n, 1] = (np.float32(row) - camera[3]) / camera[1] * z
        points_m[n, 2] = z
        area_m2[n] = z * z * per_m2
        for k in range(len(classes)):
            probabilities[n, landmarks[k]] += values[n, classes[k]]
    return outside


@dataclass(frozen=True, slots=True, eq=False)
class PointWeighting(Stateless):
    """The stage that weights points, for the landmarks of one body."""

    landmark_classes: np.ndarray  #: bool (L, C), the classes of each landmark

    def weigh(self, depth_m: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities) -> WeightedPoints:
        """Weight the classified pixels; see `weigh_points`."""
        return weigh_points(depth_m, intrinsics, parts, self.landmark_classes)
