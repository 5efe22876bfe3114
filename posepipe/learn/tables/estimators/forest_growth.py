"""How one tree of a forest comes about: a bag of rows, growth on it, and answers to the rows outside."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posepipe.learn.growing import GrowthRules
from posepipe.learn.tables.estimators.out_of_bag import draw_bag, mean_loss, row_losses
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Directions, Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.directions import RandomCombinations
from posepipe.learn.tables.splitting.schema import Schema
from posepipe.learn.tables.table_model import grow_table_tree

BAG, GROWTH, SHUFFLE = range(3)
"""What random numbers are for: each has its seed, (forest's seed, tree, purpose)."""


class GrownTree(NamedTuple):
    """A tree, and what it says of the rows outside its bag."""

    tree: TableTree
    outside: np.ndarray  #: int64 (M,), rows of the table; none unless they are looked at
    answers: np.ndarray  #: float64 (M, K), posteriors, or (M, 1) means
    rise: np.ndarray  #: float64 (F,), of the mean loss outside, when a column is shuffled; NaN = not known


@dataclass(frozen=True, slots=True, eq=False)
class ForestGrowth:
    """All that the trees of one forest share. A tree depends on this and on its number alone."""

    table: Table
    weight: np.ndarray  #: float64 (N,), above 0
    loss_weight: np.ndarray  #: float64 (N,), of rows outside, when losses are averaged
    criterion: int
    rules: GrowthRules
    min_leaf: float  #: least weight of a leaf
    directions: Directions | None  #: draws combinations of columns, which then are all that is tried
    bootstrap: bool
    missing: str
    look_outside: bool
    shuffle: bool
    seed: int

    def tree(self, number: int) -> GrownTree:
        """Grow one tree."""
        n_rows, n_columns = len(self.table), len(self.table.kinds)
        times = np.ones(n_rows, np.int64)
        if self.bootstrap:
            times = draw_bag(n_rows, n_rows, True, self._rng(number, BAG))
        finder = ColumnSplits(
            self.table,
            self.criterion,
            min_leaf=self.min_leaf,
            directions=self.directions,
            only_directions=self.directions is not None,
        )
        tree = grow_table_tree(finder, self.rules, (self.seed, number, GROWTH), self.weight * times)
        outside = np.flatnonzero(times == 0) if self.look_outside else np.zeros(0, np.int64)
        columns = np.ascontiguousarray(self.table.columns[:, outside])
        answers = self._answers(tree, columns)
        rise = np.full(n_columns, np.nan)
        if self.shuffle and len(outside):
            rise = self._rise(tree, columns, answers, outside, self._rng(number, SHUFFLE))
        return GrownTree(tree, outside, answers, rise)

    def _rng(self, number: int, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, number, purpose])

    def _answers(self, tree: TableTree, columns: np.ndarray) -> np.ndarray:
        out = np.zeros((columns.shape[1], tree.values.shape[1]))
        tree.answer(columns, self.missing, out)
        return out

    def _rise(self, tree, columns, answers, outside, rng) -> np.ndarray:
        """How much worse the tree does on rows that it did not see, when one of its columns tells it nothing.

        References
        ----------
        Breiman 2001, section 10; as a mean over trees: Breiman and Cutler's manual of random forests.
        """
        target, weight = self.table.target[outside], self.loss_weight[outside]

        def loss(said: np.ndarray) -> float:
            return mean_loss(row_losses(said[:, 0] if tree.moments else said, target), weight)

        before = loss(answers)
        rise = np.zeros(len(columns))
        for column in np.flatnonzero(_asked(tree)):
            kept = columns[column].copy()
            columns[column] = rng.permutation(kept)
            rise[column] = loss(self._answers(tree, columns)) - before
            columns[column] = kept
        return rise


def _asked(tree: TableTree) -> np.ndarray:
    """Columns that a node asks for, alone or in a combination: bool (F,)."""
    asked = (tree.combinations != 0).any(axis=0)
    feature = tree.tree.feature[~tree.tree.is_leaf]
    asked[feature[feature < len(asked)]] = True
    return asked


def tried_columns(max_features: str | float | None, n_columns: int) -> int:
    """How many columns each node tries. Raises ValueError for a ``max_features`` that says nothing."""
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


def tried_combinations(combine: int | None, schema: Schema, table: Table, count: int) -> RandomCombinations | None:
    """What draws ``count`` combinations of so many columns for each node; None for none.

    Columns may have different units, so that each counts in its own standard deviations (Breiman 2001, section 5).

    Raises
    ------
    ValueError
        For a table with categories, which do not add up, or with fewer columns.
    """
    if combine is None:
        return None
    categorical = [name for name, is_category in zip(schema.names, schema.is_categorical, strict=True) if is_category]
    if categorical:
        raise ValueError(f"combine sums numbers, and column {categorical[0]!r} holds categories: give combine=None")
    if not 1 <= combine <= len(schema.names):
        raise ValueError(f"combine must lie between 1 and the {len(schema.names)} columns, got {combine}")
    known = [column[~np.isnan(column)] for column in table.columns]
    spread = np.array([column.std() if len(column) else 0.0 for column in known])
    return RandomCombinations(combine, count, spread)
