"""Person pixels become weighted points: one weight for every landmark that they may belong to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from posepipe.camera import Intrinsics
from posepipe.parts import PartProbabilities


@dataclass(frozen=True, slots=True, eq=False)
class Density:
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
) -> Density:
    """Deproject the classified pixels and weigh them.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    intrinsics : Intrinsics
    parts : PartProbabilities
    landmark_classes : bool (L, C), the classes of each landmark

    Returns
    -------
    Density. A pixel's area is d^2 n / (fx fy), n the pixels that it stands for, so that neither distance nor
    resolution changes the weight of a limb.

    References
    ----------
    Shotton et al., CVPR 2011, eq. 8, in square metres.
    """
    rows, cols = parts.pixels[:, 0], parts.pixels[:, 1]
    depth = depth_m[rows, cols]
    area = depth**2 * np.float32(parts.stands_for / (intrinsics.fx * intrinsics.fy))
    return Density(
        points_m=intrinsics.deproject_pixels(rows.astype(np.float32), cols.astype(np.float32), depth),
        probabilities=sum_classes(parts.values, landmark_classes),
        area_m2=area,
        leaves=parts.leaves,
    )


def sum_classes(values: np.ndarray, landmark_classes: np.ndarray) -> np.ndarray:
    """Probability of each landmark, the sum over its classes.

    A matrix product would do the same, and wake the threads of the linear algebra library, which then
    fight with Numba's for the cores: a step took twice as long.

    Parameters
    ----------
    values : float32 (N, C)
    landmark_classes : bool (L, C)

    Returns
    -------
    float32 (N, L)
    """
    landmarks, classes = np.nonzero(landmark_classes)
    out = np.zeros((len(values), len(landmark_classes)), np.float32)
    _sum_classes(values, landmarks, classes, out)
    return out


@njit(cache=True, parallel=True)
def _sum_classes(values, landmarks, classes, out):
    for n in prange(len(values)):  # a pixel owns its row of out
        for k in range(len(classes)):
            out[n, landmarks[k]] += values[n, classes[k]]
