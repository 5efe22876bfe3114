"""Kernel: choice of proposals and inference of joints by the pose prior, a Gaussian over landmarks and joints.

The prior on translation is flat, so any subset of landmarks can place a person.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import njit
from posepipe.joints.conditional_gaussian import fill_condition, fill_leave_one_out
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


@njit(cache=True)
def landmark_noise(confidence):
    """Extra variance, square metres, of landmarks that are right with probability ``confidence``, (L,)."""
    return (1 - confidence) / np.maximum(confidence, 0.05) * EVEN_ODDS_SIGMA_M**2


@njit(cache=True)
def _residuals(landmarks, found, mean):
    """Rows of the landmarks found, their centre, and their residuals from centre plus mean, (L, 3)."""
    measured = np.flatnonzero(found)
    centre, residuals = np.zeros(3), np.zeros(landmarks.shape)
    for row in measured:
        centre += landmarks[row] / len(measured)
    for row in measured:
        for axis in range(3):
            residuals[row, axis] = landmarks[row, axis] - centre[axis] - mean[axis, row]
    return measured, centre, residuals


@njit(cache=True)
def _infer_joints(landmarks, found, noise, mean, covariance, joints, variance):
    measured, centre, residuals = _residuals(landmarks, found, mean)
    wanted = np.arange(len(found), mean.shape[1])
    fill_condition(residuals, noise, covariance, measured, wanted, TRANSLATION_VARIANCE_M2, joints, variance)
    for joint in range(len(wanted)):
        for axis in range(3):
            joints[joint, axis] += centre[axis] + mean[axis, wanted[joint]]


@njit(cache=True)
def _expect_landmarks(landmarks, found, noise, mean, covariance, expected, variance):
    measured, _, residuals = _residuals(landmarks, found, mean)
    fill_leave_one_out(residuals, noise, covariance, measured, TRANSLATION_VARIANCE_M2, expected, variance)
    for row in measured:
        expected[row] += landmarks[row]


@njit(cache=True)
def _score(place, confidence, expected, variance):
    """Score of a proposal, given the expectation of its landmark by all others."""
    distance = 0.0
    for axis in range(3):
        distance += (place[axis] - expected[axis]) ** 2 / (variance[axis] + LANDMARK_SIGMA_M**2)
    return math.log(max(confidence, 1e-6)) - PRIOR_WEIGHT * min(distance, MAX_SQUARED_SIGMAS) / 2


@njit(cache=True)
def _choose(places, confidence, mean, covariance, best):
    n_landmarks, n_proposals = confidence.shape
    found = np.zeros(n_landmarks, np.bool_)
    for row in range(n_landmarks):
        for k in range(n_proposals):
            found[row] |= confidence[row, k] > 0
            if confidence[row, k] > confidence[row, best[row]]:
                best[row] = k
    if not found.any():
        return
    landmarks, chosen_confidence = np.empty((n_landmarks, 3)), np.empty(n_landmarks)
    for _ in range(MAX_PASSES):
        for row in range(n_landmarks):
            landmarks[row], chosen_confidence[row] = places[row, best[row]], confidence[row, best[row]]
        expected, variance = np.zeros((n_landmarks, 3)), np.zeros((n_landmarks, 3))
        _expect_landmarks(landmarks, found, landmark_noise(chosen_confidence), mean, covariance, expected, variance)
        unchanged = True
        for row in range(n_landmarks):
            chosen, highest = best[row], -np.inf
            for k in range(n_proposals):
                if confidence[row, k] > 0:
                    score = _score(places[row, k], confidence[row, k], expected[row], variance[row])
                    if score > highest:
                        chosen, highest = k, score
            unchanged &= chosen == best[row]
            best[row] = chosen
        if unchanged:
            return


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
    best = np.zeros(len(confidence), np.int64)
    if confidence.size:
        _choose(places_m, confidence, parameters.mean_m, parameters.covariance_m2, best)
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
    n_joints = parameters.mean_m.shape[1] - len(found)
    joints_m, variance = np.zeros((n_joints, 3)), np.zeros((n_joints, 3))
    _infer_joints(landmarks_m, found, noise_m2, parameters.mean_m, parameters.covariance_m2, joints_m, variance)
    return joints_m, np.sqrt(np.maximum(variance, 0).mean(axis=1))


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
    expected_m, variance_m2 = np.zeros(landmarks_m.shape), np.zeros(landmarks_m.shape)
    _expect_landmarks(
        landmarks_m, found, noise_m2, parameters.mean_m, parameters.covariance_m2, expected_m, variance_m2
    )
    return expected_m, variance_m2
