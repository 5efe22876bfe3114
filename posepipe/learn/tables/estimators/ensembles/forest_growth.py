"""Growth of one tree of a forest: a bag of rows, growth on the bag, predictions for the out-of-bag rows."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posepipe.learn.growing import GrowthRules
from posepipe.learn.stopping import best_first
from posepipe.learn.tables.estimators.ensembles.out_of_bag import draw_bag, mean_loss, row_losses
from posepipe.learn.tables.splitting.column_scan import scan_columns
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Directions, Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.directions import RandomCombinations
from posepipe.learn.tables.splitting.random_cuts import RandomCuts
from posepipe.learn.tables.splitting.schema import Schema
from posepipe.learn.tables.table_model import grow_table_tree

BAG, GROWTH, SHUFFLE, CUTS = range(4)
"""Purposes of random numbers; each has the seed (seed of the forest, tree, purpose)."""


class GrownTree(NamedTuple):
    """A tree with its out-of-bag predictions."""

    tree: TableTree
    oob_rows: np.ndarray  #: int64 (M,), rows of the table; empty without ``predict_oob``
    oob_predictions: np.ndarray  #: float64 (M, C) posteriors, or (M, 1) means
    loss_increase: np.ndarray  #: float64 (F,), of the mean out-of-bag loss when a column is shuffled; NaN = not known


@dataclass(frozen=True, slots=True, eq=False)
class ForestGrowth:
    """Data and settings that all trees of a forest share. A tree depends only on these and its number."""

    table: Table
    weight: np.ndarray  #: float64 (N,), above 0
    loss_weight: np.ndarray  #: float64 (N,), of out-of-bag rows in the mean loss
    criterion: int
    rules: GrowthRules
    max_leaf_nodes: int | None  #: maximum leaves of a tree
    min_leaf: float  #: minimum size of a leaf: rows or, without ``row_weight``, weight
    row_weight: np.ndarray | None  #: float64 (N,)
    directions: Directions | None  #: draws combinations of columns, which replace single columns as candidates
    random_cuts: bool  #: draw one split of each candidate instead of searching the best one
    bootstrap: bool
    missing: str
    predict_oob: bool
    shuffle: bool
    seed: int

    def tree(self, number: int) -> GrownTree:
        """Grow one tree."""
        n_rows, n_columns = len(self.table), len(self.table.kinds)
        draws = np.ones(n_rows, np.int64)
        if self.bootstrap:
            draws = draw_bag(n_rows, n_rows, True, self._rng(number, BAG))
        finder = ColumnSplits(
            self.table,
            self.criterion,
            min_leaf=self.min_leaf,
            row_weight=self.row_weight,
            directions=self.directions,
            only_directions=self.directions is not None,
            scan=RandomCuts(self._rng(number, CUTS)) if self.random_cuts else scan_columns,
        )
        tree = grow_table_tree(finder, self.rules, (self.seed, number, GROWTH), self.weight * draws)
        if self.max_leaf_nodes is not None:
            tree = tree.with_tree(best_first(tree.tree, self.criterion, self.max_leaf_nodes))
        oob_rows = np.flatnonzero(draws == 0) if self.predict_oob else np.zeros(0, np.int64)
        columns = np.asfortranarray(self.table.columns[:, oob_rows])
        predictions = self._predictions(tree, columns)
        increase = np.full(n_columns, np.nan)
        if self.shuffle and len(oob_rows):
            increase = self._loss_increase(tree, columns, predictions, oob_rows, self._rng(number, SHUFFLE))
        return GrownTree(tree, oob_rows, predictions, increase)

    def _rng(self, number: int, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, number, purpose])

    def _predictions(self, tree: TableTree, columns: np.ndarray) -> np.ndarray:
        out = np.zeros((columns.shape[1], tree.values.shape[1]))
        tree.add_predictions(columns, self.missing, out)
        return out

    def _loss_increase(
        self,
        tree: TableTree,
        columns: np.ndarray,
        predictions: np.ndarray,
        oob_rows: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Increase of the mean out-of-bag loss when a column is shuffled, for each column: float64 (F,).

        References
        ----------
        Breiman 2001, section 10; as a mean over trees: Breiman and Cutler, manual of random forests.
        """
        target, weight = self.table.target[oob_rows], self.loss_weight[oob_rows]

        def loss(predicted: np.ndarray) -> float:
            return mean_loss(row_losses(predicted[:, 0] if tree.moments else predicted, target), weight)

        before = loss(predictions)
        increase = np.zeros(len(columns))
        for column in np.flatnonzero(_used_columns(tree)):
            kept = columns[column].copy()
            columns[column] = rng.permutation(kept)
            increase[column] = loss(self._predictions(tree, columns)) - before
            columns[column] = kept
        return increase


def _used_columns(tree: TableTree) -> np.ndarray:
    """Whether a node splits on each column, alone or in a combination: bool (F,)."""
    used = (tree.combinations != 0).any(axis=0)
    feature = tree.tree.feature[~tree.tree.is_leaf]
    used[feature[feature < len(used)]] = True
    return used


def n_candidate_columns(max_features: str | float | None, n_columns: int) -> int:
    """Number of candidate columns of each node. Raises ValueError for an invalid ``max_features``."""
    if max_features is None:
        return n_columns
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_columns)))
    if max_features == "log2":
        return max(1, int(np.log2(n_columns)))
    if isinstance(max_features, numbers.Integral) and max_features >= 1:
        return int(max_features)
    share = isinstance(max_features, numbers.Real) and not isinstance(max_features, numbers.Integral)
    if share and 0 < max_features <= 1:  # type: ignore[operator]
        return max(1, int(max_features * n_columns))
    raise ValueError(
        f"max_features must be None, 'sqrt', 'log2', a whole number from 1 or a share up to 1.0, got {max_features!r}"
    )


def candidate_combinations(combine: int | None, schema: Schema, table: Table, count: int) -> RandomCombinations | None:
    """Make the generator of random combinations for each node, or None.

    Each column is divided by its standard deviation, because columns may have different units (Breiman 2001,
    section 5).

    Parameters
    ----------
    combine : int, columns per combination, or None for no combinations
    schema : Schema
    table : Table, training rows
    count : int, combinations per node

    Raises
    ------
    ValueError
        For a table with categorical columns, or with fewer columns than ``combine``.
    """
    if combine is None:
        return None
    categorical = [name for name, is_category in zip(schema.names, schema.is_categorical, strict=True) if is_category]
    if categorical:
        raise ValueError(f"combine needs columns of numbers, got categories in {categorical[0]!r}: give combine=None")
    if not 1 <= combine <= len(schema.names):
        raise ValueError(f"combine must lie between 1 and the {len(schema.names)} columns, got {combine}")
    known = [column[~np.isnan(column)] for column in table.columns]
    spread = np.array([column.std() if len(column) else 0.0 for column in known])
    return RandomCombinations(combine, count, spread)
