"""Extra trees: scikit-learn's checks and forests, and splits that are drawn."""

from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from posepipe.learn.tables.estimators.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier
from posepipe.learn.tables.estimators.sklearn_trees import to_sklearn

FORESTS = (ExtraTreesClassifier, ExtraTreesRegressor)

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes interpreted; smaller ones remain")


@compiled
@pytest.mark.parametrize("kind", [ExtraTreesClassifier, pytest.param(ExtraTreesRegressor, marks=pytest.mark.slow)])
def test_scikit_learn_s_checks_pass(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        drawn = {"check_sample_weight_equivalence_on_dense_data": "two rows and one of weight 2 draw other categories"}
        check_estimator(kind(n_estimators=2), expected_failed_checks=drawn)


@compiled
@pytest.mark.parametrize("load", [load_wine, load_diabetes])
def test_errors_are_those_of_scikit_learn_s_extra_trees(load):
    X, y = load(return_X_y=True)
    kind = "Regressor" if load is load_diabetes else "Classifier"
    ours, theirs = FORESTS[kind == "Regressor"], getattr(ensemble, f"ExtraTrees{kind}")
    scores = [
        [learner(n_estimators=15, random_state=seed).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) for seed in range(2)]
        for learner in (ours, theirs)
    ]
    assert abs(np.mean(scores[0]) - np.mean(scores[1])) < 0.05


def test_thresholds_differ_between_trees():
    X, y = np.arange(50.0)[:, None], np.arange(50) // 25
    searched = RandomForestClassifier(n_estimators=20, bootstrap=False, random_state=0).fit(X, y)
    drawn = ExtraTreesClassifier(n_estimators=20, random_state=0).fit(X, y)
    assert len({float(tree.tree.threshold[0]) for tree in searched.trees_}) == 1
    assert len({float(tree.tree.threshold[0]) for tree in drawn.trees_}) == 20
    assert (drawn.predict(X) == y).all()


@pytest.mark.parametrize("kind", FORESTS)
def test_the_seed_decides_the_forest_for_any_number_of_threads(kind):
    X, y = np.random.default_rng(0).random((80, 3)), np.arange(80) % 2
    before, grown = numba.get_num_threads(), []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        grown.append(kind(n_estimators=6, random_state=3).fit(X, y).trees_)
    numba.set_num_threads(before)
    for one, many in zip(*grown, strict=True):
        np.testing.assert_array_equal(one.tree.threshold, many.tree.threshold)


def test_gaps_and_words_are_learned_as_they_come():
    rows = np.array([["red", 1], ["red", 2], ["blue", None], ["green", 4], ["blue", 5], [None, 6]] * 5, object)
    y = ["a", "a", "b", "b", "b", "a"] * 5
    forest = ExtraTreesClassifier(n_estimators=20, random_state=0).fit(rows, y)
    assert (forest.predict(rows) == y).all()


def test_bags_give_out_of_bag_errors():
    X, y = load_wine(return_X_y=True)
    assert ExtraTreesClassifier(n_estimators=40, bootstrap=True, random_state=0).fit(X, y).oob_error_ < 0.06
    assert not hasattr(ExtraTreesClassifier(n_estimators=3).fit(X, y), "oob_error_")


def test_scikit_learn_s_own_class_predicts_the_same():
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32)
    forest = ExtraTreesClassifier(n_estimators=4, random_state=0).fit(X, y)
    theirs = to_sklearn(forest)
    assert type(theirs) is ensemble.ExtraTreesClassifier
    np.testing.assert_allclose(theirs.predict_proba(X), forest.predict_proba(X), atol=1e-12)
