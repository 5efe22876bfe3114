"""Kernel: choice of proposals and inference of joints by the pose prior, a Gaussian over landmarks and joints.

The prior on translation is flat, so any subset of landmarks can place a person.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from posepipe.compilation import compiled_for, njit
from posepipe.joints.conditional_gaussian import NUGGET, condition, precision
from posepipe.joints.joint_parameters import JointParameters

TRANSLATION_VARIANCE_M2 = 100.0
"""Prior variance of a person's position: flat in practice."""
EVEN_ODDS_SIGMA_M = 0.03
"""Extra standard deviation of a landmark of confidence 0.5."""
PRIOR_WEIGHT = 0.5
"""Weight of the Gaussian log-likelihood relative to the log of the proposal's confidence."""
MAX_SQUARED_SIGMAS = 30.0
"""Upper bound of the squared distance, in sigmas: the tails are heavier than Gaussian."""
LANDMARK_SIGMA_M = 0.05
"""Standard deviation of a right proposal from an exact expectation."""
MAX_PASSES = 4
"""Maximum number of passes over the landmarks."""


def landmark_noise(confidence: np.ndarray) -> np.ndarray:
    """Extra variance, square metres, of landmarks that are right with probability ``confidence``, (L,)."""
    return (1 - confidence) / np.maximum(confidence, 0.05) * EVEN_ODDS_SIGMA_M**2


@compiled_for("f8[:,::1], i8[::1], f4[:,::1], f8[::1], f8[:,::1]")
@njit(cache=True)
def _centre(landmarks, measured, mean, centre, residuals):
    """Add the landmarks' centre, (3,), and write their residuals from centre plus mean, (L, 3)."""
    for row in measured:
        for axis in range(3):
            centre[axis] += landmarks[row, axis] / len(measured)
    for row in measured:
        for axis in range(3):
            residuals[row, axis] = landmarks[row, axis] - centre[axis] - mean[axis, row]


def _centred(
    landmarks_m: np.ndarray, found: np.ndarray, parameters: JointParameters
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the landmarks found, their centre, and the residuals of all from centre plus mean, (L, 3)."""
    measured, centre_m, residuals_m = np.flatnonzero(found), np.zeros(3), np.zeros(landmarks_m.shape)
    _centre(landmarks_m, measured, parameters.mean_m, centre_m, residuals_m)
    return measured, centre_m, residuals_m


class LandmarkPrior(NamedTuple):
    """The pose prior of the landmarks found, at the noise of the proposals of highest confidence."""

    measured: np.ndarray  #: int64 (S,), rows of the landmarks found
    mean_m: np.ndarray  #: float32 (3, L + J)
    precision: np.ndarray  #: float64 (3, S, S), per square metre
    noise_m2: np.ndarray  #: float64 (L,)

    @classmethod
    def of(cls, confidence: np.ndarray, parameters: JointParameters) -> LandmarkPrior:
        """Make the prior of proposals by their confidence, float64 (L, M), 0 = none."""
        measured, noise_m2 = np.flatnonzero((confidence > 0).any(axis=1)), landmark_noise(confidence.max(axis=1))
        inverse = precision(noise_m2, parameters.covariance_m2, measured, TRANSLATION_VARIANCE_M2)
        return cls(measured, parameters.mean_m, inverse, noise_m2)


LANDMARK_PRIOR_TYPE = LandmarkPrior, "i8[::1], f4[:,::1], f8[:,:,::1], f8[::1]"


@compiled_for("f8[:,:,::1], f8[:,::1]", LANDMARK_PRIOR_TYPE, "i8[::1]")
@njit(cache=True)
def _improve_choice(places, confidence, prior, best):  # noqa: C901  # one loop over proposals; its sums stay in registers
    measured, n = prior.measured, len(prior.measured)
    centre, residual, pull = np.zeros(3), np.empty((n, 3)), np.zeros((n, 3))
    for row in measured:
        for axis in range(3):
            centre[axis] += places[row, best[row], axis] / n
    for i in range(n):
        for axis in range(3):
            at = places[measured[i], best[measured[i]], axis]
            residual[i, axis] = at - centre[axis] - prior.mean_m[axis, measured[i]]
    for axis in range(3):
        for i in range(n):
            for j in range(n):
                pull[i, axis] += prior.precision[axis, i, j] * residual[j, axis]
    for _ in range(MAX_PASSES):
        changed = False
        for i in range(n):
            row = measured[i]
            before, chosen, highest = best[row], best[row], -np.inf
            for k in range(confidence.shape[1]):
                if confidence[row, k] > 0:
                    squared = 0.0
                    for axis in range(3):
                        # given all others: Rasmussen and Williams 2006, eq. 5.12
                        variance = 1 / prior.precision[axis, i, i]
                        expected = places[row, before, axis] - pull[i, axis] * variance
                        own = max(variance - prior.noise_m2[row], NUGGET) + LANDMARK_SIGMA_M**2
                        squared += (places[row, k, axis] - expected) ** 2 / own
                    likelihood = PRIOR_WEIGHT * min(squared, MAX_SQUARED_SIGMAS) / 2
                    score = math.log(max(confidence[row, k], 1e-6)) - likelihood
                    if score > highest:
                        chosen, highest = k, score
            if chosen == before:
                continue
            best[row], changed = chosen, True
            for axis in range(3):
                moved = places[row, chosen, axis] - places[row, before, axis]
                for j in range(n):
                    pull[j, axis] += prior.precision[axis, j, i] * moved
        if not changed:
            break


def improve_choice(places_m: np.ndarray, confidence: np.ndarray, prior: LandmarkPrior, ranks: np.ndarray) -> np.ndarray:
    """Improve a choice of proposals: of each landmark in turn, the one with the best score given all others.

    Parameters
    ----------
    places_m : float64 (L, M, 3), metres, the proposals of each landmark
    confidence : float64 (L, M), 0 = none
    prior : LandmarkPrior of these
    ranks : int64 (L,), column of the proposal that is chosen first

    Returns
    -------
    int64 (L,), the first of equal ones; those of landmarks without proposals stay

    References
    ----------
    Iterated conditional modes: Besag, J. R. Stat. Soc. B 48, 1986. Naive twin: tests/reference/joints/pose_prior.py
    """
    best = ranks.astype(np.int64)
    _improve_choice(places_m, confidence, prior, best)
    return best


def choose_proposals(places_m: np.ndarray, confidence: np.ndarray, parameters: JointParameters) -> np.ndarray:
    """Choose one proposal of each landmark: that of highest confidence, then the best score given the others.

    Parameters are those of `improve_choice`; 0 is chosen where there is no proposal.
    """
    return improve_choice(places_m, confidence, LandmarkPrior.of(confidence, parameters), confidence.argmax(axis=1))


def infer_joints(
    landmarks_m: np.ndarray, found: np.ndarray, noise_m2: np.ndarray, parameters: JointParameters
) -> tuple[np.ndarray, np.ndarray]:
    """Infer the joints: their conditional expectation given some landmarks.

    Parameters
    ----------
    landmarks_m : float64 (L, 3), metres; only rows of ``found`` are read
    found : bool (L,), at least one
    noise_m2 : float64 (L,), square metres, extra variance of each landmark, from `landmark_noise`
    parameters : JointParameters

    Returns
    -------
    joints_m : float64 (J, 3), metres, camera axes
    sigma_m : float64 (J,), metres, standard deviation along an axis

    References
    ----------
    Conditional Gaussian, e.g. Bishop 2006, eq. 2.81-2.82. Naive twin: tests/reference/joints/pose_prior.py
    """
    measured, centre_m, residuals_m = _centred(landmarks_m, found, parameters)
    wanted = np.arange(len(found), parameters.mean_m.shape[1])
    given = noise_m2, parameters.covariance_m2, measured, wanted, TRANSLATION_VARIANCE_M2
    joints_m, variance_m2 = condition(residuals_m, *given)
    joints_m += centre_m + parameters.mean_m[:, wanted].T
    return joints_m, np.sqrt(np.maximum(variance_m2, 0).mean(axis=1))
