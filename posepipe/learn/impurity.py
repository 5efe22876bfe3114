"""Impurity of class counts, and what a split saves of it: one formula each, for kernels and for readers.

A node is described by its statistics: the weight of every class or, for a number to be predicted, its
moments (weight, weighted sum, weighted sum of squares). Statistics of children add up to their parent's.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ENTROPY, GINI, MISCLASSIFICATION, SQUARED_ERROR = 0, 1, 2, 3
CRITERIA = {
    "entropy": ENTROPY,
    "gini": GINI,
    "misclassification": MISCLASSIFICATION,
    "squared_error": SQUARED_ERROR,
}
"""Codes of the criteria, for kernels."""
NO_COSTS = np.zeros((0, 0))
"""Every mistake costs 1."""
BIT = 1 << 20
"""Fixed-point unit: one bit."""


def n_log_n_table(largest: int) -> np.ndarray:
    """Return int64 (largest + 1,): round(n log2 n * BIT), with 0 log 0 = 0.

    Entropy of whole counts from this table is a sum of whole numbers, which does not depend on its order:
    any number of threads and any way of counting finds the same best split.
    """
    n = np.arange(largest + 1, dtype=np.float64)
    n[0] = 1  # 1 log 1 = 0 stands in for 0 log 0
    return np.rint(n * np.log2(n) * BIT).astype(np.int64)


@njit(cache=True, inline="always")
def weight_of(criterion, statistics):
    """Weight that reached a node: the sum of its classes' weights, or its first moment."""
    total = statistics[0]
    if criterion != SQUARED_ERROR:
        for k in range(1, len(statistics)):
            total += statistics[k]
    return total


@njit(cache=True, inline="always")  # the scan of a table asks it of every boundary between two values
def impurity_of(criterion, statistics, costs):
    """Impurity of one node, for kernels; 0 where no weight arrived.

    Parameters
    ----------
    criterion : int, a value of CRITERIA
    statistics : float64 (K,), class weights or moments
    costs : float64 (C, C), row = true class, column = said class; (0, 0) = every mistake costs 1. Gini only
    """
    total = weight_of(criterion, statistics)
    if total <= 0:
        return 0.0
    if criterion == SQUARED_ERROR:
        mean = statistics[1] / total
        return max(statistics[2] / total - mean * mean, 0.0)
    result = 0.0
    if criterion == ENTROPY:
        for weight in statistics:
            if weight > 0:
                result -= weight / total * np.log2(weight / total)
    elif criterion == MISCLASSIFICATION:
        result = 1 - statistics.max() / total
    elif len(costs):
        for i in range(len(statistics)):
            for j in range(len(statistics)):
                result += costs[i, j] * statistics[i] * statistics[j] / (total * total)
    else:
        for weight in statistics:
            result += weight / total * (1 - weight / total)
    return max(result, 0.0)


@njit(cache=True)
def _impurities(criterion, statistics, costs, out):
    for n in range(len(statistics)):
        out[n] = impurity_of(criterion, statistics[n], costs)


def impurity(criterion: int, statistics: np.ndarray, costs: np.ndarray = NO_COSTS) -> np.ndarray:
    """`impurity_of` many nodes: statistics (..., K) to float64 (...)."""
    statistics = np.ascontiguousarray(statistics, dtype=np.float64)
    out = np.empty(statistics.shape[:-1])
    _impurities(criterion, statistics.reshape(-1, statistics.shape[-1]), costs, out.reshape(-1))
    return out


def entropy(counts: np.ndarray) -> np.ndarray:
    """-sum p log2 p of class counts or weights.

    Parameters
    ----------
    counts : (..., C), not negative

    Returns
    -------
    float64 (...), bits; 0 where the counts sum to 0

    References
    ----------
    Shannon 1948; Quinlan 1986.
    """
    return impurity(ENTROPY, counts)


def gini(counts: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray:
    """Sum over i, j of cost(i, j) p_i p_j: the expected cost of a guess drawn from the node itself.

    Parameters
    ----------
    counts : (..., C), not negative
    costs : float (C, C), cost of saying class j where i is true; None = 1 for every mistake, which gives 1 - sum p^2

    Returns
    -------
    float64 (...)

    References
    ----------
    Breiman, Friedman, Olshen and Stone 1984, sections 4.3 and 4.4.
    """
    return impurity(GINI, counts, NO_COSTS if costs is None else np.asarray(costs, np.float64))


def misclassification(counts: np.ndarray) -> np.ndarray:
    """1 - max p: the share that the majority gets wrong. (..., C) to float64 (...)."""
    return impurity(MISCLASSIFICATION, counts)


def squared_error(moments: np.ndarray) -> np.ndarray:
    """Mean squared deviation from the mean.

    Parameters
    ----------
    moments : (..., 3), weight, weighted sum and weighted sum of squares

    Returns
    -------
    float64 (...), in the square of the target's unit

    References
    ----------
    Breiman et al. 1984, section 8.3.
    """
    return impurity(SQUARED_ERROR, moments)


def gain(criterion: int, children: np.ndarray, costs: np.ndarray = NO_COSTS) -> np.ndarray:
    """Impurity that a split saves: statistics of its branches (..., K, C) to float64 (...).

    The parent is the sum of its children.
    """
    children = np.asarray(children, np.float64)
    parent = children.sum(axis=-2)
    weight = children[..., 0] if criterion == SQUARED_ERROR else children.sum(axis=-1)
    return impurity(criterion, parent, costs) - (_shares(weight) * impurity(criterion, children, costs)).sum(axis=-1)


def conditional_entropy(children: np.ndarray) -> np.ndarray:
    """Entropy that is left after a split: class counts of its branches (..., K, C) to float64 (...), bits."""
    children = np.asarray(children, np.float64)
    return (_shares(children.sum(axis=-1)) * entropy(children)).sum(axis=-1)


def information_gain(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
    """Bits that a split saves.

    Parameters
    ----------
    parent : (..., C), class counts before the split
    children : (..., K, C), class counts of the K branches

    Returns
    -------
    float64 (...), bits

    References
    ----------
    Quinlan 1986, the gain criterion of ID3.
    """
    return entropy(parent) - conditional_entropy(children)


def intrinsic_value(children: np.ndarray) -> np.ndarray:
    """Entropy of the branches' sizes, also called split information: (..., K, C) to float64 (...), bits."""
    return entropy(np.asarray(children, np.float64).sum(axis=-1))


def gain_ratio(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
    """Information gain over intrinsic value; 0 for a split with a single branch.

    Parameters are those of `information_gain`.

    References
    ----------
    Quinlan 1993, section 2.2.
    """
    value = intrinsic_value(children)
    return np.where(value > 0, information_gain(parent, children) / np.where(value > 0, value, 1), 0.0)


def _shares(weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1)
