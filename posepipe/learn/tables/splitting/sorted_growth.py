"""Growth of a whole tree on numbers without missing cells, from columns that are sorted once.

The tree is the one that `posepipe.learn.growing.grow` grows with `ColumnSplits`, to the last bit: sums run over rows
in the same order, candidate columns are the same, and ties are resolved alike. Sorted rows are divided at each split
instead of being sorted again at each node. Where every node tries all columns, small levels cost no Python code, so
that chains of thousands of levels stay cheap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posepipe.compilation import njit
from posepipe.learn.tables.splitting.sorted_levels import (
    children_of_level,
    close_level,
    divide_columns,
    divide_entries,
    open_level,
    scan_sorted,
    sort_by_rank,
)
from posepipe.learn.tables.splitting.threads import run_tasks, use_threads
from posepipe.learn.tree import Tree

FIRST = np.int64(0)
"""The first column; a literal 0 would be a type of its own, for which kernels are compiled once more."""
Draw = Callable[[int, int], np.ndarray]
"""Draws columns for some nodes of a level, the level and the nodes M given: int32 (M, T)."""


@njit(cache=True, nogil=True)
def _grow(level, starts, ends, columns, sorting, data, rules, scale, limits, counts, places, out):
    """Grow level by level, from the open nodes of one level; every node tries all columns."""
    n_columns, (keys, rows, entries) = len(columns), sorting
    while len(starts):
        n_open = len(starts)
        statistics, searched, units = open_level(level, rows, entries, starts, ends, data, rules, scale, limits)
        tried, drawn = np.empty((n_open, n_columns), np.bool_), np.empty((n_open, 0), np.int32)
        for k in range(n_open):
            tried[k] = searched[k]
        scans = np.full((n_open, n_columns), -np.inf), np.zeros((n_open, n_columns))
        scan_sorted(FIRST, n_columns, columns, keys, rows, entries, starts, ends, tried, rules, scans[0], scans[1])
        middles = close_level(
            columns, rows, starts, ends, statistics, units, drawn, scans, rules, limits, counts, places, out
        )
        divide_columns(FIRST, n_columns, keys, starts, middles, ends, places)
        divide_entries(starts, middles, ends, rows, entries, places)
        starts, ends = children_of_level(starts, middles, ends)
        level += 1


def _grow_in_python(
    columns: np.ndarray,
    sorting: tuple[np.ndarray, np.ndarray, np.ndarray],
    data: tuple[np.ndarray, np.ndarray],
    rules: tuple[int, np.ndarray, float, int],
    scale: tuple[float, float, float],
    limits: tuple[int, int, float, float],
    counts: np.ndarray,
    places: np.ndarray,
    out: tuple[np.ndarray, ...],
    draw: Draw | None,
) -> tuple[int, np.ndarray, np.ndarray]:
    """Grow the levels whose columns are drawn or searched in several threads; returns what `_grow` continues with."""
    n_columns, level, (keys, rows, entries) = len(columns), 0, sorting
    starts, ends = np.zeros(1, np.int64), np.full(1, len(rows), np.int64)
    while len(starts) and (draw is not None or use_threads(int((ends - starts).sum()) * n_columns)):
        bounds, n_cells = (starts, ends), int((ends - starts).sum()) * n_columns
        statistics, searched, units = open_level(level, rows, entries, *bounds, data, rules, scale, limits)
        scans = np.full((len(starts), n_columns), -np.inf), np.zeros((len(starts), n_columns))
        drawn, tried = _candidates(draw, level, searched, n_columns)
        scan = scan_sorted, n_columns, n_cells, columns, *sorting, *bounds
        run_tasks(*scan, tried, rules, *scans)
        if draw is not None and (failed := searched & np.isneginf(scans[0].max(axis=1))).any():
            run_tasks(*scan, failed[:, None] & ~tried, rules, *scans)
        middles = close_level(
            columns, rows, *bounds, statistics, units, drawn, scans, rules, limits, counts, places, out
        )
        run_tasks(divide_columns, n_columns, n_cells, keys, starts, middles, ends, places)
        divide_entries(starts, middles, ends, rows, entries, places)
        starts, ends = children_of_level(starts, middles, ends)
        level += 1
    return level, starts, ends


def _candidates(draw: Draw | None, level: int, searched: np.ndarray, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Candidates of each node in their order, int32 (M, T), and as a mask, bool (M, F); T = 0 where all are tried."""
    if draw is None:
        return np.empty((len(searched), 0), np.int32), np.repeat(searched[:, None], n_columns, axis=1)
    chosen = draw(level, int(searched.sum()))
    drawn, tried = np.zeros((len(searched), chosen.shape[1]), np.int32), np.zeros((len(searched), n_columns), bool)
    drawn[searched] = chosen
    tried[np.flatnonzero(searched)[:, None], chosen] = True
    return drawn, tried


def grow_sorted(
    columns: np.ndarray,
    codes: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    sizes: np.ndarray | None,
    rules: tuple[int, np.ndarray, float, int],
    scale: tuple[float, float, float],
    limits: tuple[int, int, float, float],
    draw: Draw | None = None,
) -> tuple[Tree, np.ndarray]:
    """Grow a tree of thresholds on single columns, scored by gain.

    Parameters
    ----------
    columns : float64 (F, N), numbers without NaN
    codes : int32 (F, N), rank of each number within its column
    target : float64 (N,), class or number
    weight : float64 (N,); rows of weight 0 are left out; None = 1 each
    sizes : float64 (N,), what each row adds to the size of a branch; None = its weight
    rules : as in `posepipe.learn.tables.splitting.column_scan.scan_columns`
    scale : unit of the gains of classes, factor of impurities by the costs of ``rules``, and maximum impurity of a
        pure node
    limits : maximum depth, minimum rows of a node that is split, minimum impurity decrease, weight of all rows
    draw : Draw, the columns that each node tries; if none of these splits it, it tries all. None = all columns

    Returns
    -------
    tree : Tree, whose features are columns
    tied : bool (splits, F), the columns that share the best gain of each split
    """
    n_rows, (n_statistics, n_columns) = len(target), (rules[3], len(columns))
    rows = np.arange(n_rows, dtype=np.int32) if weight is None else np.flatnonzero(weight).astype(np.int32)
    weight = np.ones(n_rows) if weight is None else weight
    keys = np.empty((n_columns, len(rows)), np.uint64)
    sort_by_rank(codes, rows, keys)
    entries = np.stack([target[rows], weight[rows], (weight if sizes is None else sizes)[rows]], axis=1)
    most = 2 * len(rows)
    feature, threshold, first_child = np.empty(most, np.int32), np.empty(most), np.empty(most, np.int32)
    leaf_statistics, tied = np.empty((len(rows), n_statistics)), np.empty((len(rows), n_columns), np.bool_)
    out = feature, threshold, first_child, leaf_statistics, tied
    counts, places = np.zeros(3, np.int64), np.empty(len(rows), np.int32)
    growth = columns, (keys, rows, entries), (target, weight), rules, scale, limits, counts, places, out
    begun = _grow_in_python(*growth, draw)
    if len(begun[1]):
        _grow(*begun, *growth)
    n_nodes, n_leaves, n_splits = counts.tolist()
    tree = Tree(
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        first_child[:n_nodes].copy(),
        leaf_statistics[:n_leaves].copy(),
    )
    return tree, tied[:n_splits]
