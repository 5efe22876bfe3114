"""Kernel: best split of many nodes, by an exact scan of the columns of a table.

Each pair of node and candidate is one task. It sorts the node's entries by the column and evaluates every
boundary between two values. Missing cells do not affect the choice, but they reduce the gain. Linear
combinations of columns are evaluated like columns.

The sort keys hold the rank of an entry's value and, below it, the entry's position in the node. Ranks are
integers with few differing bits, so large nodes use a radix sort.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit, prange
from posepipe.learn.impurity import ENTROPY, NO_COSTS, SQUARED_ERROR, impurity_of
from posepipe.learn.tables.splitting.threads import use_threads

NUMERIC, MULTIWAY, ONE_VS_REST = 0, 1, 2
"""Kind of split of a column: a threshold; one branch for each category; one category against the rest."""
EQUAL_GAIN = 1e-10
"""Maximum difference of gains that count as equal, so that ties go to the first and not to rounding."""
INSERTION_SORT_SIZE = 32
"""Maximum number of keys for insertion sort."""
MAX_DIGIT_BITS = 11
"""Bits of a radix digit; the counts of its values fit into the first-level cache."""
_RANK = np.uint64(32)
_ENTRY = np.uint64(0xFFFFFFFF)


@njit(cache=True, inline="always")
def _add(criterion, statistics, target, weight):
    if criterion == SQUARED_ERROR:
        statistics[0] += weight
        statistics[1] += weight * target
        statistics[2] += weight * target * target
    else:
        statistics[int(target)] += weight


@njit(cache=True, inline="always")
def _gain_of(criterion, costs, before, total, total_weight, left, left_weight, right):
    """Gain of splitting ``total`` into ``left`` and the rest. ``right`` is a work array."""
    right_weight = total_weight - left_weight
    for k in range(len(total)):
        right[k] = total[k] - left[k]
    after = left_weight * impurity_of(criterion, left, costs) + right_weight * impurity_of(criterion, right, costs)
    return before - after / total_weight


@njit(cache=True)
def _intrinsic(weights, missing):
    """Entropy of the branch weights in bits; entries of unknown branch count as one more branch."""
    branches = np.empty(len(weights) + 1)
    branches[:-1] = weights
    branches[-1] = missing
    return impurity_of(ENTROPY, branches, NO_COSTS)


@njit(cache=True)
def _try_thresholds(keys, entries, missing, criterion, costs, min_leaf, n_statistics):
    """Best boundary between two sorted keys: (gain, intrinsic value, index of the key below it; -1 = none)."""
    total, left, right = np.zeros(n_statistics), np.zeros(n_statistics), np.empty(n_statistics)
    total_weight = 0.0
    for key in keys:
        j = np.int64(key & _ENTRY)
        target, weight = entries[j, 0], entries[j, 1]
        _add(criterion, total, target, weight)
        total_weight += weight
    before = impurity_of(criterion, total, costs)
    best, cut, left_of_cut, left_weight = -np.inf, -1, 0.0, 0.0
    for i in range(len(keys) - 1):
        j = np.int64(keys[i] & _ENTRY)
        target, weight = entries[j, 0], entries[j, 1]
        _add(criterion, left, target, weight)
        left_weight += weight
        same_value = keys[i] >> _RANK == keys[i + 1] >> _RANK
        if same_value or left_weight < min_leaf or total_weight - left_weight < min_leaf:
            continue
        gain = _gain_of(criterion, costs, before, total, total_weight, left, left_weight, right)
        if gain > best + EQUAL_GAIN:
            best, cut, left_of_cut = gain, i, left_weight
    if cut < 0:
        return -np.inf, 0.0, -1
    known = total_weight / (total_weight + missing)
    return best * known, _intrinsic(np.array([left_of_cut, total_weight - left_of_cut]), missing), cut


@njit(cache=True)
def _try_categories(column, order, start, end, entries, criterion, costs, min_leaf, n_statistics):
    """Best split of a categorical column: (gain, intrinsic value, category)."""
    codes, kind, n_codes = column
    counts, weights = np.zeros((n_codes, n_statistics)), np.zeros(n_codes)
    total, missing = np.zeros(n_statistics), 0.0
    for j in range(start, end):
        code = codes[order[j]]
        target, weight = entries[j, 0], entries[j, 1]
        if code < 0:
            missing += weight
        else:
            _add(criterion, counts[code], target, weight)
            weights[code] += weight
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
            n_large += weights[k] > 0 and weights[k] >= min_leaf
        if n_large < 2:
            return -np.inf, 0.0, 0.0
        return (before - after / total_weight) * known, _intrinsic(weights, missing), 0.0
    best, category, right = -np.inf, -1, np.empty(n_statistics)
    for k in range(n_codes):
        rest = total_weight - weights[k]
        if weights[k] <= 0 or rest <= 0 or weights[k] < min_leaf or rest < min_leaf:
            continue
        gain = _gain_of(criterion, costs, before, total, total_weight, counts[k], weights[k], right)
        if gain > best + EQUAL_GAIN:
            best, category = gain, k
    if category < 0:
        return -np.inf, 0.0, 0.0
    branches = np.array([weights[category], total_weight - weights[category]])
    return best * known, _intrinsic(branches, missing), float(category)


@njit(cache=True)
def _keys_of_column(ranks, order, start, end):
    """Keys of a node's entries by a column, in the order of the entries."""
    keys, count = np.empty(end - start, np.uint64), 0
    for j in range(start, end):
        rank = ranks[order[j]]
        if rank >= 0:
            keys[count] = (np.uint64(rank) << _RANK) | np.uint64(j)
            count += 1
    return keys[:count]


@njit(cache=True)
def _keys_along(direction, columns, order, start, end):
    """Keys of a node's entries by a linear combination of columns, sorted."""
    entry, values, count = np.empty(end - start, np.int64), np.empty(end - start), 0
    for j in range(start, end):
        value = project(direction, columns, order[j])
        if not np.isnan(value):
            entry[count], values[count] = j, value
            count += 1
    by_value = np.argsort(values[:count], kind="mergesort")
    keys, rank = np.empty(count, np.uint64), np.uint64(0)
    for i in range(count):
        if i > 0 and values[by_value[i]] > values[by_value[i - 1]]:
            rank += np.uint64(1)
        keys[i] = (rank << _RANK) | np.uint64(entry[by_value[i]])
    return keys


@njit(cache=True)
def _sort(keys):
    """Sort keys whose entries are already ascending; returns them in the same or in a new array."""
    if len(keys) <= INSERTION_SORT_SIZE:
        for i in range(1, len(keys)):
            key, k = keys[i], i
            while k > 0 and keys[k - 1] > key:
                keys[k] = keys[k - 1]
                k -= 1
            keys[k] = key
        return keys
    low, high = keys[0] >> _RANK, keys[0] >> _RANK
    for key in keys:
        low, high = min(low, key >> _RANK), max(high, key >> _RANK)
    bits, size_bits = 0, 0
    while (high - low) >> np.uint64(bits):
        bits += 1
    while len(keys) >> (size_bits + 1):
        size_bits += 1
    digits = -(-bits // min(size_bits, MAX_DIGIT_BITS))
    for digit in range(digits):
        width = -(-bits // digits)
        keys = _sort_by_digit(keys, low << _RANK, np.uint64(32 + digit * width), width)
    return keys


@njit(cache=True)
def _sort_by_digit(keys, low, shift, width):
    """Counting sort, stable, by ``width`` bits of the keys' distance from ``low``."""
    mask = np.uint64((1 << width) - 1)
    place, out = np.zeros((1 << width) + 1, np.int64), np.empty_like(keys)
    for key in keys:
        place[np.int64(((key - low) >> shift) & mask) + 1] += 1
    for k in range(1, len(place)):
        place[k] += place[k - 1]
    for key in keys:
        digit = np.int64(((key - low) >> shift) & mask)
        out[place[digit]] = key
        place[digit] += 1
    return out


@njit(cache=True)
def project(direction, columns, row):
    """Linear combination of a row's cells; cells with coefficient 0 may be missing. ``columns`` float64 (F, N)."""
    value = 0.0
    for c in range(len(direction)):
        if direction[c] != 0:
            value += direction[c] * columns[c, row]
    return value


@njit(cache=True)
def _middle(low, high):
    middle = low + (high - low) / 2
    return middle if low <= middle < high else low  # adjacent floating-point numbers, or an overflow


@njit(cache=True)
def _try_candidate(task, columns, codes, kinds, n_codes, rules, nodes, candidates, directions, out):
    criterion, costs, min_leaf, n_statistics = rules
    order, entries, starts, ends = nodes
    gain, intrinsic, threshold = out[0], out[1], out[2]
    node, c = task // candidates.shape[1], task % candidates.shape[1]
    start, end, column, n_columns = starts[node], ends[node], candidates[node, c], len(kinds)
    if column < n_columns and kinds[column] != NUMERIC:
        categories = codes[column], kinds[column], n_codes[column]
        best = _try_categories(categories, order, start, end, entries, criterion, costs, min_leaf, n_statistics)
        gain[node, c], intrinsic[node, c], threshold[node, c] = best
        return
    if column < n_columns:
        keys = _sort(_keys_of_column(codes[column], order, start, end))
    else:
        keys = _keys_along(directions[column - n_columns], columns, order, start, end)
    missing = 0.0
    if len(keys) < end - start:
        missing = entries[start:end, 1].sum()
        for key in keys:
            missing -= entries[np.int64(key & _ENTRY), 1]
    gain[node, c], intrinsic[node, c], cut = _try_thresholds(
        keys, entries, missing, criterion, costs, min_leaf, n_statistics
    )
    if cut >= 0:
        below, above = order[np.int64(keys[cut] & _ENTRY)], order[np.int64(keys[cut + 1] & _ENTRY)]
        if column < n_columns:
            threshold[node, c] = _middle(columns[column, below], columns[column, above])
        else:
            direction = directions[column - n_columns]
            threshold[node, c] = _middle(project(direction, columns, below), project(direction, columns, above))


@njit(cache=True, parallel=True)
def _scan(columns, codes, kinds, n_codes, rules, nodes, candidates, directions, out):
    for task in prange(candidates.size):  # each task writes its own cell of out
        _try_candidate(task, columns, codes, kinds, n_codes, rules, nodes, candidates, directions, out)


@njit(cache=True, nogil=True)
def _scan_serial(columns, codes, kinds, n_codes, rules, nodes, candidates, directions, out):
    for task in range(candidates.size):
        _try_candidate(task, columns, codes, kinds, n_codes, rules, nodes, candidates, directions, out)


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
    """Find the best split of every candidate column of every node.

    Parameters
    ----------
    columns : float64 (F, N), numbers, or codes of categories; NaN = missing
    codes : int32 (F, N), category, or rank of the number within its column; -1 = missing
    kinds : uint8 (F,), NUMERIC, MULTIWAY or ONE_VS_REST
    n_codes : int64 (F,), number of categories
    target : float64 (N,), class or number
    rules : (criterion, costs, minimum weight of a branch, length of the statistics)
    nodes : (order int32, weight float64, starts int64, ends int64), see `posepipe.learn.growing.OpenNodes`
    candidates : int32 (M, T), a column, or F + a row of ``directions``
    directions : float64 (D, F), linear combinations of numeric columns

    Returns
    -------
    gain : float64 (M, T), impurity decrease times the share of weight with a known cell; -inf for no split.
        Of thresholds or categories with equal gain (`EQUAL_GAIN`), the first is taken
    intrinsic : float64 (M, T), intrinsic value in bits, with missing cells as one more branch
    threshold : float64 (M, T), midpoint of two adjacent values, or the category

    References
    ----------
    Quinlan 1993, chapter 2 and section 3.2; Breiman et al. 1984. Naive twin: tests/reference/tables/column_scan.py
    """
    order, weight, starts, ends = nodes
    entries = np.stack([target[order], weight], axis=1)  # interleaved: a sorted node reads both at random positions
    gain, intrinsic, threshold = out = np.zeros((3, *candidates.shape))
    scan = _scan if use_threads((ends - starts).sum() * candidates.shape[1]) else _scan_serial
    scan(columns, codes, kinds, n_codes, rules, (order, entries, starts, ends), candidates, directions, out)
    return gain, intrinsic, threshold
