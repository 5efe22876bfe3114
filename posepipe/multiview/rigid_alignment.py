"""The rigid motion that brings points onto others: by least squares, and robustly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SCALE_M = 0.05
"""Distance at which the weight of a pair of points falls to half."""
ITERATIONS = 12


@dataclass(frozen=True, slots=True, eq=False)
class RigidMotion:
    """Rotation, then translation."""

    rotation: np.ndarray  #: float64 (3, 3)
    translation_m: np.ndarray  #: float64 (3,)

    def apply(self, points_m: np.ndarray) -> np.ndarray:
        """Move points (..., 3), metres."""
        return points_m @ self.rotation.T + self.translation_m


def fit_rigid_motion(from_m: np.ndarray, to_m: np.ndarray, weights: np.ndarray) -> RigidMotion:
    """Fit the motion with the smallest weighted sum of squared distances, without scale or mirror.

    Parameters
    ----------
    from_m, to_m : float64 (N, 3), metres, finite
    weights : float64 (N,), not negative, with a sum above 0

    References
    ----------
    Umeyama, Least-squares estimation of transformation parameters between two point patterns, PAMI 1991, with c = 1.
    """
    share = weights / weights.sum()
    centre_from_m, centre_to_m = share @ from_m, share @ to_m
    covariance = (share[:, None] * (to_m - centre_to_m)).T @ (from_m - centre_from_m)
    left, _, right = np.linalg.svd(covariance)
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(left) * np.linalg.det(right)) or 1.0])
    rotation = (left * signs) @ right
    return RigidMotion(rotation, centre_to_m - rotation @ centre_from_m)


def refine_rigid_motion(motion: RigidMotion, from_m: np.ndarray, to_m: np.ndarray, weights: np.ndarray) -> RigidMotion:
    """Refine a motion by iteratively reweighted least squares with Cauchy weights of scale `SCALE_M`.

    Parameters
    ----------
    motion : RigidMotion, a first estimate
    from_m, to_m, weights : as in `fit_rigid_motion`

    References
    ----------
    Holland and Welsch, Robust regression using iteratively reweighted least-squares, Communications in Statistics 1977.
    """
    for _ in range(ITERATIONS):
        distance_m = np.linalg.norm(motion.apply(from_m) - to_m, axis=1)
        motion = fit_rigid_motion(from_m, to_m, weights / (1 + (distance_m / SCALE_M) ** 2))
    return motion
