"""Kernels: gain of one split, as all scans of a table compute it."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import helper, njit
from posepipe.learn.impurity import ENTROPY, NO_COSTS, SQUARED_ERROR, impurity_of

NUMERIC, MULTIWAY, ONE_VS_REST, SUBSET = 0, 1, 2, 3
"""Kind of split of a column: a threshold; a branch for each category; one category, or a set, against the rest."""
PURE = 1e-12
"""Maximum impurity of a pure node of classes, in the unit of the criterion."""
SAME_NUMBER = 8 * np.finfo(np.float64).eps
"""Maximum standard deviation of numbers that differ by rounding only, as a share of the magnitude of the target."""
EQUAL_GAIN = 1e-10
"""Maximum difference of gains that count as equal, so that ties go to the first and not to rounding. Gains of numbers
are shares of the variance at the node: next to an outlier, those of all other nodes would count as equal."""
ScanRules = tuple[int, np.ndarray, float, int, bool]
"""Criterion, costs, minimum size of a branch, length of the statistics, and whether thresholds follow release 8 of
C4.5: they pay for their description and need a tenth of a node's rows per class."""


@njit(cache=True, inline="always")
def add(criterion, statistics, target, weight):
    """Add a row to the statistics of a node."""
    if criterion == SQUARED_ERROR:
        statistics[0] += weight
        statistics[1] += weight * target
        statistics[2] += weight * target * target
    else:
        statistics[int(target)] += weight


@helper(cache=True)
def standardise(entries):
    """Replace targets by their distances from the weighted mean, in standard deviations; returns the variance.

    ``entries`` are those of one node, float64 (n, 2 or more), target and weight. Distances keep the moments accurate
    however far the node is from the other ones. Without any variance they stay as they are.
    """
    first, total, mean, variance = entries[0, 0], 0.0, 0.0, 0.0
    for j in range(len(entries)):
        total += entries[j, 1]
        mean += entries[j, 1] * (entries[j, 0] - first)  # equal targets have no rounding error
    mean = first + mean / total
    for j in range(len(entries)):
        variance += entries[j, 1] * (entries[j, 0] - mean) ** 2
    variance /= total
    if variance > 0:
        deviation = np.sqrt(variance)
        for j in range(len(entries)):
            entries[j, 0] = (entries[j, 0] - mean) / deviation
    return variance


@njit(cache=True, inline="always")
def gain_of(criterion, costs, before, total, total_weight, left, left_weight, right):
    """Gain of splitting ``total`` into ``left`` and the rest. ``right`` is a work array."""
    right_weight = total_weight - left_weight
    for k in range(len(total)):
        right[k] = total[k] - left[k]
    after = left_weight * impurity_of(criterion, left, costs) + right_weight * impurity_of(criterion, right, costs)
    return before - after / total_weight


@helper(cache=True)
def intrinsic_of(weights, missing):
    """Entropy of the branch weights in bits; entries of unknown branch count as one more branch."""
    branches = np.empty(len(weights) + 1)
    branches[:-1] = weights
    branches[-1] = missing
    return impurity_of(ENTROPY, branches, NO_COSTS)


@njit(cache=True)
def middle(low, high):
    """Threshold between two numbers: a number from low up to, and without, high."""
    middle = low + (high - low) / 2
    return middle if low <= middle < high else low  # adjacent floating-point numbers, or an overflow
