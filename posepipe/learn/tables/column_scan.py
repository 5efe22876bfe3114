"""Kernel: the best split of many nodes by exact scan of the columns of a table.

Each (node, candidate) pair is a task of its own: the node's rows are sorted by the column, and every
boundary between two values is tried. Cells that are missing take no part in the choice and shrink the
gain; linear combinations of columns are tried like columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from posepipe.learn.impurity import ENTROPY, NO_COSTS, SQUARED_ERROR, impurity_of

NUMERIC, EACH, EQUALS = 0, 1, 2
"""How a column is asked: at most a threshold; which of its categories; one category or any other."""
EQUAL_GAIN = 1e-10
"""Gains this close are equal: what rounding tells apart must not decide, so that ties go to the first."""
_LOW = np.uint64(0xFFFFFFFF)


@njit(cache=True, inline="always")
def _add(criterion, statistics, target, weight):
    if criterion == SQUARED_ERROR:
        statistics[0] += weight
        statistics[1] += weight * target
        statistics[2] += weight * target * target
    else:
        statistics[int(target)] += weight


@njit(cache=True)
def _saved(criterion, costs, before, total, total_weight, left, left_weight, right):
    """Impurity that parting ``total`` into ``left`` and the rest saves. ``right`` is scratch room."""
    right_weight = total_weight - left_weight
    for k in range(len(total)):
        right[k] = total[k] - left[k]
    after = left_weight * impurity_of(criterion, left, costs) + right_weight * impurity_of(criterion, right, costs)
    return before - after / total_weight


@njit(cache=True)
def _intrinsic(weights, missing):
    """Entropy of the branches' weights, those of unknown branch being one more; bits."""
    branches = np.empty(len(weights) + 1)
    branches[:-1] = weights
    branches[-1] = missing
    return impurity_of(ENTROPY, branches, NO_COSTS)


@njit(cache=True)
def _try_thresholds(values, groups, rows, table, missing, criterion, costs, min_leaf, n_statistics):
    """Best threshold: (gain, intrinsic value, threshold).

    ``rows`` are entries of the node's order in rising order of their value, ``groups`` (same length)
    equal where values are equal; ``values`` gives the value of an entry of ``rows``.
    """
    target, order, weight = table
    total, left, right = np.zeros(n_statistics), np.zeros(n_statistics), np.empty(n_statistics)
    total_weight = 0.0
    for j in rows:
        _add(criterion, total, target[order[j]], weight[j])
        total_weight += weight[j]
    before = impurity_of(criterion, total, costs)
    best, cut, left_of_cut, left_weight = -np.inf, -1, 0.0, 0.0
    for i in range(len(rows) - 1):
        j = rows[i]
        _add(criterion, left, target[order[j]], weight[j])
        left_weight += weight[j]
        if groups[i] == groups[i + 1] or left_weight < min_leaf or total_weight - left_weight < min_leaf:
            continue
        saved = _saved(criterion, costs, before, total, total_weight, left, left_weight, right)
        if saved > best + EQUAL_GAIN:
            best, cut, left_of_cut = saved, i, left_weight
    if cut < 0:
        return -np.inf, 0.0, 0.0
    low, high = values[cut], values[cut + 1]
    middle = low + (high - low) / 2
    if not low <= middle < high:  # neighbouring floating point numbers, or an overflow
        middle = low
    known = total_weight / (total_weight + missing)
    return best * known, _intrinsic(np.array([left_of_cut, total_weight - left_of_cut]), missing), middle


@njit(cache=True)
def _try_categories(column, start, end, table, criterion, costs, min_leaf, n_statistics):
    """Best question about categories: (gain, intrinsic value, category)."""
    codes, kind, n_codes = column
    target, order, weight = table
    counts, weights = np.zeros((n_codes, n_statistics)), np.zeros(n_codes)
    total, missing = np.zeros(n_statistics), 0.0
    for j in range(start, end):
        code = codes[order[j]]
        if code < 0:
            missing += weight[j]
        else:
            _add(criterion, counts[code], target[order[j]], weight[j])
            weights[code] += weight[j]
    for k in range(n_codes):
        total += counts[k]
    total_weight = weights.sum()
    if total_weight <= 0:
        return -np.inf, 0.0, 0.0
    before = impurity_of(criterion, total, costs)
    known = total_weight / (total_weight + missing)
    if kind == EACH:
        after, large = 0.0, 0
        for k in range(n_codes):
            after += weights[k] * impurity_of(criterion, counts[k], costs)
            large += weights[k] > 0 and weights[k] >= min_leaf
        if large < 2:
            return -np.inf, 0.0, 0.0
        return (before - after / total_weight) * known, _intrinsic(weights, missing), 0.0
    best, category, right = -np.inf, -1, np.empty(n_statistics)
    for k in range(n_codes):
        rest = total_weight - weights[k]
        if weights[k] <= 0 or rest <= 0 or weights[k] < min_leaf or rest < min_leaf:
            continue
        saved = _saved(criterion, costs, before, total, total_weight, counts[k], weights[k], right)
        if saved > best + EQUAL_GAIN:
            best, category = saved, k
    if category < 0:
        return -np.inf, 0.0, 0.0
    branches = np.array([weights[category], total_weight - weights[category]])
    return best * known, _intrinsic(branches, missing), float(category)


@njit(cache=True)
def _sorted_by_column(column, ranks, order, start, end):
    """Entries of the node in rising order of a column: (values, groups, rows)."""
    keys, count = np.empty(end - start, np.uint64), 0
    for j in range(start, end):
        rank = ranks[order[j]]
        if rank >= 0:
            keys[count] = (np.uint64(rank) << np.uint64(32)) | np.uint64(j)
            count += 1
    keys = keys[:count]
    keys.sort()
    rows, groups, values = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    for i in range(count):
        rows[i] = np.int64(keys[i] & _LOW)
        groups[i] = np.int64(keys[i] >> np.uint64(32))
        values[i] = column[order[rows[i]]]
    return values, groups, rows


@njit(cache=True)
def _sorted_along(direction, columns, order, start, end):
    """The same along a linear combination of columns."""
    rows, values, count = np.empty(end - start, np.int64), np.empty(end - start), 0
    for j in range(start, end):
        value = project(direction, columns, order[j])
        if not np.isnan(value):
            rows[count], values[count] = j, value
            count += 1
    by_value = np.argsort(values[:count], kind="mergesort")
    rows, values = rows[:count][by_value], values[:count][by_value]
    groups = np.zeros(count, np.int64)
    for i in range(1, count):
        groups[i] = groups[i - 1] + (values[i] > values[i - 1])
    return values, groups, rows


@njit(cache=True)
def project(direction, columns, row):
    """Linear combination of a row's cells; columns of weight 0 may be missing. ``columns`` float64 (F, N)."""
    value = 0.0
    for c in range(len(direction)):
        if direction[c] != 0:
            value += direction[c] * columns[c, row]
    return value


@njit(cache=True, parallel=True)
def _scan(columns, codes, kinds, n_codes, target, rules, nodes, candidates, directions, gain, intrinsic, threshold):
    criterion, costs, min_leaf, n_statistics = rules
    order, weight, starts, ends = nodes
    table = target, order, weight
    n_nodes, n_candidates = candidates.shape
    for task in prange(n_nodes * n_candidates):  # each task writes its own cell of the outputs
        node, c = task // n_candidates, task % n_candidates
        start, end, column = starts[node], ends[node], candidates[node, c]
        if column < len(kinds) and kinds[column] != NUMERIC:
            own = codes[column], kinds[column], n_codes[column]
            found = _try_categories(own, start, end, table, criterion, costs, min_leaf, n_statistics)
        else:
            if column < len(kinds):
                values, groups, rows = _sorted_by_column(columns[column], codes[column], order, start, end)
            else:
                values, groups, rows = _sorted_along(directions[column - len(kinds)], columns, order, start, end)
            missing = 0.0
            if len(rows) < end - start:
                missing = weight[start:end].sum() - weight[rows].sum()
            found = _try_thresholds(values, groups, rows, table, missing, criterion, costs, min_leaf, n_statistics)
        gain[node, c], intrinsic[node, c], threshold[node, c] = found


def scan_columns(
    columns: np.ndarray,
    codes: np.ndarray,
    kinds: np.ndarray,
    n_codes: np.ndarray,
    target: np.ndarray,
    rules: tuple[int, np.ndarray, float, int],
    nodes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    candidates: np.ndarray,
    directions: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Try every candidate of every node.

    Parameters
    ----------
    columns : float64 (F, N), cells; NaN = missing. Of categories, their codes
    codes : int32 (F, N), category, or rank of the number among its column's; -1 = missing
    kinds : uint8 (F,), NUMERIC, EACH or EQUALS
    n_codes : int64 (F,)
    target : float64 (N,), class or number
    rules : (criterion, costs, least weight of a branch, length of the statistics)
    nodes : (order int32, weight float64, starts int64, ends int64), see `posepipe.learn.growing.OpenNodes`
    candidates : int32 (M, T), a column, or F + a row of ``directions``
    directions : float64 (D, F), linear combinations of numeric columns

    Returns
    -------
    gain : float64 (M, T), impurity saved, times the share of weight whose cell is known; -inf for no split.
        Of thresholds and of categories that are as good (`EQUAL_GAIN`), the first
    intrinsic : float64 (M, T), bits, missing cells being a branch of their own
    threshold : float64 (M, T), midpoint of two neighbouring values, or the category

    References
    ----------
    Quinlan 1993, chapter 2 and section 3.2; Breiman et al. 1984. Naive twin: tests/reference/column_scan.py
    """
    gain, intrinsic, threshold = (np.empty(candidates.shape) for _ in range(3))
    _scan(columns, codes, kinds, n_codes, target, rules, nodes, candidates, directions, gain, intrinsic, threshold)
    return gain, intrinsic, threshold
