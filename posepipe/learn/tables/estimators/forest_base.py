"""Shared parts of random forests: bags, growth, out-of-bag predictions, importances."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from posepipe.learn.growing import GrowthRules
from posepipe.learn.impurity import CRITERIA
from posepipe.learn.tables import single_tree
from posepipe.learn.tables.estimators.forest_growth import ForestGrowth, candidate_combinations, n_candidate_columns
from posepipe.learn.tables.splitting.column_scan import ONE_VS_REST
from posepipe.learn.tables.splitting.column_splits import Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.threads import map_in_threads
from posepipe.learn.tables.table_model import NO_LIMIT, TableModel

IMPORTANCES = ("impurity", "permutation")
ROWS_PER_JOB = 10_000
"""Rows that one thread predicts at a time, with all trees."""


class Forest(TableModel):
    """Shared parts of both forests."""

    n_estimators: int
    max_features: str | float | None
    combine: int | None
    max_depth: int | None
    min_samples_split: int
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
        min_leaf = max(self.min_samples_leaf * weight.min(), self.min_weight_fraction_leaf * weight.sum())
        return ForestGrowth(
            table=table,
            weight=weight,
            loss_weight=given,
            criterion=CRITERIA[self._criterion_name()],
            rules=GrowthRules(depth, count, 0.0, self.min_samples_split, NO_LIMIT),
            min_leaf=min_leaf * (1 - 1e-9),  # tolerates rounded sums of weights
            directions=candidate_combinations(self.combine, self.schema_, table, count),
            bootstrap=self.bootstrap,
            missing=self.missing,
            predict_oob=self.bootstrap and (self.oob_score or shuffle),
            shuffle=shuffle,
            seed=int(check_random_state(self.random_state).randint(1 << 31)),
        )

    def _check(self) -> None:
        self._check_missing()
        minima = {"n_estimators": 1, "max_depth": 1, "min_samples_split": 2}
        minima |= {"min_samples_leaf": 0, "min_weight_fraction_leaf": 0}
        for name, minimum in minima.items():
            value = getattr(self, name)
            if value is not None and value < minimum:
                raise ValueError(f"{name} must be at least {minimum}, got {value}")
        if self.importances not in IMPORTANCES:
            raise ValueError(f"importances must be one of {IMPORTANCES}, got {self.importances!r}")
        if self.importances == "permutation" and not self.bootstrap:
            raise ValueError("importances='permutation' uses out-of-bag rows: it needs bootstrap=True")

    def _mean_predictions(self, X: Any) -> np.ndarray:
        """Mean votes, or mean number, of all trees: float64 (N, K)."""
        columns = self._encode(X)
        n_rows = columns.shape[1]

        def predict_rows(start: int) -> np.ndarray:
            part = np.ascontiguousarray(columns[:, start : start + ROWS_PER_JOB])
            total = np.zeros((part.shape[1], self.trees_[0].values.shape[1]))
            for tree in self.trees_:
                self._add_predictions(tree, part, total)
            return total / len(self.trees_)

        return np.concatenate(list(map_in_threads(predict_rows, range(0, n_rows, ROWS_PER_JOB))))

    def _add_predictions(self, tree: TableTree, columns: np.ndarray, total: np.ndarray) -> None:
        tree.add_predictions(columns, self.missing, total)

    def _criterion_name(self) -> str:
        raise NotImplementedError

    def _new_oob(self, n_rows: int) -> Any:
        raise NotImplementedError

    def _set_oob(self, oob: Any, rows: np.ndarray, target: np.ndarray, given: np.ndarray) -> None:
        """Store the out-of-bag predictions and their error. ``rows`` (M,) are the rows of the target in the table."""
        raise NotImplementedError
