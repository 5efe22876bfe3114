"""Kernels of trees on tables, and the criteria that all trees share."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np

from posepipe.learn.impurity import CRITERIA, NO_COSTS, entropy, information_gain
from posepipe.learn.tables.splitting.column_scan import scan_columns
from posepipe.learn.tables.splitting.column_splits import Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.split_gain import MULTIWAY, NUMERIC, ONE_VS_REST, SUBSET
from tests.kernels.kernel import Kernel
from tests.reference.learn import impurity as naive_impurity
from tests.reference.tables import column_scan as naive_column_scan
from tests.reference.tables import descent as naive_descent
from tests.support import random_inputs


def _counts(rng, size):
    children = rng.integers(0, 50, (size, 3, 6))
    children[0] = 0
    children[1, 1:] = 0
    return SimpleNamespace(parent=children.sum(1), children=children)


#: kind of split of each column of a random table
KINDS = {
    "x": NUMERIC,
    "y": NUMERIC,
    "z": NUMERIC,
    "colour": MULTIWAY,
    "shape": MULTIWAY,
    "size": ONE_VS_REST,
    "flag": ONE_VS_REST,
}
SETS = {"shape": SUBSET, "size": SUBSET, "flag": SUBSET}
"""Columns of a random table that are split by sets of categories instead."""


NAIVE_KINDS = {
    NUMERIC: naive_column_scan.NUMERIC,
    MULTIWAY: naive_column_scan.MULTIWAY,
    ONE_VS_REST: naive_column_scan.ONE_VS_REST,
    SUBSET: naive_column_scan.SUBSET,
}


N_CODES = [0, 0, 0, 3, 7, 4, 2]


def _table_of_kinds(rng, n_rows, sets=False):
    """Cells, how their columns are asked, and two linear combinations of numbers, in eighths: sums are exact."""
    kinds = np.array(list((KINDS | SETS if sets else KINDS).values()), np.uint8)
    combinations = np.zeros((2, len(kinds)))
    combinations[:, :3] = rng.integers(-8, 9, (2, 3)) / 8
    combinations[0, 1] = 0
    return SimpleNamespace(
        cells=random_inputs.cells(rng, n_rows, N_CODES),
        kinds=kinds,
        naive_kinds=[NAIVE_KINDS[kind] for kind in kinds],
        combinations=combinations,
    )


def _open_nodes(rng, size, criterion, costs=None, sets=False):
    """Nodes of 1 to 50 rows of a table, one of them pure, one the same in every cell; some with weights."""
    ends = np.cumsum(np.append([1, 2, 10, 10], rng.integers(3, 50, size - 4)))
    inputs = _table_of_kinds(rng, ends[-1], sets)
    inputs.order = rng.permutation(ends[-1]).astype(np.int32)
    target = rng.integers(-20, 20, ends[-1]) / 4 if criterion == "squared_error" else rng.integers(3, size=ends[-1])
    target[inputs.order[3:13]] = 1
    inputs.cells[inputs.order[13:23]] = 1
    inputs.weight = np.where(rng.random(ends[-1]) < 0.5, 1, rng.integers(1, 9, ends[-1]) / 4)
    inputs.starts, inputs.ends = np.append(0, ends[:-1]), ends
    inputs.sizes = np.where(rng.random(ends[-1]) < 0.5, 1, 0.5) if sets else None
    inputs.criterion, inputs.costs, inputs.min_leaf = criterion, costs, rng.choice([0.0, 1, 2.5])
    inputs.table = Table.of(inputs.cells, inputs.kinds, np.array(N_CODES), target.astype(np.float64), 3)
    inputs.candidates = np.tile(np.arange(len(N_CODES) + len(inputs.combinations), dtype=np.int32), (size, 1))
    return inputs


def _scanned(inputs):
    table = inputs.table
    gain, intrinsic, threshold = scan_columns(
        table.columns,
        table.codes,
        table.kinds,
        table.n_codes,
        table.target,
        (CRITERIA[inputs.criterion], NO_COSTS if inputs.costs is None else inputs.costs, inputs.min_leaf, 3, False),
        (inputs.order, inputs.weight, inputs.starts, inputs.ends),
        inputs.candidates,
        inputs.combinations,
        inputs.sizes,
    )
    parts = gain > -np.inf
    # neither a multiway split nor one by sets has a threshold
    asked = parts & ~np.append(np.isin(table.kinds, [MULTIWAY, SUBSET]), [False, False])
    intrinsic = np.where(np.append(table.kinds == SUBSET, [False, False]), 0, intrinsic)  # equal sets may differ in it
    return gain, np.where(parts, intrinsic, 0), np.where(asked, threshold, 0)


def _scanned_naively(inputs):
    columns = [_with_gaps(column) for column in inputs.cells.T]
    columns += [naive_column_scan.combine(row, columns) for row in inputs.combinations.tolist()]
    kinds = [*inputs.naive_kinds, naive_column_scan.NUMERIC, naive_column_scan.NUMERIC]
    costs = None if inputs.costs is None else {(i, j): inputs.costs[i, j] for i in range(3) for j in range(3)}
    found = np.empty((3, len(inputs.starts), len(kinds)))
    for node, (start, end) in enumerate(zip(inputs.starts, inputs.ends, strict=True)):
        rows = inputs.order[start:end]
        target, weight = inputs.table.target[rows].tolist(), inputs.weight[start:end].tolist()
        sizes = None if inputs.sizes is None else inputs.sizes[start:end].tolist()
        for k, (kind, column) in enumerate(zip(kinds, columns, strict=True)):
            own = naive_column_scan.of_rows(column, rows)
            found[:, node, k] = naive_column_scan.best_split(
                kind, own, target, weight, inputs.criterion, costs, inputs.min_leaf, sizes
            )
            if kind == naive_column_scan.SUBSET:
                found[1, node, k] = 0
    return tuple(found)


def _with_gaps(cells):
    """Cells as the naive twins have them: None where one is missing."""
    return [None if cell != cell else cell for cell in cells.tolist()]


def _rows_to_answer(rng, size, moments=False):
    """Rows and a tree over their columns; a category may be one that the tree does not know."""
    inputs = _table_of_kinds(rng, size)
    inputs.cells[rng.random(size) < 0.1, 4] = 7
    is_each = [kind == MULTIWAY for kind in KINDS.values()]
    inputs.tree = random_inputs.table_tree(rng, 5, N_CODES, is_each, len(inputs.combinations), 3)
    inputs.table_tree = TableTree(inputs.tree, inputs.kinds, inputs.combinations, moments)
    inputs.columns, inputs.moments = np.ascontiguousarray(inputs.cells.T), moments
    inputs.target = rng.integers(3, size=size).astype(np.float64)
    return inputs


def _answered(inputs):
    out = [np.zeros((len(inputs.cells), inputs.table_tree.values.shape[1])) for _ in range(2)]
    inputs.table_tree.add_predictions(inputs.columns, "fractional", out[0])
    inputs.table_tree.add_predictions(inputs.columns, "most_common", out[1])
    return tuple(out)


def _answered_naively(inputs):
    known = inputs.tree, inputs.naive_kinds, inputs.combinations.tolist()
    return tuple(
        [naive_descent.prediction(*known, _with_gaps(row), inputs.moments, missing) for row in inputs.cells]
        for missing in ("fractional", "most_common")
    )


KERNELS = (
    Kernel(
        "entropy",
        lambda i: entropy(i.children),
        lambda i: [[naive_impurity.entropy(child.tolist()) for child in node] for node in i.children],
        _counts,
        size=200,
        tolerance=1e-13,
        reason="order of a float64 sum",
    ),
    Kernel(
        "information_gain",
        lambda i: information_gain(i.parent, i.children),
        lambda i: [
            naive_impurity.information_gain(parent.tolist(), children.tolist())
            for parent, children in zip(i.parent, i.children, strict=True)
        ],
        _counts,
        size=200,
        tolerance=1e-13,
        reason="order of a float64 sum",
    ),
    *(
        Kernel(
            f"scan_sets_by_{criterion}",
            _scanned,
            _scanned_naively,
            partial(_open_nodes, criterion=criterion, sets=True),
            size=8,
            tolerance=1e-12,
            reason="order of a float64 sum",
        )
        for criterion in ("gini", "squared_error")
    ),
    Kernel(
        "scan_columns",
        _scanned,
        _scanned_naively,
        partial(_open_nodes, criterion="entropy"),
        size=12,
        tolerance=1e-12,
        reason="order of a float64 sum",
    ),
    *(
        Kernel(
            f"scan_columns_by_{criterion}{'_with_costs' if costs is not None else ''}",
            _scanned,
            _scanned_naively,
            partial(_open_nodes, criterion=criterion, costs=costs),
            size=8,
            tolerance=1e-12,
            reason="order of a float64 sum",
        )
        for criterion, costs in (
            ("gini", None),
            ("gini", np.array([[0.0, 1, 5], [2, 0, 1], [1, 3, 0]])),
            ("misclassification", None),
            ("squared_error", None),
        )
    ),
    *(
        Kernel(
            f"answer_{'numbers' if moments else 'classes'}",
            _answered,
            _answered_naively,
            partial(_rows_to_answer, moments=moments),
            size=200,
            tolerance=1e-13,
            reason="order of a float64 sum",
        )
        for moments in (False, True)
    ),
    Kernel(
        "leaves",
        lambda i: i.table_tree.leaves(i.columns),
        lambda i: [
            naive_descent.leaf(i.tree, i.naive_kinds, i.combinations.tolist(), _with_gaps(row), False)
            for row in i.cells
        ],
        _rows_to_answer,
        size=200,
    ),
    Kernel(
        "statistics_of",
        lambda i: i.table_tree.statistics_of(i.columns, i.target),
        lambda i: naive_descent.passed(
            i.tree, i.naive_kinds, i.combinations.tolist(), map(_with_gaps, i.cells), i.target.tolist(), i.moments
        ),
        partial(_rows_to_answer, moments=True),
        size=200,
        tolerance=1e-12,
        reason="order of a float64 sum",
    ),
)
