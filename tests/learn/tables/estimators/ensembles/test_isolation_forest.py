"""Isolation forest: scikit-learn's checks, the formula of the paper, and outliers that anybody sees."""

from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest
from sklearn import ensemble
from sklearn.exceptions import SkipTestWarning
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from posepipe.learn.tables.estimators.ensembles.isolation_forest import IsolationForest, expected_splits


def cloud(n_outliers=15, seed=0):
    """Rows of a normal cloud, then some far from it; and whether each is one of these."""
    rng = np.random.default_rng(seed)
    far = rng.uniform(4, 6, (n_outliers, 3)) * rng.choice([-1, 1], (n_outliers, 3))
    return np.r_[rng.normal(size=(300, 3)), far], np.arange(300 + n_outliers) >= 300


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes interpreted; smaller ones remain")
def test_scikit_learn_s_checks_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(IsolationForest(n_estimators=3))


def test_outliers_are_found_as_by_scikit_learn_s():
    X, is_far = cloud()
    areas = [
        roc_auc_score(is_far, -kind(random_state=0).fit(X).score_samples(X))
        for kind in (IsolationForest, ensemble.IsolationForest)
    ]
    assert areas[0] > 0.99
    assert areas[0] > areas[1] - 0.01


def test_scores_are_those_of_scikit_learn_s_within_their_spread():
    X, _ = cloud()
    ours, theirs = (
        kind(n_estimators=100, random_state=0).fit(X).score_samples(X)
        for kind in (IsolationForest, ensemble.IsolationForest)
    )
    assert np.abs(ours - theirs).max() < 0.08


@pytest.mark.parametrize(("rows", "splits"), [(1, 0), (2, 1), (256, 10.2448)])
def test_the_expected_number_of_splits_is_the_paper_s(rows, splits):
    assert float(expected_splits(np.array(rows))) == pytest.approx(splits, abs=1e-4)


def test_divided_rows_expect_splits_between_those_of_whole_rows():
    rows = np.linspace(1, 9, 801)
    splits = expected_splits(rows)
    assert (np.diff(splits) > 0).all()
    assert np.diff(splits).max() < 0.011  # no rounding of a weight makes a step
    whole = np.arange(3, 10)
    wanted = 2 * (np.log(whole - 1) + np.euler_gamma) - 2 * (whole - 1) / whole
    np.testing.assert_allclose(expected_splits(whole), wanted)


def test_the_score_of_a_lonely_row_by_hand():
    # every split of the two values puts row 2 aside: one split for it, and 1 + c(3) for the three others
    X = np.array([[0.0], [0], [5], [0]])
    scores = IsolationForest(n_estimators=3, max_samples=4, random_state=0).fit(X).score_samples(X)
    of_all, of_three = float(expected_splits(np.array(4))), float(expected_splits(np.array(3)))
    assert scores[2] == pytest.approx(-(2 ** (-1 / of_all)))
    assert scores[0] == pytest.approx(-(2 ** (-(1 + of_three) / of_all)))


def test_the_column_of_the_root_does_not_repeat_the_draw_of_rows(monkeypatch):
    drawn, make = [], np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed: drawn.append(list(seed)) or make(seed))
    IsolationForest(n_estimators=2, max_samples=8, random_state=0).fit(np.random.default_rng([3]).normal(size=(20, 4)))
    first = [float(make(seed).random()) for seed in drawn]
    assert len(set(first)) == len(first) > 2


def test_the_share_of_outliers_is_that_asked_for():
    X, _ = cloud()
    forest = IsolationForest(n_estimators=10, contamination=0.1, random_state=0).fit(X)
    assert np.mean(forest.predict(X) == -1) == pytest.approx(0.1, abs=0.01)
    assert IsolationForest(n_estimators=1, random_state=0).fit(X).offset_ == -0.5


def test_words_and_gaps_can_be_outliers():
    rows = np.array([["wood", 1.0]] * 30 + [["wood", None]] * 2 + [["gold", 1.0]], object)
    scores = IsolationForest(n_estimators=20, random_state=0).fit(rows).score_samples(rows)
    assert np.argmin(scores) == 32


@pytest.mark.parametrize(("wanted", "rows"), [("auto", 256), (10, 10), (0.1, 32), (10_000, 315)])
def test_each_tree_has_the_rows_asked_for(wanted, rows):
    X, _ = cloud()
    forest = IsolationForest(n_estimators=2, max_samples=wanted, random_state=0).fit(X)
    assert forest.max_samples_ == rows
    assert {float(tree.weight[0]) for tree in forest.trees_} == {float(rows)}


def test_the_seed_decides_the_forest():
    X, _ = cloud()
    same, other = (IsolationForest(n_estimators=5, random_state=seed).fit(X).score_samples(X) for seed in (1, 2))
    np.testing.assert_array_equal(same, IsolationForest(n_estimators=5, random_state=1).fit(X).score_samples(X))
    assert (same != other).any()
