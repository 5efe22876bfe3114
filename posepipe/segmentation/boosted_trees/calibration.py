"""Calibration: from the score of boosted trees to a probability."""

from __future__ import annotations

import numpy as np

MAX_LOG_ODDS = 700.0
"""Log-odds are kept so far from 0: the exponential of larger ones is infinite."""


def calibrated(score: float, calibration: np.ndarray) -> float:
    """Probability of a score, by Platt scaling (Platt 1999).

    Parameters
    ----------
    score : of boosted trees
    calibration : float32 (2,), offset and slope of the log-odds against the score
    """
    log_odds = float(calibration[0]) + float(calibration[1]) * score
    return float(1 / (1 + np.exp(-min(max(log_odds, -MAX_LOG_ODDS), MAX_LOG_ODDS))))
