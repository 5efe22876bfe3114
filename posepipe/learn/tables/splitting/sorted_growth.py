"""Kernel: growth of a whole tree on numbers without missing cells, from columns that are sorted once.

The tree is the one that `posepipe.learn.growing.grow` grows with `ColumnSplits`, to the last bit: sums run over rows
in the same order, and ties are resolved alike. Sorted rows are divided at each split instead of being sorted again at
each node, and levels cost no Python code, so that chains of thousands of levels stay cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from posepipe.compilation import njit
from posepipe.learn.impurity import SQUARED_ERROR, impurity_of, weight_of
from posepipe.learn.tables.splitting.split_gain import EQUAL_GAIN, PURE, add, gain_of, middle
from posepipe.learn.tables.splitting.threads import run_tasks, use_threads
from posepipe.learn.tree import LEAF, Tree

EPSILON = np.finfo(np.float64).eps
FIRST = np.int64(0)
"""The first column; a literal 0 would be a type of its own, for which kernels are compiled once more."""


@njit(cache=True)
def _sum_statistics(criterion, rows, target, weight, out):
    """Add up the statistics of some rows, in their order, as `ColumnSplits.statistics` does."""
    for row in rows:
        if criterion == SQUARED_ERROR:
            out[0] += weight[row]
            out[1] += weight[row] * target[row]
            out[2] += weight[row] * (target[row] * target[row])
        else:
            out[int(target[row])] += weight[row]


@njit(cache=True)
def _best_cut(rows, column, entries, criterion, costs, min_leaf, n_statistics):
    """Best boundary between two sorted rows: (gain, position of the row below it; -1 = none).

    The sums are those of `column_scan`, in the same order.
    """
    total, left, right = np.zeros(n_statistics), np.zeros(n_statistics), np.empty(n_statistics)
    total_weight, total_size = 0.0, 0.0
    for row in rows:
        add(criterion, total, entries[row, 0], entries[row, 1])
        total_weight += entries[row, 1]
        total_size += entries[row, 2]
    before = impurity_of(criterion, total, costs)
    best, cut, left_weight, left_size = -np.inf, -1, 0.0, 0.0
    for i in range(len(rows) - 1):
        row = rows[i]
        add(criterion, left, entries[row, 0], entries[row, 1])
        left_weight += entries[row, 1]
        left_size += entries[row, 2]
        same_value = column[row] == column[rows[i + 1]]
        if same_value or left_size < min_leaf or total_size - left_size < min_leaf:
            continue
        gain = gain_of(criterion, costs, before, total, total_weight, left, left_weight, right)
        if gain > best + EQUAL_GAIN:
            best, cut = gain, i
    return best, cut


@njit(cache=True)
def _scan_column(c, column, order, entries, starts, ends, searched, rules, gain, threshold):
    """Best split of every searched node on one column."""
    criterion, costs, min_leaf, n_statistics = rules
    for k in range(len(starts)):
        gain[k, c] = -np.inf
        if searched[k]:
            rows = order[starts[k] : ends[k]]
            found, cut = _best_cut(rows, column, entries, criterion, costs, min_leaf, n_statistics)
            gain[k, c] = 0.0 if abs(found) < EQUAL_GAIN else found
            if cut >= 0:
                threshold[k, c] = middle(column[rows[cut]], column[rows[cut + 1]])


@njit(cache=True, nogil=True)
def _scan_columns(first, last, columns, orders, entries, starts, ends, searched, rules, gain, threshold):
    for c in range(first, last):  # each task writes its own column of gain and threshold
        _scan_column(c, columns[c], orders[c], entries, starts, ends, searched, rules, gain, threshold)


@njit(cache=True)
def _divide(order, starts, ends, split, to_first, buffer):
    """Move the rows of each split node that take the first branch before the others, in stable order."""
    for k in range(len(starts)):
        if not split[k]:
            continue
        first, n_second = starts[k], 0
        for j in range(starts[k], ends[k]):
            row, goes_first = order[j], to_first[order[j]]
            order[first], buffer[n_second] = row, row  # no jump, which processors would often predict wrongly
            first += goes_first
            n_second += not goes_first
        order[first : ends[k]] = buffer[:n_second]


@njit(cache=True, nogil=True)
def _divide_columns(first, last, orders, starts, ends, split, to_first):
    buffer = np.empty_like(orders[0])
    for c in range(first, last):  # each task has its own order
        _divide(orders[c], starts, ends, split, to_first, buffer)


@njit(cache=True)
def _accepts(limits, gain, weight):
    """Whether a gain splits a node: see `TableGrowthRules.accept`."""
    _, _, min_decrease, total_weight = limits
    if min_decrease == 0:
        return gain >= 0
    return gain * (weight / total_weight) + EPSILON >= min_decrease


@njit(cache=True)
def _open_level(level, natural, starts, ends, data, rules, scale, limits):
    """Statistics of the open nodes, and which of them are large and impure enough to be split."""
    target, weight, _ = data
    statistics, searched = np.zeros((len(starts), rules[3])), np.zeros(len(starts), np.bool_)
    for k in range(len(starts)):
        _sum_statistics(rules[0], natural[starts[k] : ends[k]], target, weight, statistics[k])
        large = level < limits[0] and ends[k] - starts[k] >= limits[1]
        # costs are those of the criterion in its own unit
        searched[k] = large and impurity_of(rules[0], statistics[k], rules[1]) * scale[1] > PURE * scale[0]
    return statistics, searched


@njit(cache=True)
def _close_level(columns, natural, starts, ends, statistics, scans, rules, scale, limits, counts, to_first, out):
    """Write the nodes of a level to ``out``; returns which are split, and the bounds of their children.

    ``counts`` are the nodes, leaves and splits written so far, and are raised; ``to_first`` is set for the rows of
    split nodes.
    """
    gains, cuts = scans
    feature, threshold, first_child, leaf_statistics, tied = out
    n_open, n_split = len(starts), 0
    n_nodes, n_leaves, n_splits = counts
    split, middles = np.zeros(n_open, np.bool_), np.empty(n_open, np.int64)
    for k in range(n_open):
        best = gains[k].max()
        column = 0
        while gains[k, column] < best - EQUAL_GAIN:
            column += 1
        node_weight = weight_of(rules[0], statistics[k])
        split[k] = best > -np.inf and _accepts(limits, gains[k, column] * scale[0], node_weight)
        if not split[k]:
            feature[n_nodes + k], threshold[n_nodes + k] = LEAF, 0.0
            first_child[n_nodes + k] = n_leaves
            leaf_statistics[n_leaves] = statistics[k]
            n_leaves += 1
            continue
        feature[n_nodes + k], threshold[n_nodes + k] = column, cuts[k, column]
        first_child[n_nodes + k] = n_nodes + n_open + 2 * n_split
        tied[n_splits + n_split] = gains[k] >= best - EQUAL_GAIN
        n_split += 1
        middles[k] = starts[k]
        for j in range(starts[k], ends[k]):
            row = natural[j]
            to_first[row] = columns[column, row] <= cuts[k, column]
            middles[k] += to_first[row]
    counts[0], counts[1], counts[2] = n_nodes + n_open, n_leaves, n_splits + n_split
    below_starts, below_ends = np.empty(2 * n_split, np.int64), np.empty(2 * n_split, np.int64)
    i = 0
    for k in range(n_open):
        if split[k]:
            below_starts[i], below_ends[i] = starts[k], middles[k]
            below_starts[i + 1], below_ends[i + 1] = middles[k], ends[k]
            i += 2
    return split, below_starts, below_ends


@njit(cache=True, nogil=True)
def _grow(level, starts, ends, columns, orders, data, rules, scale, limits, counts, to_first, out):
    """Grow level by level, from the open nodes of one level."""
    n_columns = len(columns)
    while len(starts):
        statistics, searched = _open_level(level, orders[n_columns], starts, ends, data, rules, scale, limits)
        scans = np.empty((len(starts), n_columns)), np.zeros((len(starts), n_columns))
        _scan_columns(FIRST, n_columns, columns, orders, data[2], starts, ends, searched, rules, scans[0], scans[1])
        split, below_starts, below_ends = _close_level(
            columns, orders[n_columns], starts, ends, statistics, scans, rules, scale, limits, counts, to_first, out
        )
        _divide_columns(FIRST, n_columns + 1, orders, starts, ends, split, to_first)
        starts, ends = below_starts, below_ends
        level += 1


def _grow_in_threads(
    columns: np.ndarray,
    orders: np.ndarray,
    data: tuple[np.ndarray, np.ndarray, np.ndarray],
    rules: tuple[int, np.ndarray, float, int],
    scale: tuple[float, float],
    limits: tuple[int, int, float, float],
    counts: np.ndarray,
    to_first: np.ndarray,
    out: tuple[np.ndarray, ...],
) -> tuple[int, np.ndarray, np.ndarray]:
    """Grow the large levels, each in several threads; returns the next level and the bounds of its open nodes."""
    n_columns, level = len(columns), 0
    starts, ends = np.zeros(1, np.int64), np.full(1, orders.shape[1], np.int64)
    while use_threads(n_rows := int((ends - starts).sum()) * n_columns):
        bounds = starts, ends
        statistics, searched = _open_level(level, orders[n_columns], *bounds, data, rules, scale, limits)
        scans = np.empty((len(starts), n_columns)), np.zeros((len(starts), n_columns))
        scan = columns, orders, data[2], *bounds, searched, rules, *scans
        run_tasks(partial(_run, _scan_columns, scan), n_columns, n_rows)
        split, starts, ends = _close_level(
            columns, orders[n_columns], *bounds, statistics, scans, rules, scale, limits, counts, to_first, out
        )
        run_tasks(partial(_run, _divide_columns, (orders, *bounds, split, to_first)), n_columns + 1, n_rows)
        level += 1
    return level, starts, ends


def _run(kernel: Callable[..., None], arguments: tuple[Any, ...], first: int, last: int) -> None:
    kernel(first, last, *arguments)


@njit(cache=True)
def _sort_by_rank(codes, rows, out):
    """Stable counting sort of some rows by the rank of each column; the last line of ``out`` is the rows' own order."""
    for c in range(len(codes)):
        following = np.zeros(codes[c].max() + 2, np.int64)
        for row in rows:
            following[codes[c, row] + 1] += 1
        for rank in range(1, len(following)):
            following[rank] += following[rank - 1]
        for row in rows:
            out[c, following[codes[c, row]]] = row
            following[codes[c, row]] += 1
    out[len(codes)] = rows


def grow_sorted(
    columns: np.ndarray,
    codes: np.ndarray,
    target: np.ndarray,
    scan_target: np.ndarray,
    weight: np.ndarray | None,
    sizes: np.ndarray | None,
    rules: tuple[int, np.ndarray, float, int],
    scale: tuple[float, float],
    limits: tuple[int, int, float, float],
) -> tuple[Tree, np.ndarray]:
    """Grow a tree of thresholds on single columns, scored by gain.

    Parameters
    ----------
    columns : float64 (F, N), numbers without NaN
    codes : int32 (F, N), rank of each number within its column
    target, scan_target : float64 (N,), class or number of the leaves, and in the unit of the scan
    weight : float64 (N,); rows of weight 0 are left out; None = 1 each
    sizes : float64 (N,), what each row adds to the size of a branch; None = its weight
    rules : as in `posepipe.learn.tables.splitting.column_scan.scan_columns`
    scale : unit of the impurity, and factor of impurities by the costs of ``rules``
    limits : maximum depth, minimum rows of a node that is split, minimum impurity decrease, weight of all rows

    Returns
    -------
    tree : Tree, whose features are columns
    tied : bool (splits, F), the columns that share the best gain of each split
    """
    n_rows, (n_statistics, n_columns) = len(target), (rules[3], len(columns))
    rows = np.arange(n_rows, dtype=np.int32) if weight is None else np.flatnonzero(weight).astype(np.int32)
    weight = np.ones(n_rows) if weight is None else weight
    orders = np.empty((n_columns + 1, len(rows)), np.int32)
    _sort_by_rank(codes, rows, orders)
    entries = np.stack([scan_target, weight, weight if sizes is None else sizes], axis=1)
    most = 2 * len(rows)
    feature, threshold, first_child = np.empty(most, np.int32), np.empty(most), np.empty(most, np.int32)
    leaf_statistics, tied = np.empty((len(rows), n_statistics)), np.empty((len(rows), n_columns), np.bool_)
    out = feature, threshold, first_child, leaf_statistics, tied
    counts, to_first = np.zeros(3, np.int64), np.zeros(n_rows, np.bool_)
    growth = columns, orders, (target, weight, entries), rules, scale, limits, counts, to_first, out
    _grow(*_grow_in_threads(*growth), *growth)
    n_nodes, n_leaves, n_splits = counts.tolist()
    tree = Tree(
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        first_child[:n_nodes].copy(),
        leaf_statistics[:n_leaves].copy(),
    )
    return tree, tied[:n_splits]
