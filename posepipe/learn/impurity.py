"""Impurity criteria and the gain of a split, in one formula each for kernels and Python code.

The statistics of a node are its class weights or, for regression, its moments: weight, weighted sum and
weighted sum of squares of the target. The statistics of the children add up to those of their parent.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit

ENTROPY, GINI, MISCLASSIFICATION, SQUARED_ERROR = 0, 1, 2, 3
CRITERIA = {
    "entropy": ENTROPY,
    "gini": GINI,
    "misclassification": MISCLASSIFICATION,
    "squared_error": SQUARED_ERROR,
}
"""Name of each criterion to its code, the form that kernels take."""
NO_COSTS = np.zeros((0, 0))
"""Empty cost matrix: every misclassification costs 1."""
BIT = 1 << 20
"""Fixed-point unit: one bit."""


def n_log_n_table(largest: int) -> np.ndarray:
    """Tabulate n log2 n in fixed point.

    The entropy of integer counts is then a sum of integers, so it does not depend on the order of summation.
    The best split is therefore the same for any number of threads.

    Parameters
    ----------
    largest : int, the last n of the table

    Returns
    -------
    int64 (largest + 1,), round(n log2 n * BIT), with 0 log 0 = 0
    """
    n = np.arange(largest + 1, dtype=np.float64)
    n[0] = 1  # 1 log 1 = 0 stands in for 0 log 0
    return np.rint(n * np.log2(n) * BIT).astype(np.int64)


@njit(cache=True, inline="always")
def n_log_n_beyond(n, n_log_n):
    """Evaluate n log2 n in fixed point for any n up to 2^36, for kernels; within the table it is the table's.

    Beyond, n = m 2^s with a large m that the table has, and n log2 n = 2^s m (log2 m + s). Other n are
    interpolated, with an error below n / (8 m^2 ln 2) bits.

    Parameters
    ----------
    n : int64
    n_log_n : int64 (T,), from `n_log_n_table`
    """
    if n < len(n_log_n):
        return n_log_n[n]
    shift = 1
    while (n >> shift) + 1 >= len(n_log_n):
        shift += 1
    m = n >> shift
    below = (n_log_n[m] + m * shift * BIT) << shift
    slope = n_log_n[m + 1] - n_log_n[m] + shift * BIT
    return below + slope * (n - (m << shift))


@njit(cache=True)
def _fill_n_log_n(n, n_log_n, out):
    for k in range(len(n)):
        out[k] = n_log_n_beyond(n[k], n_log_n)


def n_log_n_of(n: np.ndarray, n_log_n: np.ndarray) -> np.ndarray:
    """Evaluate `n_log_n_beyond` for many numbers, int64 (...): int64 (...)."""
    out = np.empty(n.shape, np.int64)
    _fill_n_log_n(np.ascontiguousarray(n, np.int64).reshape(-1), n_log_n, out.reshape(-1))
    return out


@njit(cache=True, inline="always")
def weight_of(criterion, statistics):
    """Weight of a node: the sum of its class weights, or its first moment."""
    total = statistics[0]
    if criterion != SQUARED_ERROR:
        for k in range(1, len(statistics)):
            total += statistics[k]
    return total


@njit(cache=True)
def _least_expected_cost(statistics, total, costs):
    least = np.inf
    for j in range(len(statistics)):
        expected = 0.0
        for i in range(len(statistics)):
            expected += costs[i, j] * (statistics[i] / total)
        least = min(least, expected)
    return least


@njit(cache=True, inline="always")  # the column scan evaluates it at every boundary between two values
def impurity_of(criterion, statistics, costs):
    """Impurity of one node, for kernels; 0 for a node without weight.

    Parameters
    ----------
    criterion : int, a value of CRITERIA
    statistics : float64 (C,), class weights or moments
    costs : float64 (C, C), row = true class, column = predicted class; NO_COSTS = 1 each; Gini and misclassification
        only, where the predicted class is the one of minimum expected cost
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
            share = weight / total
            if share > 0:  # that of a positive weight may underflow
                result -= share * np.log2(share)
    elif criterion == MISCLASSIFICATION:
        result = 1 - statistics.max() / total if len(costs) == 0 else _least_expected_cost(statistics, total, costs)
    elif len(costs):
        for i in range(len(statistics)):
            for j in range(len(statistics)):
                result += costs[i, j] * (statistics[i] / total) * (statistics[j] / total)
    else:
        for weight in statistics:
            result += weight / total * (1 - weight / total)
    return max(result, 0.0)


@njit(cache=True)
def _impurities(criterion, statistics, costs, out):
    for n in range(len(statistics)):
        out[n] = impurity_of(criterion, statistics[n], costs)


def impurity(criterion: int, statistics: np.ndarray, costs: np.ndarray = NO_COSTS) -> np.ndarray:
    """Evaluate `impurity_of` for many nodes.

    Parameters
    ----------
    criterion : int, a value of CRITERIA
    statistics : (..., C), class weights or moments
    costs : float64 (C, C), as in `impurity_of`

    Returns
    -------
    float64 (...)

    Raises
    ------
    ValueError
        When costs are not (C, C), or moments not three.
    """
    statistics = np.ascontiguousarray(statistics, dtype=np.float64)
    columns = statistics.shape[-1]  # the kernel does not check bounds
    if costs.size and costs.shape != (columns, columns):
        raise ValueError(f"costs must be ({columns}, {columns}), one for each pair of classes, got shape {costs.shape}")
    if criterion == SQUARED_ERROR and columns != 3:
        raise ValueError(f"moments are weight, sum and sum of squares, got {columns} numbers")
    out = np.empty(statistics.shape[:-1])
    _impurities(criterion, statistics.reshape(-1, statistics.shape[-1]), costs, out.reshape(-1))
    return out


def entropy(counts: np.ndarray) -> np.ndarray:
    """Shannon entropy, -sum p log2 p, of class counts or weights.

    Parameters
    ----------
    counts : (..., C), non-negative

    Returns
    -------
    float64 (...), bits; 0 where the counts sum to 0

    References
    ----------
    Shannon 1948; Quinlan 1986.
    """
    return impurity(ENTROPY, counts)


def gini(counts: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray:
    """Gini impurity, the sum over i, j of cost(i, j) p_i p_j.

    It is the expected cost of predicting a class drawn at random from the node's own class shares.

    Parameters
    ----------
    counts : (..., C), non-negative
    costs : float (C, C), cost of predicting class j for true class i; None = 1 for every error, which gives 1 - sum p^2

    Returns
    -------
    float64 (...)

    References
    ----------
    Breiman, Friedman, Olshen and Stone 1984, sections 4.3 and 4.4.
    """
    return impurity(GINI, counts, NO_COSTS if costs is None else np.asarray(costs, np.float64))


def misclassification(counts: np.ndarray) -> np.ndarray:
    """Misclassification rate of the majority class, 1 - max p.

    Parameters
    ----------
    counts : (..., C), non-negative

    Returns
    -------
    float64 (...)
    """
    return impurity(MISCLASSIFICATION, counts)


def squared_error(moments: np.ndarray) -> np.ndarray:
    """Variance of the target: mean squared deviation from the mean.

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
    """Impurity decrease of a split; the parent is the sum of its children.

    Parameters
    ----------
    criterion : int, a value of CRITERIA
    children : (..., K, C), statistics of the K branches
    costs : float64 (C, C), as in `impurity_of`

    Returns
    -------
    float64 (...), in the unit of the criterion
    """
    children = np.asarray(children, np.float64)
    parent = children.sum(axis=-2)
    weight = children[..., 0] if criterion == SQUARED_ERROR else children.sum(axis=-1)
    return impurity(criterion, parent, costs) - (_shares(weight) * impurity(criterion, children, costs)).sum(axis=-1)


def conditional_entropy(children: np.ndarray) -> np.ndarray:
    """Mean entropy of the branches of a split, weighted by their size.

    Parameters
    ----------
    children : (..., K, C), class counts of the K branches

    Returns
    -------
    float64 (...), bits
    """
    children = np.asarray(children, np.float64)
    return (_shares(children.sum(axis=-1)) * entropy(children)).sum(axis=-1)


def information_gain(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
    """Information gain of a split: entropy before minus `conditional_entropy` after.

    Parameters
    ----------
    parent : (..., C), class counts before the split
    children : (..., K, C), class counts of the K branches

    Returns
    -------
    float64 (...), bits

    Raises
    ------
    ValueError
        When the branches do not add up to the parent.

    References
    ----------
    Quinlan 1986, the gain criterion of ID3.
    """
    total = np.asarray(children, np.float64).sum(axis=-2)
    if np.shape(parent)[-1:] != total.shape[-1:] or not np.allclose(parent, total):
        raise ValueError(f"the counts of all branches add up to {total.tolist()!s:.80}, not to the parent")
    return entropy(parent) - conditional_entropy(children)


def intrinsic_value(children: np.ndarray) -> np.ndarray:
    """Entropy of the branch sizes, also called split information.

    Parameters
    ----------
    children : (..., K, C), class counts of the K branches

    Returns
    -------
    float64 (...), bits
    """
    return entropy(np.asarray(children, np.float64).sum(axis=-1))


def gain_ratio(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
    """Information gain divided by intrinsic value.

    Parameters
    ----------
    parent : (..., C), class counts before the split
    children : (..., K, C), class counts of the K branches

    Returns
    -------
    float64 (...), bits per bit; 0 for a split with a single branch

    Raises
    ------
    ValueError
        As `information_gain` does.

    References
    ----------
    Quinlan 1993, section 2.2.
    """
    value = intrinsic_value(children)
    return np.where(value > 0, information_gain(parent, children) / np.where(value > 0, value, 1), 0.0)


def _shares(weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1)
