"""Bags and out-of-bag predictions, by hand and as shares of many draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.learn.tables.estimators.ensembles.out_of_bag import (
    OutOfBag,
    OutOfBagVotes,
    draw_bag,
    mean_loss,
    row_losses,
    strength_and_correlation,
)

OUT = -1  # in the bag


def test_a_bag_leaves_out_one_row_in_e():
    n = 100_000
    left_out = np.mean(draw_bag(n, n, True, np.random.default_rng(0)) == 0)
    # a row's chance is (1 - 1/n)^n; four standard deviations of the share, from sqrt((e^-1 - 2 e^-2) / n)
    assert abs(left_out - 1 / math.e) < 4 * math.sqrt((math.exp(-1) - 2 * math.exp(-2)) / n)


@given(st.integers(1, 50), st.data())
def test_a_bag_holds_as_many_rows_as_were_drawn(n_rows, data):
    n_drawn = data.draw(st.integers(1, n_rows))
    rng = np.random.default_rng(n_rows)
    assert draw_bag(n_rows, n_drawn, True, rng).sum() == n_drawn
    once = draw_bag(n_rows, n_drawn, False, rng)
    assert once.sum() == n_drawn
    assert once.max() <= 1


def test_rows_are_drawn_by_their_probabilities():
    drawn = draw_bag(3, 10_000, True, np.random.default_rng(0), np.array([0.0, 0.25, 0.75]))
    assert drawn[0] == 0
    assert drawn[2] / 10_000 == pytest.approx(0.75, abs=4 * math.sqrt(0.75 * 0.25 / 10_000))


def test_oob_predictions_average_the_members_without_the_row():
    outside = OutOfBag(3, 1)
    outside.add(np.array([0, 1]), np.array([[1.0], [4.0]]))
    outside.add(np.array([0]), np.array([[2.0]]))
    np.testing.assert_array_equal(outside.mean(), [[1.5], [4], [np.nan]])


def test_losses_are_errors_or_squares_without_unknown_rows():
    shares = np.array([[0.6, 0.4], [0.5, 0.5], [np.nan, np.nan]])
    np.testing.assert_array_equal(row_losses(shares, np.array([1, 0, 0])), [1, 0, np.nan])
    np.testing.assert_array_equal(row_losses(np.array([1.0, np.nan]), np.array([3.0, 0])), [4, np.nan])
    assert mean_loss(np.array([1, 0, np.nan]), np.array([3.0, 1, 9])) == 0.75
    assert math.isnan(mean_loss(np.array([np.nan]), np.ones(1)))


# Strength and correlation

TARGET = np.array([0, 0, 1, 2])
VOTES = np.array(
    [
        [0, OUT, 1, 0],
        [0, 1, OUT, 2],
        [1, 0, 1, OUT],
        [2, OUT, OUT, OUT],
    ]
)


def test_strength_and_correlation_of_four_trees_by_hand():
    # Row by row, shares of votes, strongest wrong class J (the first of a tie) and margin:
    #   0: two of four for 0, the rest for 1 and 2   J = 1   1/2 - 1/4 = 1/4
    #   1: one of two for 0, one for 1               J = 1   0
    #   2: both for 1                                J = 0   1
    #   3: one of two for 2, one for 0               J = 0   0
    # strength: (1/4 + 1) / 4 = 5/16; variance of the margin: (1/16 + 1) / 4 - 25/256 = 43/256
    # Tree by tree, right p1, for J p2: 2/3 and 1/3 for the first three, hence sd = sqrt(1 - 1/9) = sqrt(8) / 3;
    # the fourth votes for neither, sd = 0. Mean sd: 3/4 sqrt(8) / 3 = sqrt(1/2); correlation: 43/256 / (1/2)
    strength, correlation = strength_and_correlation(VOTES, TARGET, 3)
    assert strength == pytest.approx(5 / 16, abs=1e-15)
    assert correlation == pytest.approx(43 / 128, abs=1e-15)


def test_posteriors_vote_for_their_likeliest_class():
    outside = OutOfBagVotes(4, 3, "posterior")
    for said in VOTES:
        rows = np.flatnonzero(said != OUT)
        outside.add(rows, np.where(np.arange(3) == said[rows, None], 0.5, 0.25))
    assert outside.strength_and_correlation(TARGET) == strength_and_correlation(VOTES, TARGET, 3)
    assert outside.mean()[1].tolist() == [0.375, 0.375, 0.25]


def test_trees_that_predict_the_same_have_correlation_1():
    # each is right on two of four rows and votes for J on the others: sd = 1, and the margins are 1, 1, -1, -1
    same = np.array([[0, 1, 1, 0]] * 3)
    assert strength_and_correlation(same, np.array([0, 1, 0, 1]), 2) == (0, 1)


def test_trees_without_errors_have_correlation_0():
    assert strength_and_correlation(np.array([[0, 1], [0, OUT]]), np.array([0, 1]), 2) == (1, 0)


def test_one_class_is_always_right():
    assert strength_and_correlation(np.array([[0, OUT]]), np.array([0, 0]), 1) == (1, 0)


def test_rows_in_every_bag_do_not_count():
    votes = np.column_stack([VOTES, np.full(4, OUT)])
    expected = strength_and_correlation(VOTES, TARGET, 3)
    assert strength_and_correlation(votes, np.append(TARGET, 2), 3) == expected
    assert all(map(math.isnan, strength_and_correlation(votes[:, -1:], np.array([2]), 3)))
