"""Kernel: choice of proposals and inference of joints by the pose prior, a Gaussian over landmarks and joints.

The prior on translation is flat, so any subset of landmarks can place a person.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, njit
from posepipe.joints.conditional_gaussian import condition, leave_one_out
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
MAX_PASSES = 2
"""Maximum number of passes over the landmarks; the second one starts from the choices of the first."""


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


@compiled_for("f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1], i8[::1]")
@njit(cache=True)
def _choose(places, confidence, expected, variance, best):
    """Choose the proposal of the highest score, given the expectation of its landmark; return whether any changed."""
    changed = False
    for row in range(confidence.shape[0]):
        chosen, highest = best[row], -np.inf
        for k in range(confidence.shape[1]):
            if confidence[row, k] > 0:
                squared = 0.0
                for axis in range(3):
                    sigma2 = variance[row, axis] + LANDMARK_SIGMA_M**2
                    squared += (places[row, k, axis] - expected[row, axis]) ** 2 / sigma2
                likelihood = PRIOR_WEIGHT * min(squared, MAX_SQUARED_SIGMAS) / 2
                score = math.log(max(confidence[row, k], 1e-6)) - likelihood
                if score > highest:
                    chosen, highest = k, score
        changed |= chosen != best[row]
        best[row] = chosen
    return changed


def choose_proposals(places_m: np.ndarray, confidence: np.ndarray, parameters: JointParameters) -> np.ndarray:
    """Choose one proposal of each landmark: first the highest confidence, then the best score given the others.

    Parameters
    ----------
    places_m : float64 (L, M, 3), metres, the proposals of each landmark
    confidence : float64 (L, M), 0 = none
    parameters : JointParameters

    Returns
    -------
    int64 (L,), column of the chosen proposal, the first of equal ones; 0 where there is none

    References
    ----------
    Naive twin: tests/reference/joints/pose_prior.py
    """
    rows = np.arange(len(confidence))
    found = np.asarray((confidence > 0).any(axis=1))
    if not found.any():
        return np.zeros(len(confidence), np.int64)
    best = confidence.argmax(axis=1)
    for _ in range(MAX_PASSES):
        noise_m2 = landmark_noise(confidence[rows, best])
        expected = expect_landmarks(places_m[rows, best], found, noise_m2, parameters)
        if not _choose(places_m, confidence, *expected, best):
            break
    return best


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


def expect_landmarks(
    landmarks_m: np.ndarray, found: np.ndarray, noise_m2: np.ndarray, parameters: JointParameters
) -> tuple[np.ndarray, np.ndarray]:
    """Conditional expectation of each landmark given all others, as in each pass of `choose_proposals`.

    Parameters are those of `infer_joints`.

    Returns
    -------
    expected_m : float64 (L, 3), metres; rows not in ``found`` are 0
    variance_m2 : float64 (L, 3), square metres, along each axis

    References
    ----------
    Leave-one-out of a Gaussian from its precision matrix: Rasmussen and Williams 2006, eq. 5.12. Naive twin:
    tests/reference/joints/pose_prior.py
    """
    measured, _, residuals_m = _centred(landmarks_m, found, parameters)
    given = noise_m2, parameters.covariance_m2, measured, TRANSLATION_VARIANCE_M2
    expected_m, variance_m2 = leave_one_out(residuals_m, *given)
    expected_m[measured] += landmarks_m[measured]
    return expected_m, variance_m2
