"""CART (Breiman, Friedman, Olshen and Stone 1984): two branches a node, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posepipe.learn import pruning
from posepipe.learn.impurity import CRITERIA, GINI, NO_COSTS, SQUARED_ERROR
from posepipe.learn.stopping import chi_square_stop, validation_stop
from posepipe.learn.tables.estimators.id3 import prune_by_validation
from posepipe.learn.tables.single_tree import HeldBack, SingleTree, SingleTreeClassifier, SingleTreeRegressor
from posepipe.learn.tables.splitting.column_scan import EQUALS
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.directions import fisher_directions

PRUNINGS = (None, "cost-complexity", "reduced-error")
STOPS = (None, "chi-square", "validation")


class _Cart(SingleTree):
    """Growth, stopping and pruning of both CARTs."""

    of_categories = EQUALS
    min_samples_leaf: float
    prune: str | None
    ccp_alpha: float
    standard_errors: float
    stop: str | None
    significance: float
    oblique: bool

    def cost_complexity_path(self, X: Any, y: Any, sample_weight: Any = None) -> pruning.PruningPath:
        """The whole sequence of subtrees, weakest link first, of the tree that these rows grow."""
        whole = type(self)(**(self.get_params() | {"prune": None, "stop": None, "ccp_alpha": 0.0}))
        return whole.fit(X, y, sample_weight)._path(whole.tree_)

    def _path(self, grown: TableTree) -> pruning.PruningPath:
        return pruning.cost_complexity_path(grown.tree, CRITERIA[self._risk()], self._mistake_costs())

    def _finder(self, table: Table) -> ColumnSplits:
        return ColumnSplits(
            table,
            CRITERIA[self._criterion_name()],
            min_leaf=self.min_samples_leaf,
            costs=self._mistake_costs(),
            directions=fisher_directions if self.oblique else None,
        )

    def _wants_validation(self) -> bool:
        for name, known in (("prune", PRUNINGS), ("stop", STOPS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}")
        for name in ("ccp_alpha", "standard_errors"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        self._risk()
        return self.prune is not None or self.stop == "validation"

    def _prune(self, grown: TableTree, validation: HeldBack | None) -> TableTree:
        # a node is split or not whatever others do, so that stopping early and cutting afterwards are one
        if self.stop == "chi-square":
            grown = grown.with_tree(chi_square_stop(grown.tree, self.significance))
        elif self.stop == "validation":
            assert validation is not None
            stopped = validation_stop(grown.tree, grown.passed(*validation), grown.mistakes)
            self.validation_error_ = stopped.error
            grown = grown.with_tree(stopped.tree)
        if self.ccp_alpha > 0:
            grown = grown.with_tree(self._path(grown).at(self.ccp_alpha))
        if self.prune == "reduced-error":
            assert validation is not None
            grown = prune_by_validation(self, grown, validation)
        elif self.prune == "cost-complexity":
            assert validation is not None
            self.path_ = self._path(grown)
            passed = grown.passed(*validation)
            chosen, self.validation_error_ = pruning.choose_by_validation(self.path_, passed, self.standard_errors)
            self.ccp_alpha_ = float(self.path_.alphas[chosen])
            grown = grown.with_tree(self.path_.subtree(chosen))
        return grown

    def _risk(self) -> str:
        raise NotImplementedError

    def _mistake_costs(self) -> np.ndarray:
        return NO_COSTS


class CartClassifier(_Cart, SingleTreeClassifier):
    """Binary tree: a number at most a threshold, or one category against all others.

    Parameters
    ----------
    criterion : "gini", "entropy" or "misclassification"
    costs : float (C, C), cost of saying class j (column) where i (row) is true, in the order of `classes_`;
        with Gini
    max_depth, min_samples_split, min_samples_leaf, min_gain : when to stop; None = no limit
    stop : "chi-square": no split whose branches could be alike by chance; "validation": none that makes as many
        errors on rows held back; or None
    significance : of the chi-square test
    prune : "cost-complexity", the subtree chosen on rows held back; "reduced-error"; or None
    ccp_alpha : prunes all links up to this strength, with no rows held back
    prune_criterion : the R of cost-complexity: "misclassification", "gini" or "entropy"; None = ``criterion``
    standard_errors : choose the smallest subtree within so many standard errors of the best
    oblique : try, beside columns, Fisher's linear discriminant of each node's numbers
    missing, categorical, class_weight, validation_fraction, random_state : as `Id3Classifier` has them

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and regression trees, 1984.
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        costs: Any = None,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: float = 1,
        min_gain: float = 0.0,
        stop: str | None = None,
        significance: float = 0.05,
        prune: str | None = None,
        ccp_alpha: float = 0.0,
        prune_criterion: str | None = None,
        standard_errors: float = 0.0,
        oblique: bool = False,
        missing: str = "fractional",
        categorical: str | Sequence | None = None,
        class_weight: dict | str | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.costs = costs
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.stop = stop
        self.significance = significance
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.prune_criterion = prune_criterion
        self.standard_errors = standard_errors
        self.oblique = oblique
        self.missing = missing
        self.categorical = categorical
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of every row or, with costs, the one that is expected to cost least."""
        if self.costs is None:
            return super().predict(X)
        expected_costs = self.predict_proba(X) @ self._mistake_costs()
        return self.classes_[np.argmin(expected_costs, axis=1)]

    def _criterion_name(self) -> str:
        if self.criterion not in CRITERIA or CRITERIA[self.criterion] == SQUARED_ERROR:
            raise ValueError(f"criterion must be 'gini', 'entropy' or 'misclassification', got {self.criterion!r}")
        return self.criterion

    def _risk(self) -> str:
        risk = self.prune_criterion or self._criterion_name()
        if risk not in CRITERIA or CRITERIA[risk] == SQUARED_ERROR:
            raise ValueError(f"prune_criterion must be 'gini', 'entropy', 'misclassification' or None, got {risk!r}")
        return risk

    def _mistake_costs(self) -> np.ndarray:
        if self.costs is None:
            return NO_COSTS
        costs, n = np.asarray(self.costs, np.float64), len(self.classes_)
        if costs.shape != (n, n) or not (costs >= 0).all() or CRITERIA[self._criterion_name()] != GINI:
            raise ValueError(f"costs must be ({n}, {n}), not negative, with criterion 'gini', got shape {costs.shape}")
        return costs


class CartRegressor(_Cart, SingleTreeRegressor):
    """Binary tree of least squares: each leaf answers with its mean.

    Parameters are those of `CartClassifier`; there is one criterion, squared error, and "chi-square" is no stop.

    References
    ----------
    Breiman et al. 1984, chapter 8.
    """

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: float = 1,
        min_gain: float = 0.0,
        stop: str | None = None,
        prune: str | None = None,
        ccp_alpha: float = 0.0,
        standard_errors: float = 0.0,
        oblique: bool = False,
        missing: str = "fractional",
        categorical: str | Sequence | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.stop = stop
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.standard_errors = standard_errors
        self.oblique = oblique
        self.missing = missing
        self.categorical = categorical
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _criterion_name(self) -> str:
        return "squared_error"

    def _risk(self) -> str:
        return "squared_error"

    def _wants_validation(self) -> bool:
        if self.stop == "chi-square":
            raise ValueError("stop='chi-square' tests classes; for numbers give 'validation' or None")
        return super()._wants_validation()
