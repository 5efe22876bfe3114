"""Bounds on the error of trees and forests on new rows: three bounds from the literature.

All three are loose. They show how error, size and number of rows trade off. To choose between trees, use a
validation set.
"""

from __future__ import annotations

import math


def minimum_description_length_bound(
    training_error: float, n_nodes: int, n_binary_features: int, n_rows: int, delta: float
) -> float:
    """Bound by the description length of the tree.

    With probability at least 1 - delta over the draw of the training rows, every binary tree of m
    nodes over d binary features errs on new rows at a rate of at most

        E <= E_train + sqrt(((m + 1) log2(d + 3) + ln(2 / delta)) / (2 n))

    It holds for all trees at once, so the tree may depend on the rows.

    Parameters
    ----------
    training_error : float, error rate on the n training rows, 0 to 1
    n_nodes : int, m, at least 1, leaves included
    n_binary_features : int, d, at least 1
    n_rows : int, n, at least 1, drawn independently
    delta : float, probability that the bound fails, above 0 and below 1

    Returns
    -------
    float, capped at 1

    Raises
    ------
    ValueError
        For a number outside its range.

    References
    ----------
    Shalev-Shwartz and Ben-David, Understanding Machine Learning, 2014, eq. 18.1. A node is encoded as one of d
    features, two labels or an end symbol, hence d + 3.
    """
    _check_share("training_error", training_error)
    for name, count in (("n_nodes", n_nodes), ("n_binary_features", n_binary_features), ("n_rows", n_rows)):
        _check_count(name, count)
    _check_delta(delta)
    bits = (n_nodes + 1) * math.log2(n_binary_features + 3)
    return min(1.0, training_error + math.sqrt((bits + math.log(2 / delta)) / (2 * n_rows)))


def vc_bound(training_error: float, n_leaves: int, n_rows: int, delta: float) -> float:
    """Bound by the Vapnik-Chervonenkis dimension, approximated by the number of leaves.

    With probability at least 1 - delta over the draw of the training rows, the error on new rows is
    at most

        E <= E_train + sqrt(2 v ln(e n / v) / n) + sqrt(ln(1 / delta) / (2 n))

    The dimension is v when the splits are fixed in advance and the rows determine only the labels of the v
    leaves. Splits chosen on the same rows increase it, which makes the value returned here optimistic.

    Parameters
    ----------
    training_error : float, error rate on the n training rows, 0 to 1
    n_leaves : int, v, at least 1
    n_rows : int, n, at least 1, drawn independently
    delta : float, probability that the bound fails, above 0 and below 1

    Returns
    -------
    float, capped at 1; also 1 for fewer rows than leaves, where the theorem does not apply

    Raises
    ------
    ValueError
        For a number outside its range.

    References
    ----------
    Mohri, Rostamizadeh and Talwalkar, Foundations of Machine Learning, 2nd edition, 2018,
    corollary 3.19.
    """
    _check_share("training_error", training_error)
    _check_count("n_leaves", n_leaves)
    _check_count("n_rows", n_rows)
    _check_delta(delta)
    if n_rows < n_leaves:
        return 1.0
    complexity = math.sqrt(2 * n_leaves * math.log(math.e * n_rows / n_leaves) / n_rows)
    return min(1.0, training_error + complexity + math.sqrt(math.log(1 / delta) / (2 * n_rows)))


def strength_bound(strength: float, correlation: float) -> float:
    """Bound on the error of a forest as the number of trees grows: correlation (1 - s^2) / s^2.

    Parameters
    ----------
    strength : float, s, -1 to 1: mean over rows of the share of votes for the true class minus the share for the
        strongest wrong class
    correlation : float, 0 to 1, mean correlation between the raw margins of two trees

    Returns
    -------
    float, capped at 1; also 1 for a strength of 0 or below, where the theorem does not apply

    Raises
    ------
    ValueError
        For a number outside its range.

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001, theorem 2.3.
    """
    if not -1 <= strength <= 1:
        raise ValueError(f"strength must lie between -1 and 1, got {strength}")
    _check_share("correlation", correlation)
    if strength <= 0:
        return 1.0
    square = strength * strength
    # compare before dividing, because a tiny square would overflow
    return correlation * (1 - square) / square if correlation * (1 - square) < square else 1.0


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value}")


def _check_count(name: str, value: int) -> None:
    if not value >= 1:
        raise ValueError(f"{name} must be at least 1, got {value}")


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie above 0 and below 1, got {delta}")
