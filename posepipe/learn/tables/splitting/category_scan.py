"""Kernel: best split of one node by the categories of a column: one branch each, one against the rest, or two sets."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import helper, njit
from posepipe.learn.impurity import SQUARED_ERROR, impurity_of
from posepipe.learn.tables.splitting.split_gain import (
    EQUAL_GAIN,
    MULTIWAY,
    SUBSET,
    ScanRules,
    add,
    gain_of,
    intrinsic_of,
    standardise,
)

ABSENT = -1
"""Branch of a category that no row of a node has."""
MAX_EXHAUSTIVE = 8
"""Maximum categories of three or more classes for which all sets are tried."""


@helper(cache=True)
def _count_categories(codes, n_codes, order, start, end, entries, rules):
    """Statistics (K, S), weight and size of each category at a node, and the weight of missing cells."""
    counts, weights, sizes = np.zeros((n_codes, rules[3])), np.zeros(n_codes), np.zeros(n_codes)
    missing, size = 0.0, entries.shape[1] - 1
    for j in range(start, end):
        code = codes[order[j]]
        target, weight = entries[j, 0], entries[j, 1]
        if code < 0:
            missing += weight
        else:
            add(rules[0], counts[code], target, weight)
            weights[code] += weight
            sizes[code] += entries[j, size]
    return counts, weights, sizes, missing


@helper(cache=True)
def try_categories(column, order, start, end, entries, rules):
    """Best split of a categorical column: (gain, intrinsic value, category)."""
    codes, kind, n_codes = column
    criterion, costs, min_leaf, n_statistics, _ = rules
    counts, weights, sizes, missing = _count_categories(codes, n_codes, order, start, end, entries, rules)
    total = np.zeros(n_statistics)
    for k in range(n_codes):
        total += counts[k]
    total_weight = weights.sum()
    if total_weight <= 0:
        return -np.inf, 0.0, 0.0
    before = impurity_of(criterion, total, costs)
    known = total_weight / (total_weight + missing)
    if kind == MULTIWAY:
        after, n_large = 0.0, 0
        for k in range(n_codes):
            after += weights[k] * impurity_of(criterion, counts[k], costs)
            n_large += weights[k] > 0 and sizes[k] >= min_leaf
        if n_large < 2:
            return -np.inf, 0.0, 0.0
        return (before - after / total_weight) * known, intrinsic_of(weights, missing), 0.0
    in_first = np.zeros(n_codes, np.bool_)
    if kind == SUBSET:
        best = _best_subset((counts, weights, sizes), before, total, rules, in_first)
    else:
        best = _best_category((counts, weights, sizes), before, total, rules, in_first)
    if best == -np.inf:
        return -np.inf, 0.0, 0.0
    first_weight = 0.0
    for k in range(n_codes):
        if in_first[k]:
            first_weight += weights[k]
    branches = np.array([first_weight, total_weight - first_weight])
    return best * known, intrinsic_of(branches, missing), float(np.argmax(in_first))


@helper(cache=True)
def _best_category(categories, before, total, rules, in_first):
    """Best split of one category from the rest: returns the gain and marks the category."""
    counts, weights, sizes = categories
    criterion, costs, min_leaf, n_statistics, _ = rules
    best, category, right = -np.inf, -1, np.empty(n_statistics)
    total_weight, total_size = weights.sum(), sizes.sum()
    for k in range(len(weights)):
        rest = total_weight - weights[k]
        if weights[k] <= 0 or rest <= 0 or sizes[k] < min_leaf or total_size - sizes[k] < min_leaf:
            continue
        gain = gain_of(criterion, costs, before, total, total_weight, counts[k], weights[k], right)
        if gain > best + EQUAL_GAIN:
            best, category = gain, k
    if category >= 0:
        in_first[category] = True
    return best


@helper(cache=True)
def _best_prefix(ordered, categories, before, total, rules):
    """Best split of a sequence of categories into its first ones and the others: (gain, how many are first)."""
    counts, weights, sizes = categories
    criterion, costs, min_leaf, n_statistics, _ = rules
    left, right, best, n_first = np.zeros(n_statistics), np.empty(n_statistics), -np.inf, 0
    left_weight, left_size, total_weight, total_size = 0.0, 0.0, weights.sum(), sizes.sum()
    for i in range(len(ordered) - 1):
        left += counts[ordered[i]]
        left_weight += weights[ordered[i]]
        left_size += sizes[ordered[i]]
        if left_size < min_leaf or total_size - left_size < min_leaf:
            continue
        gain = gain_of(criterion, costs, before, total, total_weight, left, left_weight, right)
        if gain > best + EQUAL_GAIN:
            best, n_first = gain, i + 1
    return best, n_first


@helper(cache=True)
def _best_subset(categories, before, total, rules, in_first):
    """Best split of the categories into two sets: returns the gain and marks the first set.

    Two classes, and numbers, need only the sets that the share of a class, or the mean, orders. More classes are
    searched exhaustively up to MAX_EXHAUSTIVE categories, and else along the order by the share of each class.
    """
    counts, weights, _ = categories
    present, n_statistics = np.flatnonzero(weights > 0), rules[3]
    best = -np.inf
    if len(present) < 2:
        return best
    if rules[0] != SQUARED_ERROR and n_statistics > 2 and len(present) <= MAX_EXHAUSTIVE:
        for chosen in range(1, 1 << (len(present) - 1)):
            inside = (chosen >> np.arange(len(present))) & 1 == 1
            # the sets as a sequence of two: what is chosen, and the rest
            gain = _gain_of_set(present[inside], categories, before, total, rules)
            if gain > best + EQUAL_GAIN:
                best = gain
                in_first[:] = False
                in_first[present[inside]] = True
        return best
    first_class = 1 if rules[0] == SQUARED_ERROR or n_statistics == 2 else 0
    last_class = 2 if first_class == 1 else n_statistics
    for c in range(first_class, min(last_class, n_statistics)):
        ordered = present[np.argsort(counts[present, c] / weights[present], kind="mergesort")]
        gain, n_first = _best_prefix(ordered, categories, before, total, rules)
        if gain > best + EQUAL_GAIN:
            best = gain
            in_first[:] = False
            in_first[ordered[:n_first]] = True
    return best


@helper(cache=True)
def _gain_of_set(inside, categories, before, total, rules):
    """Gain of splitting some categories from the others; negative infinity for a branch below the minimum size."""
    counts, weights, sizes = categories
    criterion, costs, min_leaf, n_statistics, _ = rules
    left, left_weight, left_size = np.zeros(n_statistics), 0.0, 0.0
    for k in inside:
        left += counts[k]
        left_weight += weights[k]
        left_size += sizes[k]
    if left_size < min_leaf or sizes.sum() - left_size < min_leaf:
        return -np.inf
    return gain_of(criterion, costs, before, total, weights.sum(), left, left_weight, np.empty(n_statistics))


@njit(cache=True)
def _find_subsets(codes, n_codes, columns, rules, nodes, out):
    order, entries, starts, ends = nodes
    for m in range(len(columns)):
        column = columns[m]
        categories = _count_categories(codes[column], n_codes[column], order, starts[m], ends[m], entries, rules)
        counts, weights, sizes, _ = categories
        total = np.zeros(rules[3])
        for k in range(len(weights)):
            total += counts[k]
        in_first = np.zeros(len(weights), np.bool_)
        _best_subset((counts, weights, sizes), impurity_of(rules[0], total, rules[1]), total, rules, in_first)
        for k in range(len(weights)):
            if weights[k] > 0:
                out[m, k] = 0 if in_first[k] else 1


def entries_of(
    criterion: int,
    target: np.ndarray,
    nodes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    sizes: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Target, weight and size of every entry, interleaved because a sorted node reads them at random positions.

    Numbers are standardised within each node. The unit of its gains, their variance, comes with them, float64 (M,).
    """
    order, weight, starts, ends = nodes
    own = [target[order], weight] if sizes is None else [target[order], weight, sizes]
    entries, units = np.stack(own, axis=1), np.ones(len(starts))
    if criterion == SQUARED_ERROR:
        _standardise_nodes(entries, starts, ends, units)
    return entries, units


@njit(cache=True)
def _standardise_nodes(entries, starts, ends, units):
    for k in range(len(starts)):
        units[k] = standardise(entries[starts[k] : ends[k]])


def find_subsets(
    codes: np.ndarray,
    n_codes: np.ndarray,
    target: np.ndarray,
    rules: ScanRules,
    nodes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    columns: np.ndarray,
    sizes: np.ndarray | None = None,
) -> np.ndarray:
    """Find the sets of categories by which nodes are split.

    Parameters
    ----------
    codes, n_codes, target, rules, nodes, sizes : as in `scan_columns`
    columns : int (M,), the column of each node's best split

    Returns
    -------
    int8 (M, categories), branch of each category, or ABSENT
    """
    order, _, starts, ends = nodes
    out = np.full((len(columns), int(n_codes.max())), ABSENT, np.int8)
    entries, _ = entries_of(rules[0], target, nodes, sizes)
    _find_subsets(codes, n_codes, columns, rules, (order, entries, starts, ends), out)
    return out
