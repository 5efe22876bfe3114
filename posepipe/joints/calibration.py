"""Kernel: how certain proposals and joints are, mostly by logistic curves that were learned.

Of joints, each function takes one person's or many people's, in float32 or float64, and computes in float64.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from posepipe.joints.joint_parameters import FUSION_TERMS
from posepipe.results import RIGHT_M

MIN_SHARE = 1e-4
"""Nothing is less certain than this, or more certain than 1 less this, before it is calibrated."""
MAX_LOG_ODDS = 30.0
MIN_MASS_M2 = 1e-9
FULL_OVERRIDE_MARGIN = 0.2
"""So much surer of a joint than the network that corrects it, the Gaussian alone is heard; half as much, half. On
rendered people the network alone is better still, on real ones, who are otherwise than any rendered, it is not
(docs/evaluation/accuracy.md)."""
MAX_DISAGREEMENT_M = 0.3
"""Two models that disagree by more disagree as much as they can."""


@njit(cache=True, inline="always")
def _logistic(log_odds):
    return 1 / (1 + math.exp(-min(max(log_odds, -MAX_LOG_ODDS), MAX_LOG_ODDS)))


@njit(cache=True, inline="always")
def _log_odds(share):
    share = min(max(np.float64(share), MIN_SHARE), 1 - MIN_SHARE)
    return math.log(share / (1 - share))


@njit(cache=True)
def _confidence_of_mass(masses, confidence, out):
    for landmark in range(masses.shape[0]):
        for mode in range(masses.shape[1]):
            mass = np.float64(masses[landmark, mode])
            if mass > 0:
                log_odds = confidence[landmark, 0] + confidence[landmark, 1] * math.log(max(mass, MIN_MASS_M2))
                out[landmark, mode] = _logistic(log_odds)


def confidence_of_mass(masses_m2: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Share of modes of such a mass that lie right.

    Parameters
    ----------
    masses_m2 : (L, M), square metres, of each landmark's modes; 0 = no mode
    confidence : (L, 2), offset and slope of the log-odds against ln(mass)

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


@njit(cache=True)
def _share_within(sigma, radius, out):
    for n in range(len(sigma)):
        ratio = radius / max(np.float64(sigma[n]), 1e-9)
        share = math.erf(ratio / math.sqrt(2)) - math.sqrt(2 / math.pi) * ratio * math.exp(-(ratio**2) / 2)
        out[n] = min(max(share, 0.0), 1.0)


def share_within(sigma_m: np.ndarray, radius_m: float = RIGHT_M) -> np.ndarray:
    """Probability that an isotropic 3D Gaussian error stays below a radius.

    Parameters
    ----------
    sigma_m : any shape, metres, standard deviation an axis
    radius_m : metres

    Returns
    -------
    float64, of that shape

    References
    ----------
    The Maxwell distribution of the error's length. Naive twin: tests/reference/joints/calibration.py
    """
    out = np.empty(sigma_m.shape)
    _share_within(sigma_m.ravel(), float(radius_m), out.reshape(-1))
    return out


@njit(cache=True)
def _calibrate(share, calibration, out):
    for p in range(out.shape[0]):
        for joint in range(out.shape[1]):
            out[p, joint] = _logistic(calibration[joint, 0] + calibration[joint, 1] * _log_odds(share[p, joint]))


def calibrate(share: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Stated confidence from a model's own, which is too sure of itself.

    Parameters
    ----------
    share : (..., J), how likely the model takes each joint to lie right
    calibration : (J, 2), offset and slope of the log-odds against the model's own

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
    share = np.asarray(share)
    if share.shape[-1:] != calibration.shape[:1]:
        raise ValueError(f"{len(calibration)} joints have a calibration, got shares of shape {share.shape}")
    out = np.empty(share.shape)
    _calibrate(_rows(share, 1), calibration, _rows(out, 1))
    return out


@njit(cache=True)
def _fill_fusion_terms(expected, expected_confidence, corrected, corrected_confidence, terms):
    squared = 0.0
    for axis in range(3):
        squared += (np.float64(expected[axis]) - np.float64(corrected[axis])) ** 2
    apart = 10 * min(math.sqrt(squared), MAX_DISAGREEMENT_M)
    terms[0], terms[1], terms[2] = 1, _log_odds(expected_confidence), _log_odds(corrected_confidence)
    for k in range(3):
        terms[3 + k] = apart * terms[k]


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
    """What two models say of joints, as the terms of a confidence.

    Parameters
    ----------
    expected : one model's joints (..., J, 3), metres, and its own confidence of each, (..., J)
    corrected : the other's

    Returns
    -------
    float64 (..., J, FUSION_TERMS): 1 and the log-odds of both, then the same times the distance between the two
    joints, in tenths of a metre: models that agree are believed otherwise than models that do not

    Raises
    ------
    ValueError
        When the two do not speak of as many joints.

    References
    ----------
    Naive twin: tests/reference/joints/calibration.py
    """
    _check_alike(expected, corrected)
    terms = np.empty((*expected[1].shape, FUSION_TERMS))
    _fusion_terms(*_rows_of(expected), *_rows_of(corrected), _rows(terms, 2))
    return terms


@njit(cache=True)
def _fuse(weights, expected, expected_confidence, corrected, corrected_confidence, joints, confidence):
    terms = np.empty(FUSION_TERMS)
    for p in range(confidence.shape[0]):
        for joint in range(confidence.shape[1]):
            surer = np.float64(expected_confidence[p, joint]) - np.float64(corrected_confidence[p, joint])
            gaussian = min(max(surer / FULL_OVERRIDE_MARGIN, 0.0), 1.0)
            _fill_fusion_terms(
                expected[p, joint],
                expected_confidence[p, joint],
                corrected[p, joint],
                corrected_confidence[p, joint],
                terms,
            )
            log_odds = 0.0
            for k in range(FUSION_TERMS):
                log_odds += terms[k] * (gaussian * weights[0, joint, k] + (1 - gaussian) * weights[1, joint, k])
            confidence[p, joint] = _logistic(log_odds)
            for axis in range(3):
                joints[p, joint, axis] = (
                    gaussian * expected[p, joint, axis] + (1 - gaussian) * corrected[p, joint, axis]
                )


def fuse(
    weights: np.ndarray, expected: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Of two models' joints the corrected ones, drawn to the others' as far as the other model is surer.

    By and by, for a joint that leapt from the one to the other would leap with every change of the picture.

    Parameters
    ----------
    weights : (2, J, FUSION_TERMS), what `fusion_terms` weigh when the Gaussian is heard, and when the network is
    expected : the Gaussian's joints (..., J, 3), metres, and its own confidence of each, (..., J)
    corrected : the network's

    Returns
    -------
    joints_m : float64 (..., J, 3), metres
    confidence : float64 (..., J), how likely each lies right, both fusion_terms heard

    Raises
    ------
    ValueError
        When the two, or the weights, do not speak of as many joints.

    References
    ----------
    Naive twin: tests/reference/joints/calibration.py
    """
    _check_alike(expected, corrected)
    if weights.shape != (2, *expected[1].shape[-1:], FUSION_TERMS):
        raise ValueError(f"joints of shape {expected[1].shape} need weights for each, got shape {weights.shape}")
    joints_m, confidence = np.empty(expected[0].shape), np.empty(expected[1].shape)
    _fuse(weights, *_rows_of(expected), *_rows_of(corrected), *_rows_of((joints_m, confidence)))
    return joints_m, confidence


def _check_alike(expected: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray]) -> None:
    shape = expected[1].shape
    if not expected[0].shape == corrected[0].shape == (*shape, 3) or corrected[1].shape != shape:
        shapes = [array.shape for array in (*expected, *corrected)]
        raise ValueError(f"two models must speak of the same joints, (..., J, 3) and (..., J), got shapes {shapes}")


def _rows_of(model: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Joints (P, J, 3) and certainties (P, J), one person's too."""
    return _rows(model[0], 2), _rows(model[1], 1)


def _rows(array: np.ndarray, own_axes: int) -> np.ndarray:
    shape = array.shape
    return array.reshape(math.prod(shape[:-own_axes]), *shape[-own_axes:])
