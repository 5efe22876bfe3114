"""CART (Breiman, Friedman, Olshen and Stone 1984): binary trees for classification and regression."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from posepipe.learn import cost_complexity
from posepipe.learn.impurity import CRITERIA, GINI, NO_COSTS
from posepipe.learn.stopping import chi_square_stop, validation_stop
from posepipe.learn.tables.estimators.trees.id3 import prune_by_validation
from posepipe.learn.tables.parameters import CLASS_WEIGHT, NON_NEGATIVE, SINGLE_TREE, count_of_rows
from posepipe.learn.tables.renamed_parameters import renamed_parameter
from posepipe.learn.tables.single_tree import HeldOut, SingleTree, SingleTreeClassifier, SingleTreeRegressor
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.directions import fisher_directions
from posepipe.learn.tables.splitting.split_gain import ONE_VS_REST, SUBSET

CATEGORY_SPLITS = {"one-vs-rest": ONE_VS_REST, "subset": SUBSET}
"""Splits of categories by name."""
CART: dict[str, list[Any]] = {
    **SINGLE_TREE,
    "prune": [StrOptions({"cost-complexity", "reduced-error"}), None],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "standard_errors": NON_NEGATIVE,
    "category_split": [StrOptions(set(CATEGORY_SPLITS))],
    "oblique": ["boolean"],
}
"""Parameters of both trees."""
RISKS = {"gini", "entropy", "misclassification"}
"""Impurities of classes."""


class _Cart(SingleTree):
    """Growth, stopping and pruning of both trees."""

    min_samples_leaf: float
    min_weight_fraction_leaf: float
    prune: str | None
    ccp_alpha: float
    standard_errors: float
    stop: str | None
    significance: float
    category_split: str
    oblique: bool

    @property
    def categorical_split(self) -> int:
        """Kind of split of categorical columns."""
        return CATEGORY_SPLITS[self.category_split]

    def _finder(self, table: Table, weight: np.ndarray | None) -> ColumnSplits:
        min_leaf: float = count_of_rows(self.min_samples_leaf, len(table))
        row_weight = weight
        if self.min_weight_fraction_leaf > 0:
            total = float(len(table) if weight is None else weight.sum())
            min_leaf = max(min_leaf * self.row_weight_, self.min_weight_fraction_leaf * total)
            row_weight = None
        return ColumnSplits(
            table,
            CRITERIA[self._criterion_name()],
            min_leaf=min_leaf,
            costs=self._error_costs(),
            directions=fisher_directions if self.oblique else None,
            row_weight=row_weight,
        )

    def _needs_validation(self) -> bool:
        return self.prune is not None or self.stop == "validation"

    def _stop(self, grown: TableTree, validation: HeldOut | None) -> TableTree:
        if self.stop == "chi-square":
            return grown.with_tree(chi_square_stop(grown.tree, self.significance, self.row_weight_))
        if self.stop is None:
            return grown
        assert validation is not None
        passed = grown.statistics_of(*validation)
        stopped = validation_stop(grown.tree, passed, grown.error_criterion, self._error_costs())
        self.validation_error_ = stopped.error
        return grown.with_tree(stopped.tree)

    def _prune(
        self, grown: TableTree, validation: HeldOut | None, table: Table, weight: np.ndarray | None
    ) -> TableTree:
        if self.prune == "reduced-error":
            assert validation is not None
            grown = prune_by_validation(self, grown, validation)
        elif self.prune == "cost-complexity":
            assert validation is not None
            self.path_ = self._path(grown)
            passed = grown.statistics_of(*validation)
            chosen = cost_complexity.choose_by_validation(self.path_, passed, self.standard_errors)
            k, self.validation_error_ = chosen
            self.ccp_alpha_ = float(self.path_.alphas[k])
            grown = grown.with_tree(self.path_.subtree(k))
        return grown


@renamed_parameter("min_gain", "min_impurity_decrease", note="Its values are weighted by the share of rows at the node")
class CartClassifier(_Cart, SingleTreeClassifier):
    """Binary tree: numbers split at a threshold, categories split one, or a set of them, against the rest.

    Parameters
    ----------
    criterion : "gini", "entropy" or "misclassification"
    costs : float (C, C), cost of predicting class j (column) for true class i (row), in the order of `classes_`;
        Gini only. Validation errors are then costs
    max_depth : int, maximum levels below the root; None = no limit
    max_leaf_nodes : int, maximum leaves; splits of the largest impurity decrease are made first; None = no limit
    min_samples_split : int, minimum rows of a node that is split, or float, their share of the training rows
    min_samples_leaf : int, minimum rows of a leaf, or float, their share of the training rows. As in scikit-learn,
        rows count whatever their weights. Of a row with a missing cell, each branch counts its share
    min_weight_fraction_leaf : float, minimum weight of a leaf, as a share of the total. Above 0, all leaf sizes are
        weights, and ``min_samples_leaf`` counts rows of the weight `row_weight_`
    min_impurity_decrease : float, minimum of impurity decrease x share of the training weight at the node, as in
        scikit-learn
    stop : "chi-square", refuse splits whose branches may differ by chance; "validation", refuse splits that do
        not decrease the error on validation rows; or None
    significance : float, of the chi-square test
    prune : "cost-complexity", with the subtree chosen on validation rows; "reduced-error"; or None
    ccp_alpha : float, prune all links up to this strength, without validation rows, as in scikit-learn
    prune_criterion : risk of cost-complexity: "misclassification", "gini" or "entropy"; None = ``criterion``
    standard_errors : float, choose the smallest subtree within this many standard errors of the best
    category_split : "one-vs-rest", one category against the rest; "subset", a set of categories against the rest. For
        two classes the best of all sets is found, as long as min_samples_leaf rules out none. For more it is the best
        of all sets of up to eight categories, else the best along the shares of one class. Ordered categories of a
        DataFrame are split at thresholds either way
    oblique : bool, also try Fisher's linear discriminant of the numeric columns at each node
    missing, unseen, categorical, class_weight, validation_fraction, random_state : as in `Id3Classifier`

    Attributes
    ----------
    classes_, tree_, row_weight_, ties_, validation_error_ : as in `Id3Classifier`
    path_ : PruningPath, and ccp_alpha_ : float, its chosen alpha; with prune="cost-complexity" only

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and regression trees, 1984.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from posepipe.learn import CartClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CartClassifier(max_depth=3, min_impurity_decrease=0.01).fit(X, y)
    >>> tree.get_n_leaves()
    4
    >>> round(tree.score(X, y), 3)
    0.973
    """

    _parameter_constraints: ClassVar[dict] = {
        **CART,
        "criterion": [StrOptions(RISKS)],
        "costs": ["array-like", None],
        "stop": [StrOptions({"chi-square", "validation"}), None],
        "significance": [Interval(Real, 0, 1, closed="right")],
        "prune_criterion": [StrOptions(RISKS), None],
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        *,
        criterion: str = "gini",
        costs: Any = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        stop: str | None = None,
        significance: float = 0.05,
        prune: str | None = None,
        ccp_alpha: float = 0.0,
        prune_criterion: str | None = None,
        standard_errors: float = 0.0,
        category_split: str = "one-vs-rest",
        oblique: bool = False,
        missing: str = "fractional",
        unseen: str = "warn",
        categorical: str | Sequence | None = None,
        class_weight: dict | str | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.costs = costs
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.stop = stop
        self.significance = significance
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.prune_criterion = prune_criterion
        self.standard_errors = standard_errors
        self.category_split = category_split
        self.oblique = oblique
        self.missing = missing
        self.unseen = unseen
        self.categorical = categorical
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class of every row or, with ``costs``, the class of minimum expected cost."""
        if self.costs is None:
            return super().predict(X)
        expected_costs = self.predict_proba(X) @ self._error_costs()
        return self.classes_[np.argmin(expected_costs, axis=1)]

    def _criterion_name(self) -> str:
        return self.criterion

    def _risk(self) -> str:
        return self.prune_criterion or self.criterion

    def _error_costs(self) -> np.ndarray:
        if self.costs is None:
            return NO_COSTS
        n = len(self.classes_)
        try:
            costs = np.asarray(self.costs, np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"costs must be ({n}, {n}) numbers, got {type(self.costs).__name__}") from None
        valid = costs.shape == (n, n) and np.isfinite(costs).all() and (costs >= 0).all()
        if not valid or CRITERIA[self._criterion_name()] != GINI:
            wanted = f"costs must be ({n}, {n}), finite and non-negative, with criterion 'gini'"
            raise ValueError(f"{wanted}, got shape {costs.shape}")
        return costs


@renamed_parameter("min_gain", "min_impurity_decrease", note="Its values are weighted by the share of rows at the node")
class CartRegressor(_Cart, SingleTreeRegressor):
    """Binary regression tree: each leaf predicts its mean.

    Parameters
    ----------
    max_depth, max_leaf_nodes, min_samples_split, min_samples_leaf : as in `CartClassifier`
    min_weight_fraction_leaf : as in `CartClassifier`
    min_impurity_decrease, ccp_alpha, oblique : as in `CartClassifier`, with the squared error as impurity
    category_split : as in `CartClassifier`; the best of all sets is found,
        as long as min_samples_leaf rules out none
    stop : "validation" or None
    prune : "cost-complexity", "reduced-error" or None, as in `CartClassifier`
    standard_errors : float, must be 0, because moments give no standard error of a squared error
    missing, unseen, categorical, validation_fraction, random_state : as in `Id3Classifier`

    Attributes
    ----------
    mean_ : float, mean of the target
    tree_ : TableTree, of the target minus `mean_`
    ties_, validation_error_, path_, ccp_alpha_ : as in `CartClassifier`

    References
    ----------
    Breiman et al. 1984, chapter 8.

    Examples
    --------
    >>> from posepipe.learn import CartRegressor, load_example
    >>> steps = load_example("steps")
    >>> tree = CartRegressor(max_depth=1).fit(steps.rows.astype(float), steps.target)
    >>> tree.predict([[2.0], [9.0]]).round(3).tolist()
    [6.237, 8.912]
    """

    _parameter_constraints: ClassVar[dict] = {
        **CART,
        "stop": [StrOptions({"validation"}), None],
    }

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        stop: str | None = None,
        prune: str | None = None,
        ccp_alpha: float = 0.0,
        standard_errors: float = 0.0,
        category_split: str = "one-vs-rest",
        oblique: bool = False,
        missing: str = "fractional",
        unseen: str = "warn",
        categorical: str | Sequence | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.stop = stop
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.standard_errors = standard_errors
        self.category_split = category_split
        self.oblique = oblique
        self.missing = missing
        self.unseen = unseen
        self.categorical = categorical
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _fit_target(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, int]:
        if self.standard_errors:
            raise ValueError(f"moments give no standard error, got standard_errors={self.standard_errors}; give 0")
        return super()._fit_target(y, sample_weight)

    def _criterion_name(self) -> str:
        return "squared_error"
