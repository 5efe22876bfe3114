"""Kernel: which proposals go best together, and where the joints then lie, by the Gaussian of landmarks and joints.

Where the whole person stands is unknown to it: a flat prior on translation lets any subset of landmarks place him.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from posepipe.joints.conditional_gaussian import fill_condition, fill_leave_one_out
from posepipe.joints.joint_parameters import JointParameters

TRANSLATION_VARIANCE_M2 = 100.0
"""Prior variance of where a person stands: flat, for every practical purpose."""
DOUBT_SIGMA_M = 0.03
"""Extra sigma of a landmark that is as likely wrong as right; of 1 to 15 cm, 3 do best on rendered people."""
PLAUSIBILITY_SHARE = 0.5
"""Weight of the Gaussian's opinion against the proposal's own confidence."""
MAX_SQUARED_SIGMAS = 30.0
"""Squared distance, in sigmas, beyond which a proposal gets no less plausible: tails are heavier than Gaussian."""
LANDMARK_SIGMA_M = 0.05
"""A right proposal lies about so far from where the Gaussian expects it even if that knew all."""
MAX_PASSES = 2
"""Choices are made again after all have been made once."""


@njit(cache=True)
def landmark_noise(confidence):
    """Extra variance of a landmark's place, square metres, when it is right with probability ``confidence``, (L,)."""
    return (1 - confidence) / np.maximum(confidence, 0.05) * DOUBT_SIGMA_M**2


@njit(cache=True)
def _surprise(landmarks, found, mean):
    """Rows of the landmarks found, their centre, and how far each lies from its mean about it, (L, 3)."""
    seen = np.flatnonzero(found)
    centre, surprise = np.zeros(3), np.zeros(landmarks.shape)
    for row in seen:
        centre += landmarks[row] / len(seen)
    for row in seen:
        for axis in range(3):
            surprise[row, axis] = landmarks[row, axis] - centre[axis] - mean[axis, row]
    return seen, centre, surprise


@njit(cache=True)
def _infer_joints(landmarks, found, noise, mean, covariance, joints, variance):
    seen, centre, surprise = _surprise(landmarks, found, mean)
    asked = np.arange(len(found), mean.shape[1])
    fill_condition(surprise, noise, covariance, seen, asked, TRANSLATION_VARIANCE_M2, joints, variance)
    for joint in range(len(asked)):
        for axis in range(3):
            joints[joint, axis] += centre[axis] + mean[axis, asked[joint]]


@njit(cache=True)
def _expect_landmarks(landmarks, found, noise, mean, covariance, expected, variance):
    seen, _, surprise = _surprise(landmarks, found, mean)
    fill_leave_one_out(surprise, noise, covariance, seen, TRANSLATION_VARIANCE_M2, expected, variance)
    for row in seen:
        expected[row] += landmarks[row]


@njit(cache=True)
def _score(place, sure, expected, variance):
    """How well a proposal goes with what the others make of its landmark."""
    distance = 0.0
    for axis in range(3):
        distance += (place[axis] - expected[axis]) ** 2 / (variance[axis] + LANDMARK_SIGMA_M**2)
    return math.log(max(sure, 1e-6)) - PLAUSIBILITY_SHARE * min(distance, MAX_SQUARED_SIGMAS) / 2


@njit(cache=True)
def _choose(places, confidence, mean, covariance, best):
    n_landmarks, most = confidence.shape
    found = np.zeros(n_landmarks, np.bool_)
    for row in range(n_landmarks):
        for k in range(most):
            found[row] |= confidence[row, k] > 0
            if confidence[row, k] > confidence[row, best[row]]:
                best[row] = k
    if not found.any():
        return
    landmarks, sure = np.empty((n_landmarks, 3)), np.empty(n_landmarks)
    for _ in range(MAX_PASSES):
        for row in range(n_landmarks):
            landmarks[row], sure[row] = places[row, best[row]], confidence[row, best[row]]
        expected, variance = np.zeros((n_landmarks, 3)), np.zeros((n_landmarks, 3))
        _expect_landmarks(landmarks, found, landmark_noise(sure), mean, covariance, expected, variance)
        stands = True
        for row in range(n_landmarks):
            chosen, highest = best[row], -np.inf
            for k in range(most):
                if confidence[row, k] > 0:
                    score = _score(places[row, k], confidence[row, k], expected[row], variance[row])
                    if score > highest:
                        chosen, highest = k, score
            stands &= chosen == best[row]
            best[row] = chosen
        if stands:
            return


def choose_proposals(places_m: np.ndarray, confidence: np.ndarray, parameters: JointParameters) -> np.ndarray:
    """Choose the proposals that go best together: first the surest, then what the others make plausible.

    Parameters
    ----------
    places_m : float64 (L, M, 3), metres, the proposals of each landmark
    confidence : float64 (L, M), 0 = none
    parameters : JointParameters

    Returns
    -------
    int64 (L,), which proposal of each landmark, the first of equals; 0 where none was made

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
    """Expect the joints, given some landmarks.

    Parameters
    ----------
    landmarks_m : float64 (L, 3), metres; only rows of ``found`` are read
    found : bool (L,), at least one
    noise_m2 : float64 (L,), extra variance of a landmark's place, for those not to be trusted much
    parameters : JointParameters

    Returns
    -------
    joints_m : float64 (J, 3), metres, camera axes
    sigma_m : float64 (J,), metres, standard deviation an axis

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
    """Expect each landmark, given all the others.

    As `choose_proposals` does in its rounds; parameters are those of `infer_joints`.

    Returns
    -------
    expected_m : float64 (L, 3), metres; rows not in ``found`` are 0
    variance_m2 : float64 (L, 3), square metres, an axis

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
