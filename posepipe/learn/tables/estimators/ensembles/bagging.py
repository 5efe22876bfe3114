"""Bagging (Breiman 1996): an ensemble of copies of any learner, each fitted on a bag of the rows."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from posepipe.learn.tables.estimators.ensembles.out_of_bag import (
    OutOfBag,
    determination,
    draw_bag,
    mean_loss,
    row_losses,
)
from posepipe.learn.tables.estimators.ensembles.voting import VOTES, vote_shares, vote_weights, votes_of
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.parameters import COUNT
from posepipe.learn.tables.splitting.schema import refuse_missing_targets
from posepipe.learn.tables.table_model import TableModel

BAGGING: dict[str, list[Any]] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "n_estimators": COUNT,
    "max_samples": [*COUNT, Interval(RealNotInt, 0.0, 1.0, closed="right")],
    "bootstrap": ["boolean"],
    "random_state": ["random_state"],
}
"""Parameters of both ensembles."""


class _Bagging(BaseEstimator):
    """Shared parts of both ensembles. Rows reach the learner unchanged; the table is not encoded here."""

    estimator: Any
    n_estimators: int
    max_samples: float
    bootstrap: bool
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._learner()).input_tags
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the copies.

        Parameters
        ----------
        X : (N, F), any table that the learner accepts
        y : (N,)
        sample_weight : (N,), non-negative; rows of weight 0 are left out. If the learner supports weights, it gets
            weight x number of draws; otherwise rows are drawn with probabilities proportional to the weights

        Raises
        ------
        ValueError
            For an invalid parameter, or weights that cannot be used. Errors of the learner pass through.
        """
        X, y, weight = self._check(X, y, sample_weight)
        rows = np.flatnonzero(weight)
        target = self._fit_target(y, weight)
        learner = self._learner()
        takes_weight = has_fit_parameter(learner, "sample_weight")
        if not takes_weight and sample_weight is not None and not self.bootstrap:
            raise ValueError(f"{type(learner).__name__} takes no sample_weight: give none, or bootstrap=True")
        by_weight = not takes_weight and sample_weight is not None
        probabilities = weight[rows] / weight[rows].sum() if by_weight else None
        n_drawn = self._bag_size(len(rows))
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        oob = OutOfBag(len(y), self._n_outputs())
        schema = clone(learner).schema_of(X) if isinstance(learner, TableModel) else None
        self.estimators_ = []
        for number in range(self.n_estimators):
            rng = np.random.default_rng([seed, number])
            draws = np.zeros(len(y), np.int64)
            draws[rows] = draw_bag(len(rows), n_drawn, self.bootstrap, rng, probabilities)
            member = _with_seeds(clone(learner), rng)
            if isinstance(member, TableModel):
                member.known_schema = schema
            self.estimators_.append(self._fit_member(member, X, y, draws, weight if takes_weight else None))
            oob_rows = rows[draws[rows] == 0]
            if len(oob_rows):
                oob.add(oob_rows, self._member_votes(self.estimators_[-1], _safe_indexing(X, oob_rows)))
        self._set_oob(oob.mean(), target, weight)
        return self

    def _fit_member(self, member: Any, X: Any, y: np.ndarray, draws: np.ndarray, weight: np.ndarray | None) -> Any:
        if weight is None:
            drawn = np.repeat(np.arange(len(y)), draws)
            return member.fit(_safe_indexing(X, drawn), y[drawn])
        drawn = np.flatnonzero(draws)
        return member.fit(_safe_indexing(X, drawn), y[drawn], sample_weight=(weight * draws)[drawn])

    def _check(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        self._validate_params()
        if _num_samples(X) < 1:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required")
        validate_data(self, X, skip_check_array=True)  # stores the number of columns and their names
        refuse_missing_targets(y)
        y = _check_y(y, y_numeric=isinstance(self, RegressorMixin), estimator=self)
        X, y = indexable(X, y)
        weight = np.ones(len(y)) if sample_weight is None else _check_sample_weight(sample_weight, y[:, None])
        if (weight < 0).any() or not weight.any():
            raise ValueError("sample_weight must be non-negative, and above 0 for some rows")
        return X, y, weight

    def _bag_size(self, n_rows: int) -> int:
        size = self.max_samples
        is_count = isinstance(size, numbers.Integral)
        if is_count and size > n_rows:
            raise ValueError(
                f"max_samples must be a whole number of the {n_rows} rows or a share up to 1.0, got {size!r}"
            )
        return int(size) if is_count else max(1, int(size * n_rows))

    def _mean_predictions(self, X: Any) -> np.ndarray:
        """Mean votes, or mean number, of all copies: float64 (N, K)."""
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) == 1:
            raise ValueError("X must be a table, got one dimension. Reshape your data: X.reshape(1, -1) is one row")
        validate_data(self, X, skip_check_array=True, reset=False)
        total = np.zeros((_num_samples(X), self._n_outputs()))
        for member in self.estimators_:
            total += self._member_votes(member, X)
        return total / len(self.estimators_)

    def _learner(self) -> Any:
        raise NotImplementedError

    def _fit_target(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _n_outputs(self) -> int:
        raise NotImplementedError

    def _member_votes(self, member: Any, X: Any) -> np.ndarray:
        """Votes, or predicted number, of one copy: float64 (N, K)."""
        raise NotImplementedError

    def _set_oob(self, mean: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
        """Store the mean out-of-bag predictions, (N, K), and their error."""
        raise NotImplementedError


class BaggingClassifier(ClassifierMixin, _Bagging):
    """Ensemble of copies of a classifier, fitted on bags of the rows, that vote.

    Parameters
    ----------
    estimator : any classifier; None = `CartClassifier`
    n_estimators : int, number of copies
    max_samples : int, rows drawn for each bag, or float, their share of the rows
    bootstrap : bool, draw with replacement
    vote : "posterior", mean of the copies' probabilities where they have them; "majority", one vote per copy
    vote_weight : None, or "inverse-frequency" to weight a vote by the inverse share of its class in training
    random_state : int, RandomState or None, seed of the bags and the copies

    Attributes
    ----------
    estimators_ : list of the fitted copies; a bag of a single class has a constant classifier
    classes_ : (C,), class labels
    vote_weights_ : float64 (C,)
    oob_decision_function_ : float64 (N, C), as `predict_proba`, by the copies without the row in their bag; NaN for
        a row that is in every bag or has weight 0
    oob_error_ : float, weighted error rate of these predictions; NaN if every row is in every bag
    oob_score_ : float, 1 - `oob_error_`

    References
    ----------
    Breiman, Bagging predictors, Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from posepipe.learn import BaggingClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> bagging = BaggingClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> bool(bagging.oob_error_ < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **BAGGING,
        "vote": [StrOptions(set(VOTES))],
        "vote_weight": [StrOptions({"inverse-frequency"}), None],
    }

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
        """Predict the class of maximum weighted votes for every row, the first one of a tie."""
        posteriors = self.predict_proba(X)
        return self.classes_[np.argmax(posteriors, axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the shares of weighted votes: float64 (N, C), columns as in `classes_`."""
        return vote_shares(self._mean_predictions(X), self.vote_weights_)

    def _learner(self) -> Any:
        return CartClassifier() if self.estimator is None else self.estimator

    def _fit_target(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.vote_weights_ = vote_weights(self.vote_weight, np.bincount(codes, weight))
        return codes

    def _fit_member(self, member: Any, X: Any, y: np.ndarray, draws: np.ndarray, weight: np.ndarray | None) -> Any:
        if len(self.classes_) > 1 and len(np.unique(y[draws > 0])) == 1:
            member = DummyClassifier(strategy="most_frequent")  # many learners refuse a single class
        return super()._fit_member(member, X, y, draws, weight)

    def _n_outputs(self) -> int:
        return len(self.classes_)

    def _member_votes(self, member: Any, X: Any) -> np.ndarray:
        out = np.zeros((_num_samples(X), len(self.classes_)))
        if hasattr(member, "predict_proba"):
            present = np.searchsorted(self.classes_, member.classes_)  # a bag may lack classes
            out[:, present] = member.predict_proba(X)
            return votes_of(self.vote, out)
        out[np.arange(len(out)), np.searchsorted(self.classes_, member.predict(X))] = 1
        return out

    def _set_oob(self, mean: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
        self.oob_decision_function_ = vote_shares(mean, self.vote_weights_)
        self.oob_error_ = mean_loss(row_losses(self.oob_decision_function_, target), weight)
        self.oob_score_ = 1 - self.oob_error_


class BaggingRegressor(RegressorMixin, _Bagging):
    """Ensemble of copies of a regressor, fitted on bags of the rows, that are averaged.

    Parameters
    ----------
    estimator : any regressor; None = `CartRegressor`
    n_estimators, max_samples, bootstrap, random_state : as in `BaggingClassifier`

    Attributes
    ----------
    estimators_ : list of the fitted copies
    oob_prediction_ : float64 (N,), mean of the copies without the row in their bag; NaN as in `BaggingClassifier`
    oob_error_ : float, weighted mean squared error of these predictions; NaN if every row is in every bag
    oob_score_ : float, their coefficient of determination

    References
    ----------
    Breiman, Bagging predictors, Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from posepipe.learn import BaggingRegressor, CartRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bagging = BaggingRegressor(CartRegressor(min_samples_leaf=10), n_estimators=20, random_state=0).fit(X, y)
    >>> bool(bagging.oob_error_ < 0.7 * y.var())
    True
    """

    _parameter_constraints: ClassVar[dict] = BAGGING

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
        """Predict the mean of all copies for every row: float64 (N,)."""
        return self._mean_predictions(X)[:, 0]

    def _learner(self) -> Any:
        return CartRegressor() if self.estimator is None else self.estimator

    def _fit_target(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return y.astype(np.float64)

    def _n_outputs(self) -> int:
        return 1

    def _member_votes(self, member: Any, X: Any) -> np.ndarray:
        return np.asarray(member.predict(X), np.float64).reshape(-1, 1)

    def _set_oob(self, mean: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
        self.oob_prediction_ = mean[:, 0]
        self.oob_error_ = mean_loss(row_losses(self.oob_prediction_, target), weight)
        self.oob_score_ = determination(self.oob_prediction_, target, weight)


def _with_seeds(member: Any, rng: np.random.Generator) -> Any:
    """Set the seeds of a learner and of the learners nested in it."""
    names = sorted(name for name in member.get_params() if name.rpartition("__")[2] == "random_state")
    return member.set_params(**{name: int(rng.integers(1 << 31)) for name in names})
