"""Bagging (Breiman 1996): copies of any learner, each fitted on a bag of the rows, that vote or are averaged."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from posepipe.learn.tables.estimators.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.out_of_bag import OutOfBag, draw_bag, mean_loss, row_losses
from posepipe.learn.tables.estimators.voting import ballot, check_votes, elect, vote_weights


class _Bagging(BaseEstimator):
    """What both have in common. The table is never looked into: rows of it are handed to the learner as they are."""

    estimator: Any
    n_estimators: int
    max_samples: float
    bootstrap: bool
    random_state: Any

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._learner()).input_tags
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the copies.

        Parameters
        ----------
        X : (N, F), whatever the learner takes
        y : (N,)
        sample_weight : (N,), not negative; rows of weight 0 are left out. A learner that takes weights gets them,
            times how often a row was drawn; for another, rows are drawn with chances in proportion to them

        Raises
        ------
        ValueError
            For a parameter that does not fit, or weights that go nowhere. And what the learner raises.
        """
        X, y, weight = self._check(X, y, sample_weight)
        rows = np.flatnonzero(weight)
        target = self._learn_target(y, weight)
        learner = self._learner()
        weighs = has_fit_parameter(learner, "sample_weight")
        if not weighs and sample_weight is not None and not self.bootstrap:
            raise ValueError(f"{type(learner).__name__} takes no sample_weight: give none, or bootstrap=True")
        chances = weight[rows] / weight[rows].sum() if not weighs and sample_weight is not None else None
        n_drawn = self._bag_size(len(rows))
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        outside = OutOfBag(len(y), self._n_answers())
        self.estimators_ = []
        for number in range(self.n_estimators):
            rng = np.random.default_rng([seed, number])
            times = np.zeros(len(y), np.int64)
            times[rows] = draw_bag(len(rows), n_drawn, self.bootstrap, rng, chances)
            member = _seeded(clone(learner), rng)
            self.estimators_.append(self._fit_member(member, X, y, times, weight if weighs else None))
            left_out = rows[times[rows] == 0]
            if len(left_out):
                outside.add(left_out, self._answers(self.estimators_[-1], _safe_indexing(X, left_out)))
        self._tell(outside.mean(), target, weight)
        return self

    def _fit_member(self, member: Any, X: Any, y: np.ndarray, times: np.ndarray, weight: np.ndarray | None) -> Any:
        if weight is None:
            drawn = np.repeat(np.arange(len(y)), times)
            return member.fit(_safe_indexing(X, drawn), y[drawn])
        drawn = np.flatnonzero(times)
        return member.fit(_safe_indexing(X, drawn), y[drawn], sample_weight=(weight * times)[drawn])

    def _check(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators must be at least 1, got {self.n_estimators}")
        validate_data(self, X, skip_check_array=True)  # notes the number of columns and their names
        y = _check_y(y, y_numeric=isinstance(self, RegressorMixin), estimator=self)
        X, y = indexable(X, y)
        weight = np.ones(len(y)) if sample_weight is None else _check_sample_weight(sample_weight, y[:, None])
        if (weight < 0).any() or not weight.any():
            raise ValueError("sample_weight must not be negative, nor 0 for all rows")
        return X, y, weight

    def _bag_size(self, n_rows: int) -> int:
        wanted = self.max_samples
        whole = isinstance(wanted, numbers.Integral)
        if not (1 <= wanted <= n_rows if whole else 0 < wanted <= 1):
            raise ValueError(
                f"max_samples must be a whole number of the {n_rows} rows or a share up to 1.0, got {wanted!r}"
            )
        return int(wanted) if whole else max(1, int(wanted * n_rows))

    def _mean_answers(self, X: Any) -> np.ndarray:
        """Mean ballot, or number, of all copies: float64 (N, K)."""
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) == 1:
            raise ValueError("X must be a table, got one dimension. Reshape your data: X.reshape(1, -1) is one row")
        validate_data(self, X, skip_check_array=True, reset=False)
        total = np.zeros((_num_samples(X), self._n_answers()))
        for member in self.estimators_:
            total += self._answers(member, X)
        return total / len(self.estimators_)

    def _learner(self) -> Any:
        raise NotImplementedError

    def _learn_target(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _n_answers(self) -> int:
        raise NotImplementedError

    def _answers(self, member: Any, X: Any) -> np.ndarray:
        """What a copy says of rows: float64 (N, K)."""
        raise NotImplementedError

    def _tell(self, outside: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
        """Keep what the copies say of rows outside their bags, (N, K)."""
        raise NotImplementedError


class BaggingClassifier(ClassifierMixin, _Bagging):
    """Copies of a classifier that vote.

    Parameters
    ----------
    estimator : any classifier; None = `CartClassifier`
    n_estimators : how many copies
    max_samples : rows drawn for each bag: a whole number, or a share of the rows
    bootstrap : whether a row may be drawn again
    vote : "posterior" = the mean of what the copies hold probable, as far as they do; "majority" = one vote a copy
    vote_weight : "inverse-frequency": a vote counts the inverse of its class's share of the training weight
    random_state : seed of the bags, and of the copies

    Attributes
    ----------
    estimators_ : list of fitted copies; a bag that holds one class only has a constant in its place
    classes_ : (C,)
    vote_weights_ : float64 (C,)
    oob_decision_function_ : float64 (N, C), as `predict_proba` by the copies that did not see the row; NaN for a row
        that was in every bag, or has weight 0
    oob_error_ : share of rows, by weight, that these copies get wrong; NaN when no row was left out

    References
    ----------
    Breiman, Bagging predictors, Machine Learning 24, 1996.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 10,
        max_samples: float = 1.0,
        bootstrap: bool = True,
        vote: str = "posterior",
        vote_weight: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.vote = vote
        self.vote_weight = vote_weight
        self.random_state = random_state

    def predict(self, X: Any) -> np.ndarray:
        """The class of most votes, for every row; the first of equals."""
        posteriors = self.predict_proba(X)
        return self.classes_[np.argmax(posteriors, axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Share of the weighted votes for every class: float64 (N, C), columns as in `classes_`."""
        return elect(self._mean_answers(X), self.vote_weights_)

    def _learner(self) -> Any:
        return CartClassifier() if self.estimator is None else self.estimator

    def _learn_target(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        check_votes(self.vote, self.vote_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.vote_weights_ = vote_weights(self.vote_weight, np.bincount(codes, weight))
        return codes

    def _fit_member(self, member: Any, X: Any, y: np.ndarray, times: np.ndarray, weight: np.ndarray | None) -> Any:
        if len(self.classes_) > 1 and len(np.unique(y[times > 0])) == 1:
            member = DummyClassifier(strategy="most_frequent")  # many learners refuse a single class
        return super()._fit_member(member, X, y, times, weight)

    def _n_answers(self) -> int:
        return len(self.classes_)

    def _answers(self, member: Any, X: Any) -> np.ndarray:
        out = np.zeros((_num_samples(X), len(self.classes_)))
        if hasattr(member, "predict_proba"):
            own = np.searchsorted(self.classes_, member.classes_)  # a bag may miss classes
            out[:, own] = member.predict_proba(X)
            return ballot(self.vote, out)
        out[np.arange(len(out)), np.searchsorted(self.classes_, member.predict(X))] = 1
        return out

    def _tell(self, outside: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
        self.oob_decision_function_ = elect(outside, self.vote_weights_)
        self.oob_error_ = mean_loss(row_losses(self.oob_decision_function_, target), weight)


class BaggingRegressor(RegressorMixin, _Bagging):
    """Copies of a regressor whose mean predicts a number.

    Parameters are those of `BaggingClassifier`, without votes; the learner is `CartRegressor` unless given.

    Attributes
    ----------
    estimators_ : list of fitted copies
    oob_prediction_ : float64 (N,), mean of the copies that did not see the row; NaN as in the classifier
    oob_error_ : mean squared error, by weight, of these predictions; NaN when no row was left out

    References
    ----------
    Breiman, Bagging predictors, Machine Learning 24, 1996.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 10,
        max_samples: float = 1.0,
        bootstrap: bool = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.random_state = random_state

    def predict(self, X: Any) -> np.ndarray:
        """Mean of all copies, for every row: float64 (N,)."""
        return self._mean_answers(X)[:, 0]

    def _learner(self) -> Any:
        return CartRegressor() if self.estimator is None else self.estimator

    def _learn_target(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return y.astype(np.float64)

    def _n_answers(self) -> int:
        return 1

    def _answers(self, member: Any, X: Any) -> np.ndarray:
        return np.asarray(member.predict(X), np.float64).reshape(-1, 1)

    def _tell(self, outside: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
        self.oob_prediction_ = outside[:, 0]
        self.oob_error_ = mean_loss(row_losses(self.oob_prediction_, target), weight)


def _seeded(member: Any, rng: np.random.Generator) -> Any:
    """Give a learner, and those that it holds, seeds of their own."""
    names = sorted(name for name in member.get_params() if name.rpartition("__")[2] == "random_state")
    return member.set_params(**{name: int(rng.integers(1 << 31)) for name in names})
