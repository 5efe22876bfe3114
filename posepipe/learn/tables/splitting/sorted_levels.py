"""Kernels: one level of the growth of a tree from sorted columns, see `posepipe.learn.tables.splitting.sorted_growth`.

The rows of a node are entries at adjacent places, in ascending order, so that a node fits into a processor's cache. A
column holds a key for each entry: the rank of the row's number in the column and, below it, the entry's place. Entries
move, and keys name their new places, when a node is split.

Arguments that kernels share, for F columns, N training rows and M open nodes:

- columns : float64 (F, N), numbers
- keys : uint64 (F, n), of all entries, sorted within each node
- rows : int32 (n,), training row of each entry
- entries : float64 (n, 3), target, weight, size; at an open node a number is standardised, see `standardise`
- starts, ends : int64 (M,), places of the entries of each node
- tried : bool (M, F), the columns that a node tries
- middles : int64 (M,), first place of each second branch, or UNSPLIT
- units : float64 (M,), of the gains of each node
- places : int32 (n,), new places of the entries
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import helper, njit
from posepipe.learn.impurity import GINI, SQUARED_ERROR, impurity_of, weight_of
from posepipe.learn.tables.splitting.split_gain import EQUAL_GAIN, add, gain_of, middle, standardise
from posepipe.learn.tree import LEAF

EPSILON = np.finfo(np.float64).eps
SMALLEST = 1e-60
"""Minimum weight of a node whose third power keeps the accuracy of a number."""
UNSPLIT = np.int64(-1)
"""Place of the second branch of a node that is not split."""
RANK, PLACE = np.uint64(32), np.uint64(0xFFFFFFFF)
"""Bits of a key below the rank, and the mask of the entry's place in them."""


@helper(cache=True)
def _sum_statistics(criterion, rows, target, weight, out):
    """Add up the statistics of some rows, in their order, as `ColumnSplits.statistics` does."""
    for row in rows:
        if criterion == SQUARED_ERROR:
            out[0] += weight[row]
            out[1] += weight[row] * target[row]
            out[2] += weight[row] * (target[row] * target[row])
        else:
            out[int(target[row])] += weight[row]


@njit(cache=True, inline="always")
def _falls_short(before, total, total_weight, left, left_weight, least):
    """Whether the gain in Gini impurity is less than ``least``, without a division; wrong for a rounding error.

    The gain is ``before`` - 1 + (sum l^2 / L + sum r^2 / R) / (L + R), where l and r are the class weights of the
    branches, and L and R their sums.
    """
    right_weight, of_left, of_right = total_weight - left_weight, 0.0, 0.0
    for k in range(len(total)):
        of_left += left[k] * left[k]
        of_right += (total[k] - left[k]) * (total[k] - left[k])
    needed = (least - before + 1) * total_weight * left_weight * right_weight
    return right_weight > 0 and of_left * right_weight + of_right * left_weight < needed


@njit(cache=True)
def _best_cut(keys, entries, criterion, costs, min_leaf, n_statistics):
    """Best boundary between two sorted keys: (gain, position of the key below it; -1 = none).

    The sums are those of `column_scan`, in the same order.
    """
    total, left, right = np.zeros(n_statistics), np.zeros(n_statistics), np.empty(n_statistics)
    total_weight, total_size = 0.0, 0.0
    for key in keys:
        entry = entries[key & PLACE]
        add(criterion, total, entry[0], entry[1])
        total_weight += entry[1]
        total_size += entry[2]
    before = impurity_of(criterion, total, costs)
    is_gini = criterion == GINI and len(costs) == 0 and SMALLEST < total_weight < 1 / SMALLEST
    best, cut, left_weight, left_size = -np.inf, -1, 0.0, 0.0
    for i in range(len(keys) - 1):
        entry = entries[keys[i] & PLACE]
        add(criterion, left, entry[0], entry[1])
        left_weight += entry[1]
        left_size += entry[2]
        same_value = keys[i] >> RANK == keys[i + 1] >> RANK
        if same_value or left_size < min_leaf or total_size - left_size < min_leaf:
            continue
        # without the tolerance of equal gains, as a margin for rounding errors
        if is_gini and _falls_short(before, total, total_weight, left, left_weight, best):
            continue
        gain = gain_of(criterion, costs, before, total, total_weight, left, left_weight, right)
        if gain > best + EQUAL_GAIN:
            best, cut = gain, i
    return best, cut


@njit(cache=True, nogil=True)
def scan_sorted(first, last, columns, keys, rows, entries, starts, ends, tried, rules, gain, threshold):
    """Best split on some columns of every node that tries them."""
    criterion, costs, min_leaf, n_statistics = rules
    for c in range(first, last):  # each task writes its own column of gain and threshold
        for k in range(len(starts)):
            if tried[k, c]:
                own = keys[c, starts[k] : ends[k]]
                found, cut = _best_cut(own, entries, criterion, costs, min_leaf, n_statistics)
                gain[k, c] = 0.0 if abs(found) < EQUAL_GAIN else found
                if cut >= 0:
                    below, above = rows[own[cut] & PLACE], rows[own[cut + 1] & PLACE]
                    threshold[k, c] = middle(columns[c, below], columns[c, above])


@njit(cache=True, nogil=True)
def divide_columns(first, last, keys, starts, middles, ends, places):
    """Move the keys of each split node that take the first branch before the others, in stable order."""
    buffer = np.empty_like(keys[0])
    for c in range(first, last):  # each task has its own column of keys
        own = keys[c]
        for k in range(len(starts)):
            if middles[k] == UNSPLIT:
                continue
            n_first, n_second = starts[k], 0
            for j in range(starts[k], ends[k]):
                place = places[own[j] & PLACE]
                key = (own[j] >> RANK) << RANK | np.uint64(place)
                own[n_first], buffer[n_second] = key, key  # no jump, which processors would often predict wrongly
                n_first += place < middles[k]
                n_second += place >= middles[k]
            own[n_first : ends[k]] = buffer[:n_second]


@njit(cache=True, nogil=True)
def divide_entries(starts, middles, ends, rows, entries, places):
    """Move the entries of each split node, and their rows, to their new places."""
    old_rows, old_entries = np.empty_like(rows), np.empty_like(entries)
    for k in range(len(starts)):
        if middles[k] == UNSPLIT:
            continue
        for j in range(starts[k], ends[k]):
            old_rows[j] = rows[j]
            for i in range(entries.shape[1]):
                old_entries[j, i] = entries[j, i]
        for j in range(starts[k], ends[k]):
            rows[places[j]] = old_rows[j]
            for i in range(entries.shape[1]):
                entries[places[j], i] = old_entries[j, i]


@helper(cache=True)
def _accepts(limits, gain, weight):
    """Whether a gain splits a node: see `TableGrowthRules.accept`."""
    _, _, min_decrease, total_weight = limits
    if min_decrease == 0:
        return gain >= 0
    return gain * (weight / total_weight) + EPSILON >= min_decrease


@njit(cache=True, nogil=True)
def open_level(level, rows, entries, starts, ends, data, rules, scale, limits):
    """Statistics of the open nodes, which of them are large and impure enough to be searched, and their units."""
    (target, weight), units = data, np.full(len(starts), scale[0])
    statistics, searched = np.zeros((len(starts), rules[3])), np.zeros(len(starts), np.bool_)
    for k in range(len(starts)):
        _sum_statistics(rules[0], rows[starts[k] : ends[k]], target, weight, statistics[k])
        large = level < limits[0] and ends[k] - starts[k] >= limits[1]
        if rules[0] == SQUARED_ERROR:
            for j in range(starts[k], ends[k]):
                entries[j, 0] = target[rows[j]]
            units[k] = standardise(entries[starts[k] : ends[k]])
            searched[k] = large and units[k] > scale[2]
        else:  # costs are those of the criterion in its own unit
            searched[k] = large and impurity_of(rules[0], statistics[k], rules[1]) * scale[1] > scale[2]
    return statistics, searched, units


@helper(cache=True)
def _best_column(gains, drawn):
    """First column of maximum gain, in the order in which a node's candidates were drawn; then in that of the table."""
    best = gains.max()
    for column in drawn:
        if gains[column] >= best - EQUAL_GAIN:
            return column
    column = 0
    while gains[column] < best - EQUAL_GAIN:
        column += 1
    return column


@njit(cache=True, nogil=True)
def close_level(columns, rows, starts, ends, statistics, units, drawn, scans, rules, limits, counts, places, out):
    """Write the nodes of a level to ``out``; returns the first place of each second branch, int64 (M,), or UNSPLIT.

    ``counts`` are the nodes, leaves and splits written so far, and are raised; ``places`` get the new places of the
    entries of split nodes.
    """
    gains, cuts = scans
    feature, threshold, first_child, leaf_statistics, tied = out
    n_nodes, n_leaves, n_splits = counts
    middles, following = np.full(len(starts), UNSPLIT), n_nodes + len(starts)
    for k in range(len(starts)):
        column = np.int64(_best_column(gains[k], drawn[k]))
        gain, node = gains[k, column], n_nodes + k
        if gain == -np.inf or not _accepts(limits, gain * units[k], weight_of(rules[0], statistics[k])):
            feature[node], threshold[node], first_child[node] = LEAF, 0.0, n_leaves
            leaf_statistics[n_leaves] = statistics[k]
            n_leaves += 1
            continue
        feature[node], threshold[node], first_child[node] = column, cuts[k, column], following
        following += 2
        tied[n_splits] = gains[k] >= gains[k].max() - EQUAL_GAIN
        n_splits += 1
        middles[k] = starts[k]
        for j in range(starts[k], ends[k]):
            places[j] = columns[column, rows[j]] <= cuts[k, column]
            middles[k] += places[j]
        n_first, n_second = starts[k], middles[k]
        for j in range(starts[k], ends[k]):
            goes_first = places[j]
            places[j] = n_first if goes_first else n_second
            n_first += goes_first
            n_second += 1 - goes_first
    counts[0], counts[1], counts[2] = n_nodes + len(starts), n_leaves, n_splits
    return middles


@njit(cache=True, nogil=True)
def children_of_level(starts, middles, ends):
    """Bounds of the children of the nodes that are split: starts and ends, int64 (M,) each."""
    bounds, i = np.empty((2, 2 * np.sum(middles != UNSPLIT)), np.int64), 0
    for k in range(len(starts)):
        if middles[k] != UNSPLIT:
            bounds[0, i], bounds[0, i + 1] = starts[k], middles[k]
            bounds[1, i], bounds[1, i + 1] = middles[k], ends[k]
            i += 2
    return bounds[0], bounds[1]


@njit(cache=True, nogil=True)
def sort_by_rank(codes, rows, keys):
    """Fill ``keys`` by a stable counting sort of some rows by the rank of each column."""
    for c in range(len(codes)):
        following = np.zeros(codes[c].max() + 2, np.int64)
        for row in rows:
            following[codes[c, row] + 1] += 1
        for rank in range(1, len(following)):
            following[rank] += following[rank - 1]
        for j in range(len(rows)):
            rank = codes[c, rows[j]]
            keys[c, following[rank]] = np.uint64(rank) << RANK | np.uint64(j)
            following[rank] += 1
