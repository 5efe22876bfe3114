"""Class weights of training samples, in whole units, so that sums of them do not depend on their order."""

from __future__ import annotations

import numpy as np

WEIGHT_UNIT = 1024
"""Units of a weight of 1."""
CLASS_WEIGHTS = (None, "balanced")
"""Kinds of class weights."""


def weights_of(kind: str | None, counts: np.ndarray) -> np.ndarray | None:
    """Return the weights of classes of which there are ``counts``, (C,): "balanced", or None = 1 each."""
    return balanced_weights(counts) if kind == "balanced" else None


def balanced_weights(counts: np.ndarray) -> np.ndarray:
    """Weigh classes so that all that occur have the same total weight, samples / (classes x samples of the class).

    Parameters
    ----------
    counts : int (C,), samples of each class

    Returns
    -------
    int64 (C,), units of 1 / WEIGHT_UNIT, at least one; a class without samples weighs 1

    References
    ----------
    King and Zeng 2001, as scikit-learn's ``class_weight="balanced"``.
    """
    counts = np.asarray(counts, np.float64)
    occurs = counts > 0
    weights = np.where(occurs, counts.sum() / (max(occurs.sum(), 1) * np.where(occurs, counts, 1)), 1.0)
    return np.maximum(np.rint(weights * WEIGHT_UNIT), 1).astype(np.int64)
