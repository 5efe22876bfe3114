"""Shared parts of random forests: bags, growth, out-of-bag predictions, importances."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from posepipe.learn.growing import GrowthRules
from posepipe.learn.impurity import CRITERIA
from posepipe.learn.tables import single_tree
from posepipe.learn.tables.estimators.ensembles.forest_growth import (
    ForestGrowth,
    candidate_combinations,
    n_candidate_columns,
)
from posepipe.learn.tables.parameters import COUNT, GROWTH, TABLE, count_of_rows
from posepipe.learn.tables.single_tree import SingleTree
from posepipe.learn.tables.splitting.column_splits import Table
from posepipe.learn.tables.splitting.descent import TableTree, path_indicator
from posepipe.learn.tables.splitting.split_gain import ONE_VS_REST
from posepipe.learn.tables.splitting.threads import map_in_threads
from posepipe.learn.tables.table_model import NO_LIMIT, TableModel

FOREST: dict[str, list[Any]] = {
    **TABLE,
    **{name: allowed for name, allowed in GROWTH.items() if name != "min_impurity_decrease"},
    "n_estimators": COUNT,
    "max_features": [*COUNT, Interval(RealNotInt, 0.0, 1.0, closed="right"), StrOptions({"sqrt", "log2"}), None],
    "combine": [Integral, None],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "bootstrap": ["boolean"],
    "importances": [StrOptions({"impurity", "permutation"})],
    "oob_score": ["boolean"],
}
"""Parameters of every random forest."""
ROWS_PER_JOB = 10_000
"""Rows that one thread predicts at a time, with all trees."""


class Forest(TableModel):
    """Shared parts of all forests."""

    random_cuts = False  #: whether a node tries one random split of each candidate column instead of all
    n_estimators: int
    max_features: str | float | None
    combine: int | None
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    bootstrap: bool
    oob_score: bool
    importances: str
    random_state: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : (N, F), numbers, strings or both; None and NaN are missing; names and types of a DataFrame are used
        y : (N,)
        sample_weight : (N,), non-negative; rows of weight 0 are left out

        Raises
        ------
        ValueError, TypeError
            For an invalid table, parameter or target.
        """
        self._validate_params()
        self._check()
        cells, y = self._fit_table(X, y)
        given = np.ones(len(y)) if sample_weight is None else _check_sample_weight(sample_weight, cells)
        if (given < 0).any() or not given.any():
            raise ValueError("sample_weight must be non-negative, and above 0 for some rows")
        target, weight, n_statistics = self._fit_target(y, sample_weight)
        weight = np.ones(len(y)) if weight is None else weight
        rows = np.flatnonzero(weight)
        table = Table.of(cells[rows], self._split_kinds(ONE_VS_REST), self.schema_.n_codes, target[rows], n_statistics)
        growth = self._growth(table, weight[rows], given[rows])
        oob, increases = self._new_oob(len(rows)), []
        self.trees_ = []
        for grown in map_in_threads(growth.tree, range(self.n_estimators)):
            self.trees_.append(grown.tree)
            oob.add(grown.oob_rows, grown.oob_predictions)
            increases.append(grown.loss_increase)
        known = [increase for increase in increases if not np.isnan(increase).any()]
        self._loss_increase = np.mean(known or increases, axis=0) if growth.shuffle else None
        if self.bootstrap and self.oob_score:
            self._set_oob(oob, rows, target, given)
        return self

    @property
    def estimators_(self) -> list[SingleTree]:
        """The trees as fitted single trees, for text, drawings and explanations; each predicts like its `trees_`."""
        check_is_fitted(self)
        return [self._member(tree) for tree in self.trees_]

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row in each tree, int64 (N, T); a missing cell takes the most common branch."""
        columns = self._encode(X)
        return np.stack([tree.leaves(columns) for tree in self.trees_], axis=1)

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """Return the nodes that each row passes in all trees.

        Returns
        -------
        indicator : bool (N, nodes of all trees), sparse
        n_nodes_ptr : int64 (T + 1,); tree t has the columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]``
        """
        leaves = self.apply(X)
        paths = [path_indicator(tree.tree, leaves[:, t]) for t, tree in enumerate(self.trees_)]
        return hstack(paths, format="csr"), np.cumsum([0, *(path.shape[1] for path in paths)])

    def _member(self, tree: TableTree) -> SingleTree:
        """Make a fitted single tree of one of the trees."""
        member = self._single_tree()
        own = member.get_params()
        member.set_params(**{name: value for name, value in self.get_params().items() if name in own})
        for name in ("schema_", "classes_", "mean_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))
        member.tree_, member.row_weight_ = tree, 1.0
        member._grown = tree.tree, [np.zeros(0, np.int32)] * int((~tree.tree.is_leaf).sum())  # ties are not recorded
        return member

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importance of each column, by the parameter ``importances``: float64 (F,).

        "impurity": shares of the impurity decrease, biased towards columns with many values (Strobl et al. 2007).
        "permutation": mean increase of a tree's out-of-bag loss when the column is shuffled, in the unit of
        `oob_error_`. It is about 0, or slightly below, for a column without information.
        """
        check_is_fitted(self)
        if self._loss_increase is not None:
            return self._loss_increase.copy()
        criterion = CRITERIA[self._criterion_name()]
        total = np.sum([single_tree.importances(tree, criterion) for tree in self.trees_], axis=0)
        return total / total.sum() if total.sum() > 0 else total

    def _growth(self, table: Table, weight: np.ndarray, given: np.ndarray) -> ForestGrowth:
        count = n_candidate_columns(self.max_features, len(table.kinds))
        depth = NO_LIMIT if self.max_depth is None else self.max_depth
        shuffle = self.importances == "permutation"
        min_leaf: float = count_of_rows(self.min_samples_leaf, len(table))
        row_weight: np.ndarray | None = weight
        if self.min_weight_fraction_leaf > 0:
            min_leaf = max(min_leaf * weight.min(), self.min_weight_fraction_leaf * weight.sum())
            row_weight = None
        return ForestGrowth(
            table=table,
            weight=weight,
            loss_weight=given,
            criterion=CRITERIA[self._criterion_name()],
            rules=GrowthRules(depth, count, 0.0, max(2, count_of_rows(self.min_samples_split, len(table))), NO_LIMIT),
            max_leaf_nodes=self.max_leaf_nodes,
            min_leaf=min_leaf,
            row_weight=row_weight,
            directions=candidate_combinations(self.combine, self.schema_, table, count),
            random_cuts=self.random_cuts,
            bootstrap=self.bootstrap,
            missing=self.missing,
            predict_oob=self.bootstrap and (self.oob_score or shuffle),
            shuffle=shuffle,
            seed=int(check_random_state(self.random_state).randint(1 << 31)),
        )

    def _check(self) -> None:
        if self.importances == "permutation" and not self.bootstrap:
            raise ValueError("importances='permutation' uses out-of-bag rows: it needs bootstrap=True")

    def _mean_predictions(self, X: Any) -> np.ndarray:
        """Mean votes, or mean number, of all trees: float64 (N, K)."""
        columns = self._encode(X)
        n_rows = columns.shape[1]

        def predict_rows(start: int) -> np.ndarray:
            part = columns[:, start : start + ROWS_PER_JOB]
            total = np.zeros((part.shape[1], self.trees_[0].values.shape[1]))
            for tree in self.trees_:
                self._add_predictions(tree, part, total)
            return total / len(self.trees_)

        return np.concatenate(list(map_in_threads(predict_rows, range(0, n_rows, ROWS_PER_JOB))))

    def _add_predictions(self, tree: TableTree, columns: np.ndarray, total: np.ndarray) -> None:
        tree.add_predictions(columns, self.missing, total)

    def _criterion_name(self) -> str:
        raise NotImplementedError

    def _single_tree(self) -> SingleTree:
        """Make an unfitted single tree of the forest's kind."""
        raise NotImplementedError

    def _new_oob(self, n_rows: int) -> Any:
        raise NotImplementedError

    def _set_oob(self, oob: Any, rows: np.ndarray, target: np.ndarray, given: np.ndarray) -> None:
        """Store the out-of-bag predictions and their error. ``rows`` (M,) are the rows of the target in the table."""
        raise NotImplementedError
