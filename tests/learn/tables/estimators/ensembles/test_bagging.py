"""Bagging of learners of all kinds, and of tables that only the learner can read."""

from __future__ import annotations

import math
import warnings

import numba
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from posepipe.learn.tables.estimators.ensembles.bagging import BaggingClassifier, BaggingRegressor
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor

BAGS_DRAW_ROWS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a bag draws two rows of weight 1 one by one, a row of 2 at once"
    for kind in ("dense", "sparse")
}

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes interpreted; smaller ones remain")


def table(n_rows=300, **parameters):
    """Rows of two classes, and others to be predicted."""
    X, y = make_classification(2 * n_rows, 8, n_informative=4, random_state=0, **parameters)
    return X[:n_rows], X[n_rows:], y[:n_rows], y[n_rows:]


class Witness(ClassifierMixin, BaseEstimator):
    """Stores its training rows and predicts the first class."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class WeighedWitness(Witness):
    """The same, for a learner that takes weights."""

    def fit(self, X, y, sample_weight=None):
        self.weight_ = sample_weight
        return super().fit(X, y)


@compiled
@pytest.mark.parametrize(
    "bagging",
    [BaggingClassifier(), BaggingRegressor(), BaggingClassifier(KNeighborsClassifier(2), n_estimators=3)],
    ids=["classifier", "regressor", "of neighbours"],
)
def test_scikit_learn_s_checks_pass(bagging):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(bagging, expected_failed_checks=BAGS_DRAW_ROWS)


def test_parameters_survive_cloning():
    bagging = clone(BaggingClassifier(CartClassifier(max_depth=3), n_estimators=4, vote="majority"))
    assert bagging.get_params()["estimator__max_depth"] == 3
    assert bagging.set_params(estimator__max_depth=2).estimator.max_depth == 2


# Accuracy, and its out-of-bag estimate


@compiled
def test_bagged_trees_err_less_than_one():
    X, test, y, test_y = table(flip_y=0.1)
    alone = CartClassifier().fit(X, y).score(test, test_y)
    bagging = BaggingClassifier(n_estimators=30, random_state=0).fit(X, y)
    assert bagging.score(test, test_y) > alone + 0.02


@compiled
def test_bagged_trees_of_numbers_err_less_than_one():
    X, y = make_friedman1(600, noise=1, random_state=0)
    alone = CartRegressor().fit(X[:300], y[:300]).score(X[300:], y[300:])
    bagging = BaggingRegressor(n_estimators=30, random_state=0).fit(X[:300], y[:300])
    assert bagging.score(X[300:], y[300:]) > alone + 0.1
    squares = (bagging.predict(X[300:]) - y[300:]) ** 2
    assert abs(bagging.oob_error_ - squares.mean()) < 4 * squares.std() * math.sqrt(2 / 300)


@compiled
@pytest.mark.parametrize(
    "learner",
    [
        None,
        C45Classifier(),
        DecisionTreeClassifier(),
        KNeighborsClassifier(),
        LinearSVC(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["cart", "c45", "scikit-learn's tree", "no weights", "no posteriors", "pipeline"],
)
def test_the_oob_error_of_any_learner_estimates_the_test_error(learner):
    X, test, y, test_y = table(500, flip_y=0.1)
    bagging = BaggingClassifier(learner, n_estimators=20, random_state=0).fit(X, y)
    error = np.mean(bagging.predict(test) != test_y)
    # both are shares of 500 rows: four standard deviations of their difference
    assert abs(bagging.oob_error_ - error) < 4 * math.sqrt(2 * error * (1 - error) / 500)
    np.testing.assert_allclose(bagging.predict_proba(test).sum(axis=1), 1)


def test_numbers_are_averaged():
    X, y = make_friedman1(100, random_state=0)
    bagging = BaggingRegressor(KNeighborsRegressor(), n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        bagging.predict(X), np.mean([member.predict(X) for member in bagging.estimators_], axis=0)
    )


# Training rows of the copies


def test_each_copy_gets_rows_drawn_with_replacement():
    X = np.arange(200.0)[:, None]
    bagging = BaggingClassifier(Witness(), n_estimators=2, random_state=0).fit(X, np.tile([0, 1], 100))
    shown = [member.X_[:, 0] for member in bagging.estimators_]
    assert all(len(rows) == 200 for rows in shown)
    assert all(0.5 < len(np.unique(rows)) / 200 < 0.75 for rows in shown)  # 0.632, within four deviations of 0.031
    assert sorted(shown[0]) != sorted(shown[1])
    assert all((member.y_ == member.X_[:, 0] % 2).all() for member in bagging.estimators_)


def test_a_weighted_learner_gets_each_row_once_times_its_draws():
    X, weight = np.arange(200.0)[:, None], np.tile([1.0, 0.5], 100)
    bagging = BaggingClassifier(WeighedWitness(), n_estimators=1, random_state=0)
    member = bagging.fit(X, np.tile([0, 0, 1, 1], 50), sample_weight=weight).estimators_[0]
    rows = member.X_[:, 0].astype(int)
    times = member.weight_ / weight[rows]
    assert len(np.unique(rows)) == len(rows)
    assert times.sum() == 200
    assert set(times) <= set(range(1, 9))


def test_for_a_learner_without_weights_rows_are_drawn_by_weight():
    X, weight = np.arange(300.0)[:, None], np.tile([0.0, 1.0, 3.0], 100)
    bagging = BaggingClassifier(Witness(), n_estimators=20, random_state=0)
    members = bagging.fit(X, np.repeat([0, 1], 150), sample_weight=weight).estimators_
    drawn = np.bincount(np.concatenate([member.X_[:, 0] for member in members]).astype(int) % 3, minlength=3)
    assert drawn[0] == 0
    # of 20 bags of 200 rows; four deviations of a share
    assert drawn[2] / 4000 == pytest.approx(0.75, abs=4 * math.sqrt(0.75 * 0.25 / 4000))
    with pytest.raises(ValueError, match="Witness takes no sample_weight: give none, or bootstrap=True"):
        BaggingClassifier(Witness(), bootstrap=False).fit(X, np.repeat([0, 1], 150), sample_weight=weight)


@pytest.mark.parametrize(("max_samples", "drawn"), [(0.25, 50), (31, 31), (1.0, 200)])
def test_smaller_bags_without_replacement_hold_each_row_once(max_samples, drawn):
    X = np.arange(200.0)[:, None]
    bagging = BaggingClassifier(Witness(), max_samples=max_samples, bootstrap=False, random_state=0)
    bagging.fit(X, np.tile([0, 1], 100))
    assert all(len(np.unique(member.X_)) == len(member.X_) == drawn for member in bagging.estimators_)
    assert math.isnan(bagging.oob_error_) == (drawn == 200)


def test_copies_have_own_seeds_fixed_by_the_seed_of_bagging():
    X, test, y, _ = table(100)
    learner = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=2))
    one, same, other = (BaggingClassifier(learner, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    seeds = [member[-1].random_state for member in one.estimators_]
    assert len(set(seeds)) == 10
    assert seeds == [member[-1].random_state for member in same.estimators_]
    np.testing.assert_array_equal(one.predict_proba(test), same.predict_proba(test))
    assert (one.predict_proba(test) != other.predict_proba(test)).any()
    assert learner[-1].random_state is None


@pytest.mark.parametrize("bagging", [BaggingClassifier, BaggingRegressor])
def test_rows_of_weight_0_are_as_good_as_absent(bagging):
    X, test, y, _ = table(100)
    weight = np.tile([1.0, 0.0, 2.0, 1.0], 25)
    some = weight > 0
    whole = bagging(random_state=0).fit(X, y, sample_weight=weight)
    fewer = bagging(random_state=0).fit(X[some], y[some], sample_weight=weight[some])
    np.testing.assert_array_equal(whole.predict(test), fewer.predict(test))
    assert whole.oob_error_ == fewer.oob_error_


# Classes


def test_a_bag_may_miss_a_class():
    X, test, y, _ = table(60)
    y[:2] = 7  # two rows of sixty: missing from a bag in seven
    for learner in (None, KNeighborsClassifier(2), LinearSVC()):
        bagging = BaggingClassifier(learner, n_estimators=30, random_state=0).fit(X, y)
        assert any(7 not in member.classes_ for member in bagging.estimators_)
        assert bagging.predict_proba(test).shape == (60, 3)
        np.testing.assert_allclose(bagging.predict_proba(test).sum(axis=1), 1)


def test_a_bag_of_one_class_needs_no_learner():
    X = np.arange(6.0)[:, None]
    bagging = BaggingClassifier(LogisticRegression(), n_estimators=20, max_samples=2, random_state=0)
    bagging.fit(X, ["a", "a", "a", "b", "b", "b"])  # LogisticRegression refuses a single class
    assert 0 < sum(len(member.classes_) == 1 for member in bagging.estimators_) < 20
    assert bagging.predict([[-5.0], [20.0]]).tolist() == ["a", "b"]


@compiled
def test_votes_by_inverse_frequency_find_more_of_a_rare_class():
    X, test, y, test_y = table(1000, weights=[0.93], class_sep=0.7)
    plain, weighted = (BaggingClassifier(vote_weight=w, random_state=0).fit(X, y) for w in (None, "inverse-frequency"))
    assert recall_score(test_y, weighted.predict(test)) > recall_score(test_y, plain.predict(test)) + 0.1


def test_a_majority_counts_copies():
    X, test, y, _ = table(60)
    shares = BaggingClassifier(KNeighborsClassifier(), vote="majority", random_state=0).fit(X, y).predict_proba(test)
    np.testing.assert_allclose(shares * 10, np.round(shares * 10), atol=1e-12)


# Tables of all kinds


def test_a_mixed_table_reaches_the_learner_as_it_is():
    rng = np.random.default_rng(0)
    rows = np.empty((200, 3), object)
    rows[:, 0], rows[:, 1], rows[:, 2] = rng.choice(["red", "green"], 200), rng.normal(size=200), None
    y = np.where((rows[:, 0] == "red") == (rows[:, 1].astype(float) > 0), "yes", "no")
    bagging = BaggingClassifier(random_state=0).fit(rows, y)
    assert bagging.oob_error_ < 0.1
    assert bagging.predict([["red", 2.0, None], ["red", -2.0, None]]).tolist() == ["yes", "no"]


def test_a_data_frame_reaches_the_learner_as_it_is():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": np.arange(40.0), "colour": ["red", "blue"] * 20}, index=np.arange(40)[::-1])
    y = np.arange(40) % 2
    bagging = BaggingClassifier(Witness(), n_estimators=2, random_state=0).fit(frame, y)
    for member in bagging.estimators_:
        assert list(member.X_.columns) == ["size", "colour"]
        assert ((member.X_["size"] % 2).to_numpy() == member.y_).all()  # by position, not by label
    assert bagging.feature_names_in_.tolist() == ["size", "colour"]
    assert BaggingClassifier(random_state=0).fit(frame, y).score(frame, y) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter of .* must be .* Got 0 instead"),
        ({"max_samples": 0}, "'max_samples' parameter of .* must be .* Got 0 instead"),
        ({"max_samples": 5}, "max_samples must be .* got 5"),
        ({"max_samples": 1.5}, "'max_samples' parameter of .* must be .* Got 1.5 instead"),
        ({"vote": "mean"}, "'vote' parameter of .* must be .* Got 'mean' instead"),
        ({"vote_weight": "balanced"}, "'vote_weight' parameter of .* must be .* Got 'balanced' instead"),
    ],
)
def test_a_parameter_that_does_not_fit_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        BaggingClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_a_category_that_a_bag_lacks_is_no_unknown_one():
    X = [["rare"], *[["red"], ["blue"]] * 20]
    y = np.arange(len(X)) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bagging = BaggingClassifier(CartClassifier(unseen="error"), n_estimators=10, random_state=0).fit(X, y)
        bagging.predict(X)
    with pytest.raises(ValueError, match="'green' in column 'column 0', which training did not have"):
        bagging.predict([["green"]])
