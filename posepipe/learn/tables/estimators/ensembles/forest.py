"""Random forests (Breiman 2001): trees on bags of rows, with random candidate columns at each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from posepipe.learn.tables.bounds import strength_bound
from posepipe.learn.tables.estimators.ensembles.forest_base import FOREST, Forest
from posepipe.learn.tables.estimators.ensembles.out_of_bag import (
    OutOfBag,
    OutOfBagVotes,
    determination,
    mean_loss,
    row_losses,
)
from posepipe.learn.tables.estimators.ensembles.voting import VOTES, vote_shares, vote_weights, votes_of
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.parameters import CLASS_WEIGHT
from posepipe.learn.tables.renamed_parameters import renamed_parameter
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.table_model import ClassifierTable, RegressorTable


@renamed_parameter("n_trees", "n_estimators")
class RandomForestClassifier(Forest, ClassifierTable):
    """Random forest for classes.

    Parameters
    ----------
    n_estimators : int, number of trees
    criterion : "gini" or "entropy"
    max_features : candidate columns, drawn anew at each node: "sqrt" or "log2" of their number, an int, a float share,
        or None = all. If none of them splits the node, all columns are tried
    combine : None = splits on single columns (Forest-RI); or int L = splits on sums of L random columns, divided by
        their standard deviations, with coefficients drawn from [-1, 1] (Forest-RC). Each node tries
        ``max_features`` of these sums
    max_depth : int, maximum levels below the root; None = no limit
    max_leaf_nodes : int, maximum leaves of a tree, as in `CartClassifier`; None = no limit
    min_samples_split : int, minimum rows of a node that is split, or float, their share of the training rows
    min_samples_leaf : int, minimum rows of a leaf, whatever their weights, or float, their share of the training rows
    min_weight_fraction_leaf : float, minimum weight of a leaf, as a share of the total. Class weights have little
        effect on pure leaves and need larger ones
    bootstrap : bool, draw a bag of N of the N rows with replacement for each tree
    vote : "posterior", mean of the class shares of the leaves; "majority", one vote per tree, as in Breiman 2001
    class_weight : {class: weight} or "balanced"; row weights of growth
    vote_weight : None, or "inverse-frequency" to weight a vote by the inverse share of its class in training
    importances : "impurity", or "permutation" at the cost of more predictions; see `feature_importances_`
    oob_score : bool, predict out-of-bag rows
    missing, unseen, categorical : as in `CartClassifier`; categories are split one against the rest
    random_state : int, RandomState or None; the forest does not depend on the number of threads

    Attributes
    ----------
    trees_ : list of TableTree
    estimators_ : list of `CartClassifier`, the same trees for text, drawings and explanations
    classes_ : (C,), class labels
    vote_weights_ : float64 (C,)
    oob_decision_function_ : float64 (N, C), as `predict_proba`, by the trees without the row in their bag; NaN for a
        row that is in every bag or has weight 0
    oob_error_ : float, weighted error rate of these predictions
    oob_score_ : float, 1 - `oob_error_`, as in scikit-learn
    strength_, correlation_ : float, see `strength_and_correlation` in `out_of_bag`
    bound_ : float, bound on the error as the number of trees grows

    Notes
    -----
    Trees grow in parallel, in as many threads as Numba uses (``numba.set_num_threads``).

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from posepipe.learn import RandomForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> bool(forest.oob_error_ < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **FOREST,
        "criterion": [StrOptions({"gini", "entropy"})],
        "vote": [StrOptions(set(VOTES))],
        "vote_weight": [StrOptions({"inverse-frequency"}), None],
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        criterion: str = "gini",
        max_features: str | float | None = "sqrt",
        combine: int | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        bootstrap: bool = True,
        vote: str = "posterior",
        class_weight: dict | str | None = None,
        vote_weight: str | None = None,
        importances: str = "impurity",
        oob_score: bool = True,
        missing: str = "fractional",
        unseen: str = "warn",
        categorical: str | Sequence | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.combine = combine
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
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
        self.unseen = unseen
        self.categorical = categorical
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the shares of weighted votes: float64 (N, C), columns as in `classes_`."""
        return vote_shares(self._mean_predictions(X), self.vote_weights_)

    def _fit_target(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, int]:
        codes, weight, n_classes = super()._fit_target(y, sample_weight)
        self.vote_weights_ = vote_weights(self.vote_weight, np.bincount(codes, weight, n_classes))
        return codes, weight, n_classes

    def _add_predictions(self, tree: TableTree, columns: np.ndarray, total: np.ndarray) -> None:
        if self.vote == "posterior":
            super()._add_predictions(tree, columns, total)
        else:
            posteriors = np.zeros(total.shape)
            super()._add_predictions(tree, columns, posteriors)
            total += votes_of(self.vote, posteriors)

    def _criterion_name(self) -> str:
        return self.criterion

    def _single_tree(self) -> CartClassifier:
        return CartClassifier()

    def _new_oob(self, n_rows: int) -> OutOfBagVotes:
        return OutOfBagVotes(n_rows, len(self.classes_), self.vote)

    def _set_oob(self, oob: OutOfBagVotes, rows: np.ndarray, target: np.ndarray, given: np.ndarray) -> None:
        self.oob_decision_function_ = np.full((len(target), len(self.classes_)), np.nan)
        self.oob_decision_function_[rows] = vote_shares(oob.mean(), self.vote_weights_)
        self.oob_error_ = mean_loss(row_losses(self.oob_decision_function_, target), given)
        self.oob_score_ = 1 - self.oob_error_
        self.strength_, self.correlation_ = oob.strength_and_correlation(target[rows])
        self.bound_ = strength_bound(self.strength_, min(self.correlation_, 1)) if self.oob_error_ >= 0 else np.nan


@renamed_parameter("n_trees", "n_estimators")
class RandomForestRegressor(Forest, RegressorTable):
    """Random forest for numbers: the mean of regression trees.

    Parameters
    ----------
    n_estimators, max_features, combine : as in `RandomForestClassifier`, with squared error as impurity; a third of the
        columns is tried by default, as in Breiman 2001
    max_depth, max_leaf_nodes, min_samples_split : as in `RandomForestClassifier`
    min_samples_leaf, min_weight_fraction_leaf, bootstrap, importances : as in `RandomForestClassifier`
    oob_score, missing, unseen, categorical, random_state : as in `RandomForestClassifier`

    Attributes
    ----------
    mean_ : float, mean of the target
    trees_ : list of TableTree, of the target minus `mean_`
    estimators_ : list of `CartRegressor`, the same trees
    oob_prediction_ : float64 (N,), mean of the trees without the row in their bag; NaN as in the classifier
    oob_error_ : float, weighted mean squared error of these predictions
    oob_score_ : float, their coefficient of determination, as in scikit-learn

    References
    ----------
    Breiman 2001, sections 11 and 12.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from posepipe.learn import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> bool(forest.oob_error_ < 0.7 * y.var())
    True
    """

    _parameter_constraints: ClassVar[dict] = FOREST

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_features: str | float | None = 1 / 3,
        combine: int | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        bootstrap: bool = True,
        importances: str = "impurity",
        oob_score: bool = True,
        missing: str = "fractional",
        unseen: str = "warn",
        categorical: str | Sequence | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.combine = combine
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.bootstrap = bootstrap
        self.importances = importances
        self.oob_score = oob_score
        self.missing = missing
        self.unseen = unseen
        self.categorical = categorical
        self.random_state = random_state

    def predict(self, X: Any) -> np.ndarray:
        """Predict the mean of all trees for every row: float64 (N,)."""
        return self._mean_predictions(X)[:, 0] + self.mean_

    def _criterion_name(self) -> str:
        return "squared_error"

    def _single_tree(self) -> CartRegressor:
        return CartRegressor()

    def _new_oob(self, n_rows: int) -> OutOfBag:
        return OutOfBag(n_rows, 1)

    def _set_oob(self, oob: OutOfBag, rows: np.ndarray, target: np.ndarray, given: np.ndarray) -> None:
        self.oob_prediction_ = np.full(len(target), np.nan)
        self.oob_prediction_[rows] = oob.mean()[:, 0] + self.mean_
        self.oob_error_ = mean_loss(row_losses(self.oob_prediction_, target + self.mean_), given)
        self.oob_score_ = determination(self.oob_prediction_, target + self.mean_, given)
