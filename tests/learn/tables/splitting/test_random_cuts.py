"""Random splits of columns: where they fall, and their gain by hand."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.learn.impurity import GINI, SQUARED_ERROR, gain
from posepipe.learn.tables.splitting.random_cuts import RandomCuts
from posepipe.learn.tables.splitting.split_gain import NUMERIC, ONE_VS_REST


def cuts(column, target, kind=NUMERIC, criterion=GINI, draws=200, weight=None, min_leaf=0.0):
    """Gain and cut of many draws for the one node of all rows but the last, which lies outside of it."""
    columns, n = np.array([[*column, 1e9]]), len(column)
    order = np.arange(n, dtype=np.int32)
    weight = np.ones(n) if weight is None else np.array(weight, float)
    nodes = order, weight, np.zeros(draws, np.int64), np.full(draws, n)
    rules = criterion, np.zeros((0, 0)), min_leaf, 3 if criterion == SQUARED_ERROR else 2, False
    codes, candidates = np.zeros((1, n + 1), np.int32), np.zeros((draws, 1), np.int32)
    scan = RandomCuts(np.random.default_rng(0))
    kinds, count = np.array([kind], np.uint8), np.array([9])
    found = scan(columns, codes, kinds, count, np.array([*target, 0.0]), rules, nodes, candidates, np.zeros((0, 1)))
    return found[0][:, 0], found[2][:, 0]


def test_thresholds_are_uniform_between_the_extremes():
    gains, thresholds = cuts([3.0, 1.0, 2.0, 9.0], [0, 1, 1, 0], draws=4000)
    assert thresholds.min() >= 1
    assert thresholds.max() < 9
    assert np.histogram(thresholds, 4, (1, 9))[0] == pytest.approx(1000, abs=120)
    assert np.isfinite(gains).all()


@pytest.mark.parametrize("criterion", [GINI, SQUARED_ERROR])
def test_the_gain_is_that_of_the_two_branches(criterion):
    column, target, weight = np.array([1.0, 2, 3, 7, np.nan]), np.array([0.0, 1, 0, 1, 1]), [1.0, 2, 1, 1, 5]
    weight = np.array(weight)
    for found, threshold in zip(*cuts(column, target, criterion=criterion, weight=weight, draws=20), strict=True):
        branches = [
            [weight[rows].sum(), (weight * target)[rows].sum(), (weight * target**2)[rows].sum()]
            if criterion == SQUARED_ERROR
            else np.bincount(target[rows].astype(int), weight[rows], 2)
            for rows in (column <= threshold, column > threshold)
        ]
        assert found == pytest.approx(gain(criterion, np.array(branches)) * 5 / 10)


def test_a_category_of_a_random_row_is_split_off():
    gains, categories = cuts([0, 2, 2, np.nan, 2], [0, 1, 1, 1, 1], kind=ONE_VS_REST, draws=4000)
    assert set(categories) == {0, 2}
    assert np.mean(categories == 2) == pytest.approx(0.75, abs=0.03)
    assert gains == pytest.approx(np.full(4000, 0.375 * 4 / 5))


@pytest.mark.parametrize("column", [[4.0, 4, 4], [np.nan, np.nan, np.nan], [2.0, np.nan, 2]])
def test_a_column_without_two_values_separates_nothing(column):
    assert np.isneginf(cuts(column, [0, 1, 0])[0]).all()


def test_the_smallest_gap_between_two_numbers_can_be_cut():
    gains, thresholds = cuts([1.0, np.nextafter(1, 2)], [0, 1])
    assert set(thresholds) == {1.0}
    assert gains == pytest.approx(np.full(200, 0.5))


def test_the_widest_range_of_numbers_can_be_cut():
    gains, thresholds = cuts([-1.7e308, 1.7e308], [0, 1])
    assert np.isfinite(thresholds).all()
    assert gains == pytest.approx(np.full(200, 0.5))


def test_branches_keep_the_minimum_size():
    gains, thresholds = cuts([1.0, 2, 3, 4], [0, 1, 0, 1], min_leaf=2)
    assert set(np.isfinite(gains)) == {True, False}
    np.testing.assert_array_equal(np.isfinite(gains), (thresholds >= 2) & (thresholds < 3))
