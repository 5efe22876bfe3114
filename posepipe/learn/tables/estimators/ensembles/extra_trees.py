"""Extremely randomised trees (Geurts, Ernst and Wehenkel 2006): forests whose thresholds are drawn, not searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor


def _without_combine(constraints: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: allowed for name, allowed in constraints.items() if name != "combine"}


class ExtraTreesClassifier(RandomForestClassifier):
    """Extremely randomised trees for classes.

    Each node draws one random split of each of ``max_features`` columns and takes the best of these: a threshold
    between the least and the greatest number of the node, or a category of one of its rows against the rest. Trees
    grow on all rows.

    Parameters
    ----------
    n_estimators, criterion, max_features : as in `RandomForestClassifier`
    max_depth, max_leaf_nodes, min_samples_split : as in `RandomForestClassifier`
    min_samples_leaf, min_weight_fraction_leaf : as in `RandomForestClassifier`
    bootstrap : bool, draw a bag of rows for each tree; out-of-bag predictions and permutation importances need bags
    vote, class_weight, vote_weight, importances : as in `RandomForestClassifier`
    oob_score, missing, unseen, categorical, random_state : as in `RandomForestClassifier`

    Attributes
    ----------
    trees_, estimators_, classes_ : as in `RandomForestClassifier`
    oob_decision_function_, oob_error_, oob_score_, strength_, correlation_, bound_ : likewise, with ``bootstrap=True``

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from posepipe.learn import ExtraTreesClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = ExtraTreesClassifier(n_estimators=50, random_state=0).fit(X[::2], y[::2])
    >>> bool(forest.score(X[1::2], y[1::2]) > 0.95)
    True
    """

    random_cuts = True
    combine = None
    _parameter_constraints: ClassVar[dict] = _without_combine(RandomForestClassifier._parameter_constraints)

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        criterion: str = "gini",
        max_features: str | float | None = "sqrt",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        bootstrap: bool = False,
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
        super().__init__(
            n_estimators=n_estimators,
            criterion=criterion,
            max_features=max_features,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            bootstrap=bootstrap,
            vote=vote,
            class_weight=class_weight,
            vote_weight=vote_weight,
            importances=importances,
            oob_score=oob_score,
            missing=missing,
            unseen=unseen,
            categorical=categorical,
            random_state=random_state,
        )


class ExtraTreesRegressor(RandomForestRegressor):
    """Extremely randomised trees for numbers: splits as in `ExtraTreesClassifier`, squared error as impurity.

    Parameters
    ----------
    n_estimators : as in `ExtraTreesClassifier`
    max_features : as in `RandomForestRegressor`; all columns by default, as in Geurts, Ernst and Wehenkel 2006
    max_depth, max_leaf_nodes, min_samples_split : as in `ExtraTreesClassifier`
    min_samples_leaf, min_weight_fraction_leaf, bootstrap, importances : as in `ExtraTreesClassifier`
    oob_score, missing, unseen, categorical, random_state : as in `ExtraTreesClassifier`

    Attributes
    ----------
    mean_, trees_, estimators_ : as in `RandomForestRegressor`
    oob_prediction_, oob_error_, oob_score_ : likewise, with ``bootstrap=True``

    References
    ----------
    Geurts, Ernst and Wehenkel 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from posepipe.learn import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ExtraTreesRegressor(n_estimators=50, min_samples_leaf=3, random_state=0).fit(X[::2], y[::2])
    >>> bool(forest.score(X[1::2], y[1::2]) > 0.35)
    True
    """

    random_cuts = True
    combine = None
    _parameter_constraints: ClassVar[dict] = _without_combine(RandomForestRegressor._parameter_constraints)

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_features: str | float | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        bootstrap: bool = False,
        importances: str = "impurity",
        oob_score: bool = True,
        missing: str = "fractional",
        unseen: str = "warn",
        categorical: str | Sequence | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            max_features=max_features,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            bootstrap=bootstrap,
            importances=importances,
            oob_score=oob_score,
            missing=missing,
            unseen=unseen,
            categorical=categorical,
            random_state=random_state,
        )
