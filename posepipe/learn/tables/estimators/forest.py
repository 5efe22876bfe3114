"""Random forests (Breiman 2001): many trees, each on its own bag of rows, each node on its own draw of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from posepipe.learn.growing import GrowthRules
from posepipe.learn.impurity import CRITERIA
from posepipe.learn.tables import single_tree
from posepipe.learn.tables.bounds import strength_bound
from posepipe.learn.tables.estimators.forest_growth import ForestGrowth, tried_columns, tried_combinations
from posepipe.learn.tables.estimators.out_of_bag import OutOfBag, OutOfBagVotes, mean_loss, row_losses
from posepipe.learn.tables.estimators.voting import ballot, check_votes, elect, vote_weights
from posepipe.learn.tables.splitting.column_scan import EQUALS
from posepipe.learn.tables.splitting.column_splits import Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.threads import side_by_side
from posepipe.learn.tables.table_model import NO_LIMIT, ClassifierTable, RegressorTable, TableModel

IMPORTANCES = ("impurity", "permutation")
ROWS_A_JOB = 10_000
"""Rows that one thread sends down all trees at a time."""


class _Forest(TableModel):
    """What both forests have in common."""

    n_trees: int
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
        X : (N, F), numbers, strings or both; a DataFrame's names and types are used; None and NaN are missing
        y : (N,)
        sample_weight : (N,), not negative; rows of weight 0 are left out

        Raises
        ------
        ValueError, TypeError
            For a table, a parameter or a target that does not fit.
        """
        self._check()
        cells, y = self._learn_table(X, y)
        given = np.ones(len(y)) if sample_weight is None else _check_sample_weight(sample_weight, cells)
        if (given < 0).any() or not given.any():
            raise ValueError("sample_weight must not be negative, nor 0 for all rows")
        target, weight, n_statistics = self._learn_target(y, sample_weight)
        weight = np.ones(len(y)) if weight is None else weight
        rows = np.flatnonzero(weight)
        table = Table.of(cells[rows], self._kinds(EQUALS), self.schema_.n_codes, target[rows], n_statistics)
        growth = self._growth(table, weight[rows], given[rows])
        outside, rises = self._outside(len(rows)), []
        self.trees_ = []
        for grown in side_by_side(growth.tree, range(self.n_trees)):
            self.trees_.append(grown.tree)
            outside.add(grown.outside, grown.answers)
            rises.append(grown.rise)
        known = [rise for rise in rises if not np.isnan(rise).any()]
        self._rise = np.mean(known or rises, axis=0) if growth.shuffle else None
        if self.bootstrap and self.oob_score:
            self._tell(outside, rows, target, given)
        return self

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much the forest makes of each column, as ``importances`` has it: float64 (F,).

        Of "impurity", shares; they mislead where columns have many values (Strobl et al. 2007). Of "permutation",
        what the mean loss of a tree on rows outside its bag rises by when the column is shuffled, in the unit of
        `oob_error_`: about 0, or a little below, for a column that tells nothing.
        """
        check_is_fitted(self)
        if self._rise is not None:
            return self._rise.copy()
        criterion = CRITERIA[self._criterion_name()]
        total = np.sum([single_tree.importances(tree, criterion) for tree in self.trees_], axis=0)
        return total / total.sum() if total.sum() > 0 else total

    def _growth(self, table: Table, weight: np.ndarray, given: np.ndarray) -> ForestGrowth:
        count = tried_columns(self.max_features, len(table.kinds))
        depth = NO_LIMIT if self.max_depth is None else self.max_depth
        shuffle = self.importances == "permutation"
        least = max(self.min_samples_leaf * weight.min(), self.min_weight_fraction_leaf * weight.sum())
        return ForestGrowth(
            table=table,
            weight=weight,
            loss_weight=given,
            criterion=CRITERIA[self._criterion_name()],
            rules=GrowthRules(depth, count, 0.0, self.min_samples_split, NO_LIMIT),
            min_leaf=least * (1 - 1e-9),  # sums of weights are rounded
            directions=tried_combinations(self.combine, self.schema_, table, count),
            bootstrap=self.bootstrap,
            missing=self.missing,
            look_outside=self.bootstrap and (self.oob_score or shuffle),
            shuffle=shuffle,
            seed=int(check_random_state(self.random_state).randint(1 << 31)),
        )

    def _check(self) -> None:
        self._check_missing()
        whole = {"n_trees": 1, "max_depth": 1, "min_samples_split": 2}
        for name, least in (whole | {"min_samples_leaf": 0, "min_weight_fraction_leaf": 0}).items():
            given = getattr(self, name)
            if given is not None and given < least:
                raise ValueError(f"{name} must be at least {least}, got {given}")
        if self.importances not in IMPORTANCES:
            raise ValueError(f"importances must be one of {IMPORTANCES}, got {self.importances!r}")
        if self.importances == "permutation" and not self.bootstrap:
            raise ValueError("importances='permutation' asks rows outside the bags: it needs bootstrap=True")

    def _mean_answers(self, X: Any) -> np.ndarray:
        """Mean ballot, or number, of all trees: float64 (N, K)."""
        columns = self._code(X)
        n_rows = columns.shape[1]

        def ask(start: int) -> np.ndarray:
            own = np.ascontiguousarray(columns[:, start : start + ROWS_A_JOB])
            total = np.zeros((own.shape[1], self.trees_[0].values.shape[1]))
            for tree in self.trees_:
                self._add_answer(tree, own, total)
            return total / len(self.trees_)

        return np.concatenate(list(side_by_side(ask, range(0, n_rows, ROWS_A_JOB))))

    def _add_answer(self, tree: TableTree, columns: np.ndarray, total: np.ndarray) -> None:
        tree.answer(columns, self.missing, total)

    def _criterion_name(self) -> str:
        raise NotImplementedError

    def _outside(self, n_rows: int) -> Any:
        raise NotImplementedError

    def _tell(self, outside: Any, rows: np.ndarray, target: np.ndarray, given: np.ndarray) -> None:
        """Keep what the rows outside the bags say. ``rows`` (M,) of those of the target are in the table."""
        raise NotImplementedError


class RandomForestClassifier(_Forest, ClassifierTable):
    """Trees that vote on classes.

    Parameters
    ----------
    n_trees : how many
    criterion : "gini" or "entropy"
    max_features : how many columns each node tries, drawn anew for it: "sqrt" or "log2" of their number, a whole
        number, a share, or None = all. When none of them parts the node's rows, all are tried
    combine : None = a node asks for one column (Forest-RI); or L: for a sum of L columns drawn at random, over their
        standard deviations and with coefficients drawn from [-1, 1] (Forest-RC). It tries ``max_features`` of these
    max_depth, min_samples_split : when to stop; None = grown until pure
    min_samples_leaf, min_weight_fraction_leaf : least weight of a leaf, in multiples of the lightest row's, and as a
        share of all rows'. Where each leaf is pure, class weights change little: they need larger leaves
    bootstrap : whether each tree has a bag of its own, as many rows as there are, drawn with replacement
    vote : "posterior" = the mean of the leaves' class shares; "majority" = one vote a tree, as Breiman has it
    class_weight : {class: weight} or "balanced"; weighs rows in growth
    vote_weight : "inverse-frequency": a vote counts the inverse of its class's share of the training weight
    importances : "impurity" or, at the cost of some predictions, "permutation"; see `feature_importances_`
    oob_score : whether rows are asked outside of their bags, which takes about a third of a prediction
    missing, categorical : as `CartClassifier` has them; of categories, one is asked against all others
    random_state : the same seed gives the same forest, whatever the number of threads

    Attributes
    ----------
    trees_ : list of TableTree
    classes_ : (C,)
    vote_weights_ : float64 (C,)
    oob_decision_function_ : float64 (N, C), as `predict_proba` by the trees that did not see the row; NaN for a row
        that was in every bag, or has weight 0
    oob_error_ : share of rows, by weight, that these trees get wrong
    strength_, correlation_ : of the trees; see `posepipe.learn.tables.estimators.out_of_bag.strength_and_correlation`
    bound_ : on the error of a forest of ever more such trees

    Notes
    -----
    As many trees grow at a time as Numba has threads (``numba.set_num_threads``).

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001.
    """

    def __init__(
        self,
        *,
        n_trees: int = 100,
        criterion: str = "gini",
        max_features: str | float | None = "sqrt",
        combine: int | None = None,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        bootstrap: bool = True,
        vote: str = "posterior",
        class_weight: dict | str | None = None,
        vote_weight: str | None = None,
        importances: str = "impurity",
        oob_score: bool = True,
        missing: str = "fractional",
        categorical: str | Sequence | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.criterion = criterion
        self.max_features = max_features
        self.combine = combine
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.bootstrap = bootstrap
        self.vote = vote
        self.class_weight = class_weight
        self.vote_weight = vote_weight
        self.importances = importances
        self.oob_score = oob_score
        self.missing = missing
        self.categorical = categorical
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        """Share of the weighted votes for every class: float64 (N, C), columns as in `classes_`."""
        return elect(self._mean_answers(X), self.vote_weights_)

    def _learn_target(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, int]:
        codes, weight, n_classes = super()._learn_target(y, sample_weight)
        self.vote_weights_ = vote_weights(self.vote_weight, np.bincount(codes, weight, n_classes))
        return codes, weight, n_classes

    def _add_answer(self, tree: TableTree, columns: np.ndarray, total: np.ndarray) -> None:
        if self.vote == "posterior":
            super()._add_answer(tree, columns, total)
        else:
            own = np.zeros(total.shape)
            super()._add_answer(tree, columns, own)
            total += ballot(self.vote, own)

    def _check(self) -> None:
        super()._check()
        check_votes(self.vote, self.vote_weight)

    def _criterion_name(self) -> str:
        if self.criterion not in ("gini", "entropy"):
            raise ValueError(f"criterion must be 'gini' or 'entropy', got {self.criterion!r}")
        return self.criterion

    def _outside(self, n_rows: int) -> OutOfBagVotes:
        return OutOfBagVotes(n_rows, len(self.classes_), self.vote)

    def _tell(self, outside: OutOfBagVotes, rows: np.ndarray, target: np.ndarray, given: np.ndarray) -> None:
        self.oob_decision_function_ = np.full((len(target), len(self.classes_)), np.nan)
        self.oob_decision_function_[rows] = elect(outside.mean(), self.vote_weights_)
        self.oob_error_ = mean_loss(row_losses(self.oob_decision_function_, target), given)
        self.strength_, self.correlation_ = outside.strength_and_correlation(target[rows])
        self.bound_ = strength_bound(self.strength_, min(self.correlation_, 1)) if self.oob_error_ >= 0 else np.nan


class RandomForestRegressor(_Forest, RegressorTable):
    """Trees whose mean predicts a number.

    Parameters are those of `RandomForestClassifier`, without votes and class weights. There is one criterion,
    squared error, and ``max_features`` is a third of the columns, as Breiman's are.

    Attributes
    ----------
    trees_ : list of TableTree; their numbers lie about `mean_`
    oob_prediction_ : float64 (N,), mean of the trees that did not see the row; NaN as in the classifier
    oob_error_ : mean squared error, by weight, of these predictions

    References
    ----------
    Breiman 2001, sections 11 and 12.
    """

    def __init__(
        self,
        *,
        n_trees: int = 100,
        max_features: str | float | None = 1 / 3,
        combine: int | None = None,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        bootstrap: bool = True,
        importances: str = "impurity",
        oob_score: bool = True,
        missing: str = "fractional",
        categorical: str | Sequence | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.max_features = max_features
        self.combine = combine
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.bootstrap = bootstrap
        self.importances = importances
        self.oob_score = oob_score
        self.missing = missing
        self.categorical = categorical
        self.random_state = random_state

    def predict(self, X: Any) -> np.ndarray:
        """Mean of all trees, for every row: float64 (N,)."""
        return self._mean_answers(X)[:, 0] + self.mean_

    def _criterion_name(self) -> str:
        return "squared_error"

    def _outside(self, n_rows: int) -> OutOfBag:
        return OutOfBag(n_rows, 1)

    def _tell(self, outside: OutOfBag, rows: np.ndarray, target: np.ndarray, given: np.ndarray) -> None:
        self.oob_prediction_ = np.full(len(target), np.nan)
        self.oob_prediction_[rows] = outside.mean()[:, 0] + self.mean_
        self.oob_error_ = mean_loss(row_losses(self.oob_prediction_, target + self.mean_), given)
