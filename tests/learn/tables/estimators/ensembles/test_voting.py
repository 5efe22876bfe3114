"""Votes of classifiers."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.learn.tables.estimators.ensembles.voting import vote_shares, vote_weights, votes_of

POSTERIORS = np.array([[0.6, 0.4], [0.5, 0.5], [0.1, 0.9]])


def test_a_majority_vote_goes_to_the_first_likeliest_class():
    assert votes_of("majority", POSTERIORS).tolist() == [[1, 0], [1, 0], [0, 1]]
    assert votes_of("posterior", POSTERIORS) is POSTERIORS


def test_votes_for_a_class_that_is_rare_weigh_more():
    weights = vote_weights("inverse-frequency", np.array([30.0, 10.0]))
    assert weights.tolist() == pytest.approx([4 / 3, 4])
    # 0.6 x 1 against 0.4 x 3
    np.testing.assert_allclose(vote_shares(POSTERIORS, weights)[0], [1 / 3, 2 / 3])
    assert vote_weights(None, np.array([30.0, 10.0])).tolist() == [1, 1]


def test_a_class_without_rows_gets_no_votes_and_does_no_harm():
    weights = vote_weights("inverse-frequency", np.array([3.0, 0.0, 1.0]))
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(vote_shares(np.array([[0.75, 0, 0.25]]), weights), [[0.5, 0, 0.5]])


def test_a_row_without_votes_stays_unknown():
    assert np.isnan(vote_shares(np.full((1, 2), np.nan), np.ones(2))).all()
