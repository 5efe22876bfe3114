"""Weights of rows: checked, and expressed in rows where a rule needs counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

REPEATED = 1e-9
"""Maximum relative distance of a weight from a multiple of the smallest weight."""


def checked_weight(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Check weights of rows: float64 (N,), non-negative; None = 1 each. Raises ValueError for others."""
    if sample_weight is None:
        return None
    return in_range(_check_sample_weight(sample_weight, y[:, None], ensure_non_negative=True))


def in_range(weight: np.ndarray) -> np.ndarray:
    """Return weights, float64 (N,), that float64 adds up. Raises ValueError for others.

    N of the largest must not add up to infinity, and it must not be subnormal, as such numbers have fewer digits.
    """
    limits, largest = np.finfo(np.float64), weight.max()
    if largest > limits.max / len(weight):
        raise ValueError(f"weights of rows must add up to a finite number, got up to {largest:g}; scale them down")
    if 0 < largest < limits.tiny:
        raise ValueError(f"weights of rows below {limits.tiny:.0e} are rounded, got up to {largest:g}; scale them up")
    return weight


def weight_of_a_row(weight: np.ndarray | None) -> float:
    """Weight that counts as one row, in rules that need numbers of rows.

    Weights that are multiples of the smallest stand for repeated rows: the smallest counts as one row. All other
    weights count one row on average, as in boosting. Neither depends on the scale of the weights.

    Parameters
    ----------
    weight : float64 (N,), above 0; None = 1 each

    References
    ----------
    Weights that add up to the number of rows: Quinlan, Bagging, boosting, and C4.5, AAAI 1996.
    """
    if weight is None:
        return 1.0
    smallest, mean = float(weight.min()), float(weight.mean())
    if smallest < 2 * REPEATED * weight.max():  # so far apart, every number counts as a multiple
        return mean
    times = weight / smallest
    return smallest if (np.abs(times - np.rint(times)) <= REPEATED * times).all() else mean
