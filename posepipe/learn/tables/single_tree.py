"""What ID3, C4.5 and CART share: one tree, grown, pruned, and asked."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state

from posepipe.learn.growing import GrowthRules
from posepipe.learn.impurity import CRITERIA, NO_COSTS, SQUARED_ERROR, impurity
from posepipe.learn.tables.splitting.column_scan import EACH
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.table_model import NO_LIMIT, ClassifierTable, RegressorTable, TableModel, grow_table_tree

HeldBack = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""Rows for validation: float64 (F, N), coded; classes or numbers, (N,); and weights, None = 1 each."""


class SingleTree(TableModel):
    """One tree. What kind of tree, its learner says by `_finder`, `_rules` and `_prune`."""

    of_categories = EACH  #: how columns of categories are asked
    max_depth: int | None
    min_samples_split: int
    min_gain: float
    validation_fraction: float
    random_state: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, validation: tuple[Any, Any] | None = None) -> Self:
        """Grow a tree and prune it.

        Parameters
        ----------
        X : (N, F), numbers, strings or both; a DataFrame's names and types are used; None and NaN are missing
        y : (N,)
        sample_weight : (N,); rows of weight 0 are left out
        validation : other rows (X, y), for the prunings that need them; None = ``validation_fraction`` of these rows
            are held back for it

        Raises
        ------
        ValueError, TypeError
            For a table, a parameter or a target that does not fit.
        """
        self._check_missing()
        cells, y = self._learn_table(X, y)
        target, weight, n_statistics = self._learn_target(y, sample_weight)
        rows = np.arange(len(cells)) if weight is None else np.flatnonzero(weight)
        back = rows[:0]
        wants_validation = self._wants_validation()
        if wants_validation and validation is None:
            rows, back = self._hold_back(rows)
        self._cut(cells[rows], target[rows], None if weight is None else weight[rows])
        cells = self.schema_.in_intervals(cells)
        held_back = None
        if len(back):
            held_back = np.ascontiguousarray(cells[back].T), target[back], None if weight is None else weight[back]
        elif wants_validation and validation is not None:
            check_consistent_length(*validation)
            held_back = self._code(validation[0]), self._code_target(validation[1]), None
        table = Table.of(cells[rows], self._kinds(self.of_categories), self.schema_.n_codes, target[rows], n_statistics)
        weight = None if weight is None else weight[rows]
        finder = self._finder(table)
        finder.ties = []
        grown = grow_table_tree(finder, self._rules(), (0,), weight)
        self._grown = grown.tree, finder.ties
        self.tree_ = self._prune(grown, held_back)
        return self

    def get_depth(self) -> int:
        """Levels below the root."""
        return self.tree_.tree.depth()

    def get_n_leaves(self) -> int:
        """Number of leaves, those included that no training row reached."""
        return self.tree_.tree.n_leaves

    def apply(self, X: Any) -> np.ndarray:
        """The node at which each row ends, int64 (N,); a missing cell takes the branch of most training rows."""
        return self.tree_.leaves(self._code(X))

    @property
    def ties_(self) -> dict[int, tuple[int, ...]]:
        """Nodes where several columns scored best, and these columns, rising: the first is the one that is asked."""
        pruned, (grown, columns) = self.tree_.tree, self._grown
        number = np.cumsum(~grown.is_leaf) - 1  # of a split, in the order in which they were made
        place = np.zeros(pruned.n_nodes, np.int64)  # of a node before pruning, which leaves the order as it is
        found = {}
        for node in np.flatnonzero(~pruned.is_leaf).tolist():
            below = pruned.children(node)
            place[below.start : below.stop] = grown.children(int(place[node]))
            best = columns[number[place[node]]]
            if len(best) > 1:
                found[node] = tuple(best.tolist())
        return found

    @property
    def feature_importances_(self) -> np.ndarray:
        """Impurity that the splits of each column save, as shares: float64 (F,).

        Misleads where columns have many values (Strobl et al. 2007); permutation importance does not.
        """
        return importances(self.tree_, CRITERIA[self._criterion_name()])

    def _answer(self, X: Any) -> np.ndarray:
        columns = self._code(X)
        out = np.zeros((columns.shape[1], self.tree_.values.shape[1]))
        self.tree_.answer(columns, self.missing, out)
        return out

    def _rules(self) -> GrowthRules:
        for name, least in {"max_depth": 1, "min_samples_split": 2, "min_samples_leaf": 0, "min_gain": 0}.items():
            given = getattr(self, name, None)
            if given is not None and not given >= least:
                raise ValueError(f"{name} must be at least {least}, got {given}")
        depth = NO_LIMIT if self.max_depth is None else self.max_depth
        return GrowthRules(depth, NO_LIMIT, self.min_gain, self.min_samples_split, NO_LIMIT)

    def _cut(self, cells: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> None:
        """Learn the intervals of numbers from the rows of growth, for the learners that know only categories."""

    def _hold_back(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Part rows into those to grow on and those to hold back."""
        n_rows = len(rows)
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must lie between 0 and 1, got {self.validation_fraction}")
        if n_rows < 2:
            raise ValueError(f"holding rows back for validation needs at least 2 rows, got n_samples={n_rows}")
        order = check_random_state(self.random_state).permutation(n_rows)
        count = min(max(1, round(n_rows * self.validation_fraction)), n_rows - 1)
        return np.sort(rows[order[count:]]), np.sort(rows[order[:count]])

    def _wants_validation(self) -> bool:
        return False

    def _criterion_name(self) -> str:
        return "entropy"

    def _finder(self, table: Table) -> ColumnSplits:
        raise NotImplementedError

    def _prune(self, grown: TableTree, validation: HeldBack | None) -> TableTree:
        return grown


class SingleTreeClassifier(SingleTree, ClassifierTable):
    """One tree that predicts classes."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Share of every class in the leaf, or leaves, of every row: float64 (N, C), columns as in `classes_`."""
        return self._answer(X)


class SingleTreeRegressor(SingleTree, RegressorTable):
    """One tree that predicts a number."""

    def predict(self, X: Any) -> np.ndarray:
        """Mean of the leaf, or leaves, of every row: float64 (N,)."""
        about_mean = self._answer(X)[:, 0]
        return about_mean + self.mean_


def importances(grown: TableTree, criterion: int) -> np.ndarray:
    """Impurity that the splits of each column save, as shares of all that is saved: float64 (F,).

    Of a linear combination every column has the share of its coefficient's size.
    """
    tree, n_columns = grown.tree, len(grown.kinds)
    statistics = tree.node_statistics()
    lost = impurity(SQUARED_ERROR if grown.moments else criterion, statistics, NO_COSTS) * grown.weight
    saved = lost.copy()
    parents = tree.parents()
    np.subtract.at(saved, parents[1:], lost[1:])
    inner = ~tree.is_leaf
    feature, saved = tree.feature[inner], saved[inner]
    plain = feature < n_columns
    out = np.zeros(n_columns)
    np.add.at(out, feature[plain], saved[plain])
    shares = np.abs(grown.combinations)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    out += (shares[feature[~plain] - n_columns] * saved[~plain, None]).sum(axis=0)
    total = out.sum()
    return out / total if total > 0 else out
