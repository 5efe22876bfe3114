"""Kernel: calibrated confidences of proposals and joints, and the fusion of two models by confidence.

Functions of joints accept one person or many, in float32 or float64, and compute in float64.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, helper, njit
from posepipe.joints.joint_parameters import FUSION_TERMS
from posepipe.results import CORRECT_M

MIN_SHARE = 1e-4
"""Shares are clipped to MIN_SHARE .. 1 - MIN_SHARE before calibration, to keep log-odds finite."""
MAX_LOG_ODDS = 30.0
MIN_MASS_M2 = 1e-9
FULL_OVERRIDE_MARGIN = 0.2
"""Confidence margin at which the Gaussian prior fully overrides the network; its weight falls linearly to zero. Real
people differ from rendered ones, so the network alone is less accurate on them (docs/evaluation/ablations.md)."""
MAX_DISAGREEMENT_M = 0.3
"""Upper bound, metres, of the distance between two models' joints in `fusion_terms`."""


@njit(cache=True, inline="always")
def _logistic(log_odds):
    return 1 / (1 + math.exp(-min(max(log_odds, -MAX_LOG_ODDS), MAX_LOG_ODDS)))


@njit(cache=True, inline="always")
def _log_odds(share):
    share = min(max(np.float64(share), MIN_SHARE), 1 - MIN_SHARE)
    return math.log(share / (1 - share))


@compiled_for("f4[:,::1], f4[:,::1], f8[:,::1]")
@njit(cache=True)
def _confidence_of_mass(masses, confidence, out):
    for landmark in range(masses.shape[0]):
        for mode in range(masses.shape[1]):
            mass = np.float64(masses[landmark, mode])
            if mass > 0:
                log_odds = confidence[landmark, 0] + confidence[landmark, 1] * math.log(max(mass, MIN_MASS_M2))
                out[landmark, mode] = _logistic(log_odds)


def confidence_of_mass(masses_m2: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Calibrated confidence of modes, from their mass.

    Parameters
    ----------
    masses_m2 : float (L, M), square metres, of the modes of each landmark; 0 = no mode
    confidence : float (L, 2), offset and slope of the log-odds against ln(mass)

    Returns
    -------
    float64 (L, M), 0 for no mode

    References
    ----------
    Logistic regression, e.g. Bishop 2006, section 4.3.2. Naive twin: tests/reference/joints/calibration.py
    """
    out = np.zeros(masses_m2.shape)
    _confidence_of_mass(masses_m2, confidence, out)
    return out


@compiled_for("f8[::1], f8, f8[::1]")
@njit(cache=True)
def _probability_within(sigma, radius, out):
    for n in range(len(sigma)):
        ratio = radius / max(np.float64(sigma[n]), 1e-9)
        share = math.erf(ratio / math.sqrt(2)) - math.sqrt(2 / math.pi) * ratio * math.exp(-(ratio**2) / 2)
        out[n] = min(max(share, 0.0), 1.0)


def probability_within(sigma_m: np.ndarray, radius_m: float = CORRECT_M) -> np.ndarray:
    """Probability that an isotropic 3D Gaussian error stays below a radius.

    Parameters
    ----------
    sigma_m : float, any shape, metres, standard deviation along an axis
    radius_m : float, metres

    Returns
    -------
    float64, of that shape

    References
    ----------
    The Maxwell distribution of the error's length. Naive twin: tests/reference/joints/calibration.py
    """
    out = np.empty(sigma_m.shape)
    _probability_within(sigma_m.ravel(), float(radius_m), out.reshape(-1))
    return out


@compiled_for("f8[:,::1], f4[:,::1], f8[:,::1]")
@njit(cache=True)
def _calibrate(share, calibration, out):
    for p in range(out.shape[0]):
        for joint in range(out.shape[1]):
            out[p, joint] = _logistic(calibration[joint, 0] + calibration[joint, 1] * _log_odds(share[p, joint]))


def calibrate(share: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Calibrate the confidence that a model states, which is too high.

    Parameters
    ----------
    share : float (..., J), probability, by the model, that each joint is right
    calibration : float (J, 2), offset and slope of the log-odds against the model's

    Returns
    -------
    float64 (..., J)

    Raises
    ------
    ValueError
        For another number of joints.

    References
    ----------
    Platt, Advances in Large Margin Classifiers, 1999. Naive twin: tests/reference/joints/calibration.py
    """
    share = np.asarray(share, np.float64)
    if share.shape[-1:] != calibration.shape[:1]:
        raise ValueError(f"{len(calibration)} joints have a calibration, got shares of shape {share.shape}")
    out = np.empty(share.shape)
    _calibrate(_rows(share, 1), calibration, _rows(out, 1))
    return out


@helper(cache=True)
def _fill_fusion_terms(expected, expected_confidence, corrected, corrected_confidence, terms):
    squared = 0.0
    for axis in range(3):
        squared += (np.float64(expected[axis]) - np.float64(corrected[axis])) ** 2
    disagreement = 10 * min(math.sqrt(squared), MAX_DISAGREEMENT_M)
    terms[0], terms[1], terms[2] = 1, _log_odds(expected_confidence), _log_odds(corrected_confidence)
    for k in range(3):
        terms[3 + k] = disagreement * terms[k]


@njit(cache=True)
def _fusion_terms(expected, expected_confidence, corrected, corrected_confidence, terms):
    for p in range(terms.shape[0]):
        for joint in range(terms.shape[1]):
            _fill_fusion_terms(
                expected[p, joint],
                expected_confidence[p, joint],
                corrected[p, joint],
                corrected_confidence[p, joint],
                terms[p, joint],
            )


def fusion_terms(expected: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Terms of the log-odds of a fused joint, from the joints and confidences of two models.

    Parameters
    ----------
    expected : joints of one model, float (..., J, 3) metres, and their confidences, float (..., J)
    corrected : those of the other model

    Returns
    -------
    float64 (..., J, FUSION_TERMS): 1 and the log-odds of both models, then the same three times the distance between
    the two joints, in tenths of a metre. The latter let the weights depend on the agreement of the models

    Raises
    ------
    ValueError
        When the two models have different numbers of joints.

    References
    ----------
    Naive twin: tests/reference/joints/calibration.py
    """
    _check_shapes(expected, corrected)
    terms = np.empty((*expected[1].shape, FUSION_TERMS))
    _fusion_terms(*_rows_of(expected), *_rows_of(corrected), _rows(terms, 2))
    return terms


@compiled_for("f4[:,:,::1], f8[:,:,::1], f8[:,::1], f4[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1]")
@njit(cache=True)
def _fuse(weights, expected, expected_confidence, corrected, corrected_confidence, joints, confidence):
    terms = np.empty(FUSION_TERMS)
    for p in range(confidence.shape[0]):
        for joint in range(confidence.shape[1]):
            margin = np.float64(expected_confidence[p, joint]) - np.float64(corrected_confidence[p, joint])
            prior_weight = min(max(margin / FULL_OVERRIDE_MARGIN, 0.0), 1.0)
            _fill_fusion_terms(
                expected[p, joint],
                expected_confidence[p, joint],
                corrected[p, joint],
                corrected_confidence[p, joint],
                terms,
            )
            log_odds = 0.0
            for k in range(FUSION_TERMS):
                log_odds += terms[k] * (prior_weight * weights[0, joint, k] + (1 - prior_weight) * weights[1, joint, k])
            confidence[p, joint] = _logistic(log_odds)
            for axis in range(3):
                joints[p, joint, axis] = (
                    prior_weight * expected[p, joint, axis] + (1 - prior_weight) * corrected[p, joint, axis]
                )


def fuse(
    weights: np.ndarray, expected: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Fuse the joints of the Gaussian prior and of the network.

    The weight of the Gaussian is linear in the difference of the confidences: a hard choice would make joints jump
    between frames.

    Parameters
    ----------
    weights : float (2, J, FUSION_TERMS), fusion weights of `fusion_terms`, for the Gaussian's joint and the network's
    expected : joints of the Gaussian, float (..., J, 3) metres, and their confidences, float (..., J)
    corrected : those of the network

    Returns
    -------
    joints_m : float64 (..., J, 3), metres
    confidence : float64 (..., J), calibrated, from both models

    Raises
    ------
    ValueError
        When the models and the weights have different numbers of joints.

    References
    ----------
    Naive twin: tests/reference/joints/calibration.py
    """
    _check_shapes(expected, corrected)
    if weights.shape != (2, *expected[1].shape[-1:], FUSION_TERMS):
        raise ValueError(f"joints of shape {expected[1].shape} need weights for each, got shape {weights.shape}")
    joints_m, confidence = np.empty(expected[0].shape), np.empty(expected[1].shape)
    _fuse(weights, *_rows_of(expected), *_rows_of(corrected), *_rows_of((joints_m, confidence)))
    return joints_m, confidence


def _check_shapes(expected: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]) -> None:
    shape = expected[1].shape
    if not expected[0].shape == corrected[0].shape == (*shape, 3) or corrected[1].shape != shape:
        shapes = [array.shape for array in (*expected, *corrected)]
        raise ValueError(f"two models must have the same joints, (..., J, 3) and (..., J), got shapes {shapes}")


def _rows_of(model: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Joints (P, J, 3) and confidences (P, J); P = 1 for a single person."""
    return _rows(model[0], 2), _rows(model[1], 1)


def _rows(array: np.ndarray, own_axes: int) -> np.ndarray:
    shape = array.shape
    return array.reshape(math.prod(shape[:-own_axes]), *shape[-own_axes:])
