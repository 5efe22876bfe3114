"""Regression trees whose target has outliers or distant clusters: the other rows are split as without them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from posepipe.learn import CartRegressor, ExtraTreesRegressor, RandomForestRegressor

OUTLIER = 1e7


def slope(n_rows, seed):
    """Rows whose target is a sum of columns."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 3))
    return X, 3 * X[:, 1] + X[:, 2]


@pytest.mark.parametrize("weight", [1.0, 1e-9])
@pytest.mark.parametrize("missing", [False, True], ids=["sorted", "loop"])
def test_an_outlier_hides_no_splits_of_other_rows(weight, missing):
    X, y = slope(400, 0)
    y[7] = OUTLIER
    weights = np.where(y == OUTLIER, weight, 1.0)
    peer = DecisionTreeRegressor(random_state=0).fit(X, y, weights)
    if missing:  # such a table is grown by the loop
        X[3, 0] = np.nan
    tree = CartRegressor().fit(X, y, weights)
    others, wanted = slope(400, 1)
    error, peer_error = (np.median(np.abs(each.predict(others) - wanted)) for each in (tree, peer))
    assert error < 1.3 * peer_error


@pytest.mark.parametrize("missing", [0, np.nan], ids=["sorted", "loop"])
def test_steps_within_distant_clusters_are_found(missing):
    far, near = np.repeat([0, 1], 100), np.tile(np.repeat([0, 1], 50), 2)
    X = np.stack([np.random.default_rng(0).random(200), far, near], axis=1)
    X[0, 0] = missing
    assert CartRegressor().fit(X, 1e6 * far + near).get_n_leaves() == 4


def test_sets_of_categories_part_distant_clusters():
    far, letters = np.repeat([0, 1], 80), np.tile(list("abcd"), 40)
    X = np.stack([np.where(far, "far", "close"), letters], axis=1)
    y = 1e6 * far + np.isin(letters, ["a", "d"])
    assert CartRegressor(category_split="subset").fit(X, y).get_n_leaves() == 4


def test_random_splits_go_on_within_distant_clusters():
    far, near = np.repeat([0, 1], 100), np.random.default_rng(0).random(200)
    y = 1e9 * far + near
    forest = ExtraTreesRegressor(n_estimators=5, random_state=0).fit(np.stack([far, near], axis=1), y)
    assert np.abs(forest.predict(np.stack([far, near], axis=1)) - y).max() < 1e-5


@pytest.mark.parametrize("offset", [0, 1e6])
def test_numbers_that_differ_by_rounding_are_not_parted(offset):
    x = np.arange(60.0)
    y = offset + (x % 3) / 10 + np.where(x < 30, 0.1 + 0.2, 0.3)
    assert CartRegressor().fit(np.stack([x % 3, x], axis=1), y).get_n_leaves() == 3


@pytest.mark.parametrize("learner", [CartRegressor, ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("scale", [1e160, 1e200, 1e308])
def test_targets_whose_squares_overflow_are_refused(learner, scale):
    X, y = slope(20, 0)
    with pytest.raises(ValueError, match="squares of targets, times weights, overflow"):
        learner().fit(X, scale * (y / np.abs(y).max()))
    weight = np.full(20, 1e200)
    with pytest.raises(ValueError, match="squares of targets, times weights, overflow"):
        learner().fit(X, 1e100 * y, weight)


@pytest.mark.parametrize("learner", [CartRegressor, ExtraTreesRegressor, RandomForestRegressor])
def test_targets_whose_squares_underflow_are_refused(learner):
    X, y = slope(20, 0)
    for scale, weight in ((1e-170, None), (1e-20, np.full(20, 1e-290))):
        with pytest.raises(ValueError, match="squares of targets, times weights, underflow"):
            learner().fit(X, scale * y, weight)
    np.testing.assert_array_equal(learner().fit(X, np.full(20, 1e-170)).predict(X), np.full(20, 1e-170))
