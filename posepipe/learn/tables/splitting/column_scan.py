"""Kernel: best split of many nodes, by an exact scan of the columns of a table.

Each pair of node and candidate is one task. It sorts the node's entries by the column and evaluates every
boundary between two values. Missing cells do not affect the choice, but they reduce the gain. Linear
combinations of columns are evaluated like columns.

The sort keys hold the rank of an entry's value and, below it, the entry's position in the node. Ranks are
integers with few differing bits, so large nodes use a radix sort.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import helper, njit
from posepipe.learn.impurity import impurity_of
from posepipe.learn.tables.splitting.category_scan import entries_of, try_categories
from posepipe.learn.tables.splitting.split_gain import (
    EQUAL_GAIN,
    NUMERIC,
    ScanRules,
    add,
    gain_of,
    intrinsic_of,
    middle,
)
from posepipe.learn.tables.splitting.threads import run_tasks

MAX_MIN_ROWS = 25.0
"""Maximum of the minimum branch size that release 8 of C4.5 derives from the rows of a node."""
INSERTION_SORT_SIZE = 32
"""Maximum number of keys for insertion sort."""
MAX_DIGIT_BITS = 11
"""Bits of a radix digit; the counts of its values fit into the first-level cache."""
_RANK = np.uint64(32)
_ENTRY = np.uint64(0xFFFFFFFF)


@helper(cache=True)
def _try_thresholds(keys, entries, missing, rules):
    """Best boundary between two sorted keys: (gain, intrinsic value, index of the key below it; -1 = none).

    ``missing`` is the weight and the size of the entries without a key.
    """
    criterion, costs, min_leaf, n_statistics, release_8 = rules
    total, left, right = np.zeros(n_statistics), np.zeros(n_statistics), np.empty(n_statistics)
    total_weight, total_size, size = 0.0, 0.0, entries.shape[1] - 1
    for key in keys:
        j = np.int64(key & _ENTRY)
        target, weight = entries[j, 0], entries[j, 1]
        add(criterion, total, target, weight)
        total_weight += weight
        total_size += entries[j, size]
    if release_8:
        min_leaf = max(min_leaf, min(0.1 * total_size / n_statistics, MAX_MIN_ROWS))
    before = impurity_of(criterion, total, costs)
    best, cut, left_of_cut, left_weight, left_size, n_tried = -np.inf, -1, 0.0, 0.0, 0.0, 0
    for i in range(len(keys) - 1):
        j = np.int64(keys[i] & _ENTRY)
        target, weight = entries[j, 0], entries[j, 1]
        add(criterion, left, target, weight)
        left_weight += weight
        left_size += entries[j, size]
        same_value = keys[i] >> _RANK == keys[i + 1] >> _RANK
        if same_value or left_size < min_leaf or total_size - left_size < min_leaf:
            continue
        gain = gain_of(criterion, costs, before, total, total_weight, left, left_weight, right)
        n_tried += 1
        if gain > best + EQUAL_GAIN:
            best, cut, left_of_cut = gain, i, left_weight
    if cut < 0:
        return -np.inf, 0.0, -1
    best *= total_weight / (total_weight + missing[0])
    if release_8:  # bits that name the threshold, shared by the rows
        best -= np.log2(n_tried) / (total_size + missing[1])
        if best <= 0:
            return -np.inf, 0.0, -1
    return best, intrinsic_of(np.array([left_of_cut, total_weight - left_of_cut]), missing[0]), cut


@helper(cache=True)
def _keys_of_column(ranks, order, start, end):
    """Keys of a node's entries by a column, in the order of the entries."""
    keys, count = np.empty(end - start, np.uint64), 0
    for j in range(start, end):
        rank = ranks[order[j]]
        if rank >= 0:
            keys[count] = (np.uint64(rank) << _RANK) | np.uint64(j)
            count += 1
    return keys[:count]


@helper(cache=True)
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


@helper(cache=True)
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


@helper(cache=True)
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


@helper(cache=True)
def _try_candidate(task, columns, codes, kinds, n_codes, rules, nodes, candidates, directions, out):
    order, entries, starts, ends = nodes
    gain, intrinsic, threshold = out[0], out[1], out[2]
    node, c = task // candidates.shape[1], task % candidates.shape[1]
    start, end, column, n_columns = starts[node], ends[node], candidates[node, c], len(kinds)
    if column < n_columns and kinds[column] != NUMERIC:
        categories = codes[column], kinds[column], n_codes[column]
        best = try_categories(categories, order, start, end, entries, rules)
        gain[node, c], intrinsic[node, c], threshold[node, c] = best
        return
    if column < n_columns:
        keys = _sort(_keys_of_column(codes[column], order, start, end))
    else:
        keys = _keys_along(directions[column - n_columns], columns, order, start, end)
    missing, missing_size, size = 0.0, 0.0, entries.shape[1] - 1
    if len(keys) < end - start:
        missing, missing_size = entries[start:end, 1].sum(), entries[start:end, size].sum()
        for key in keys:
            missing -= entries[np.int64(key & _ENTRY), 1]
            missing_size -= entries[np.int64(key & _ENTRY), size]
    gain[node, c], intrinsic[node, c], cut = _try_thresholds(keys, entries, (missing, missing_size), rules)
    if cut >= 0:
        below, above = order[np.int64(keys[cut] & _ENTRY)], order[np.int64(keys[cut + 1] & _ENTRY)]
        if column < n_columns:
            threshold[node, c] = middle(columns[column, below], columns[column, above])
        else:
            direction = directions[column - n_columns]
            threshold[node, c] = middle(project(direction, columns, below), project(direction, columns, above))


@njit(cache=True, nogil=True)
def _scan(first, last, columns, codes, kinds, n_codes, rules, nodes, candidates, directions, out):
    for task in range(first, last):  # each task writes its own cell of out
        _try_candidate(task, columns, codes, kinds, n_codes, rules, nodes, candidates, directions, out)


def scan_columns(
    columns: np.ndarray,
    codes: np.ndarray,
    kinds: np.ndarray,
    n_codes: np.ndarray,
    target: np.ndarray,
    rules: ScanRules,
    nodes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    candidates: np.ndarray,
    directions: np.ndarray,
    sizes: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the best split of every candidate column of every node.

    Parameters
    ----------
    columns : float64 (F, N), numbers, or codes of categories; NaN = missing
    codes : int32 (F, N), category, or rank of the number within its column; -1 = missing
    kinds : uint8 (F,), NUMERIC, MULTIWAY, ONE_VS_REST or SUBSET
    n_codes : int64 (F,), number of categories
    target : float64 (N,), class or number
    rules : ScanRules
    nodes : (order int32, weight float64, starts int64, ends int64), see `posepipe.learn.growing.OpenNodes`
    candidates : int32 (M, T), a column, or F + a row of ``directions``
    directions : float64 (D, F), linear combinations of numeric columns
    sizes : float64 (N,), what each entry of ``order`` adds to the size of a branch; None = its weight

    Returns
    -------
    gain : float64 (M, T), impurity decrease times the share of weight with a known cell; -inf for no split.
        Of thresholds or categories with equal gain (`EQUAL_GAIN`), the first is taken
    intrinsic : float64 (M, T), intrinsic value in bits, with missing cells as one more branch
    threshold : float64 (M, T), midpoint of two adjacent values, or the category; for a set see `find_subsets`

    References
    ----------
    Quinlan 1993, chapter 2 and section 3.2; release 8: Quinlan, Improved use of continuous attributes in C4.5, JAIR 4,
    1996. Breiman et al. 1984; sets of categories: section 4.2.2. Naive twin: tests/reference/tables/column_scan.py
    """
    order, _, starts, ends = nodes
    entries, units = entries_of(rules[0], target, nodes, sizes)
    gain, intrinsic, threshold = out = np.zeros((3, *candidates.shape))
    data = columns, codes, kinds, n_codes, rules, (order, entries, starts, ends), candidates, directions, out
    n_rows = int((ends - starts).sum()) * candidates.shape[1]
    run_tasks(_scan, candidates.size, n_rows, *data)
    np.multiply(gain, units[:, None], out=gain, where=gain > -np.inf)  # the unit of a pure node is 0
    return gain, intrinsic, threshold
