"""Logistic fits of how probably a mode or a joint is correct, which is within 10 cm of the truth."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from posepipe.joints.calibration import MIN_SHARE
from posepipe.results import CORRECT_M
from posepipe.training.joints.found_modes import FoundModes


def fit_confidence(found: FoundModes) -> np.ndarray:
    """Fit, for each landmark, whether a mode is correct in ln(mass): float32 (L, 2), offset and slope."""
    with np.errstate(invalid="ignore"):  # False where the truth is NaN
        correct = is_correct(found.modes_m, found.landmarks_m[:, :, None])
    by_landmark = zip(np.moveaxis(found.masses_m2, 1, 0), np.moveaxis(correct, 1, 0), strict=True)
    return np.array([_logistic(np.log(m[m > 0]), c[m > 0]) for m, c in by_landmark], np.float32)


def fit_calibration(share: np.ndarray, joints_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Fit, for each joint, whether it is correct in the log-odds that a model states.

    Parameters
    ----------
    share : float (P, J), the model's probability that the joint is correct
    joints_m, truth_m : float (P, J, 3), metres

    Returns
    -------
    float32 (J, 2), offset and slope
    """
    share = np.clip(share, MIN_SHARE, 1 - MIN_SHARE)
    log_odds = np.log(share / (1 - share))
    return np.array(
        [_logistic(x, y) for x, y in zip(log_odds.T, is_correct(joints_m, truth_m).T, strict=True)], np.float32
    )


def is_correct(places_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Whether places (..., 3) lie within 10 cm of the truth: bool (...)."""
    return np.linalg.norm(places_m - truth_m, axis=-1) < CORRECT_M


def _logistic(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Offset and slope of the log-odds of ``y`` against ``x``; the slope is never negative."""
    if y.any() and not y.all():
        fit = LogisticRegression(C=100, solver="newton-cholesky").fit(x[:, None], y)
        if fit.coef_[0, 0] > 0:
            return float(fit.intercept_[0]), float(fit.coef_[0, 0])
    share = (y.sum() + 1) / (len(y) + 2)  # a single class: its share, by Laplace's rule
    return float(np.log(share / (1 - share))), 0.0
