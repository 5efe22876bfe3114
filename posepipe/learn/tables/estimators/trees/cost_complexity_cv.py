"""The size of a tree by cross-validation: cost-complexity pruning with an alpha that other rows choose."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from posepipe.learn.pruning import TOLERANCE
from posepipe.learn.tables.estimators.trees.cart import CartClassifier
from posepipe.learn.tables.parameters import NON_NEGATIVE
from posepipe.learn.tables.single_tree import SingleTree
from posepipe.learn.tables.splitting.schema import Schema, with_own_types


class CostComplexityCV(MetaEstimatorMixin, BaseEstimator):
    """A tree pruned by cost-complexity, with alpha chosen by cross-validation.

    The path of all rows has subtree k for alphas from ``alphas_[k]`` to the next. Each fold prunes a tree of the other
    folds at the geometric mean of that interval, and its own rows count the errors. The subtree of minimum mean error
    is kept, and all rows have grown it.

    Parameters
    ----------
    estimator : single tree of this package with ``ccp_alpha``; None = `CartClassifier()`. It is not pruned otherwise
    cv : int, folds, or a splitter or an iterable as in scikit-learn
    standard_errors : float, take the smallest subtree whose mean error is within this many standard errors of the
        minimum; 1 is Breiman's rule. The standard error is that of the folds' mean

    Attributes
    ----------
    alphas_ : float64 (S,), of the path of all rows
    leaves_ : int64 (S,), leaves of its subtrees
    cv_errors_ : float64 (S, folds), error rates, mean costs or mean squared errors of each fold
    ccp_alpha_ : float, the chosen alpha
    estimator_ : the pruned tree
    classes_ : (C,), of a classifier

    References
    ----------
    Breiman et al. 1984, sections 3.4.2 and 3.4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from posepipe.learn import CartClassifier, CostComplexityCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = CostComplexityCV(CartClassifier(), standard_errors=1).fit(X, y)
    >>> bool(tree.estimator_.get_n_leaves() < tree.leaves_[0])
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "cost_complexity_pruning_path"]), None],
        "cv": ["cv_object"],
        "standard_errors": NON_NEGATIVE,
    }

    def __init__(self, estimator: Any = None, *, cv: Any = 10, standard_errors: float = 0.0) -> None:
        self.estimator = estimator
        self.cv = cv
        self.standard_errors = standard_errors

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._learner())
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags = inner.input_tags
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose alpha by cross-validation and grow the pruned tree on all rows.

        Parameters
        ----------
        X, y, sample_weight : as in the ``fit`` of the tree

        Raises
        ------
        ValueError, TypeError
            For an invalid table, parameter or target.
        """
        self._validate_params()
        learner = self._learner()
        X, y, sample_weight = indexable(X, y, sample_weight)
        sample_weight = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        path = clone(learner).cost_complexity_pruning_path(X, y, sample_weight)
        validate_data(self, with_own_types(X), skip_check_array=True)
        y = np.ravel(y)
        self.alphas_, self.leaves_ = path.alphas, path.leaves
        between = np.append(np.sqrt(path.alphas[:-1] * path.alphas[1:]), np.inf)  # of the last: the root alone
        folds = list(check_cv(self.cv, y, classifier=is_classifier(learner)).split(X, y))
        unpruned, schema = _unpruned(learner), clone(learner).schema_of(X)
        errors = [self._errors(unpruned, schema, X, y, sample_weight, a, b, between) for a, b in folds]
        self.cv_errors_ = np.stack(errors, axis=1)
        mean = self.cv_errors_.mean(axis=1)
        allowed = mean.min() + TOLERANCE * mean.max()
        if self.standard_errors and len(folds) > 1:
            deviation = self.cv_errors_[np.argmin(mean)].std(ddof=1)
            allowed += self.standard_errors * deviation / np.sqrt(len(folds))
        self.ccp_alpha_ = float(path.alphas[np.flatnonzero(mean <= allowed)[-1]])
        self.estimator_ = unpruned.set_params(ccp_alpha=self.ccp_alpha_).fit(X, y, sample_weight)
        if is_classifier(learner):
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class or number of every row, (N,)."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(lambda self: is_classifier(self._learner()))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities: float64 (N, C), columns as in `classes_`."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or the coefficient of determination."""
        check_is_fitted(self)
        return self.estimator_.score(X, y, sample_weight)

    def _learner(self) -> Any:
        return CartClassifier() if self.estimator is None else self.estimator

    def _errors(
        self,
        learner: SingleTree,
        schema: Schema,
        X: Any,
        y: np.ndarray,
        sample_weight: np.ndarray | None,
        train: np.ndarray,
        test: np.ndarray,
        alphas: np.ndarray,
    ) -> np.ndarray:
        """Error on the rows ``test`` of the subtrees that ``train`` grows, one for each alpha: float64 (S,)."""
        own = None if sample_weight is None else sample_weight[train]
        full = clone(learner)
        full.known_schema = schema
        full.fit(_safe_indexing(X, train), y[train], own)
        path = full._path(full.tree_)
        target, weight = y[test], np.ones(len(test))
        if sample_weight is not None:
            weight = sample_weight[test]
        told = np.isin(target, full.classes_) if is_classifier(learner) else np.ones(len(test), bool)
        if not weight[told].any():
            return np.ones(len(alphas))
        columns = full._encode(_safe_indexing(X, test[told]))
        passed = full.tree_.statistics_of(columns, full._encode_target(target[told]), weight[told])
        errors = path.errors(passed)[np.searchsorted(path.alphas, alphas, side="right") - 1]
        share = weight[told].sum() / weight.sum()  # no subtree knows a class that only these rows have
        return errors * share + (1 - share)


def _unpruned(learner: SingleTree) -> SingleTree:
    """Copy of a learner that neither stops nor prunes in another way, which would leave the path."""
    own = {"prune": None, "stop": None, "ccp_alpha": 0.0}
    known = learner.get_params(deep=False)
    return clone(learner).set_params(**{name: value for name, value in own.items() if name in known})
