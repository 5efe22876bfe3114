"""Entropy and gain: values worked out by hand, and the fixed-point table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posepipe.learn.impurity import BIT, entropy, information_gain, n_log_n_of, n_log_n_table

COUNTS = hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=6), elements=st.integers(0, 1000))


def test_eight_pixels_of_two_equal_classes_hold_one_bit():
    assert entropy(np.array([4, 4])) == 1


def test_the_loan_table_has_the_book_s_entropy_and_gain_of_house():
    # 15 loans, 9 granted; with a house 6 of 6, without 3 of 9
    assert entropy(np.array([6, 9])) == pytest.approx(0.971, abs=5e-4)
    gain = information_gain(np.array([6, 9]), np.array([[0, 6], [6, 3]]))
    assert gain == pytest.approx(0.420, abs=5e-4)


def test_the_weather_table_has_the_book_s_three_way_gain():
    # 14 days, 9 played; sunny 2 of 5, overcast 4 of 4, rain 3 of 5
    gain = information_gain(np.array([5, 9]), np.array([[3, 2], [0, 4], [2, 3]]))
    assert gain == pytest.approx(0.247, abs=5e-4)


def test_nothing_has_no_entropy_and_no_gain():
    assert entropy(np.zeros(4)) == 0
    assert information_gain(np.zeros(4), np.zeros((2, 4))) == 0


def test_a_share_that_underflows_has_no_entropy():
    np.testing.assert_array_equal(entropy(np.array([[1e-300, 1e300], [1e-300, 1e-300]])), [0, 1])


def test_weights_need_not_be_whole():
    # C4.5's missing values: 2/3 + 1/6 + 1 against 1/5 + 1
    assert entropy(np.array([2 / 3 + 1 / 6 + 1, 1 / 5 + 1])) == pytest.approx(0.968, abs=5e-4)


@given(COUNTS)
def test_entropy_lies_between_0_and_the_logarithm_of_the_classes(counts):
    bits = entropy(counts)
    assert bits.shape == counts.shape[:-1]
    assert (bits >= 0).all()
    assert (bits <= np.log2(counts.shape[-1]) + 1e-12).all()


@given(COUNTS, st.integers(1, 50))
def test_entropy_depends_on_shares_alone(counts, factor):
    np.testing.assert_allclose(entropy(counts * factor), entropy(counts), atol=1e-12)


@given(hnp.arrays(np.int64, (3, 5), elements=st.integers(0, 200)))
def test_no_split_loses_information(children):
    assert information_gain(children.sum(0), children) >= -1e-12


def test_the_table_holds_n_log_n_in_fixed_point():
    table = n_log_n_table(1000)
    n = np.arange(1, 1001)
    assert (len(table), table[0], table[1], table[2], table[8]) == (1001, 0, 0, 2 * BIT, 24 * BIT)
    assert np.abs(table[1:] - n * np.log2(n) * BIT).max() <= 0.5 + 1e-6


@given(st.integers(2000, 2**36), st.integers(10, 1000))
def test_beyond_the_table_n_log_n_is_interpolated(n, largest):
    found = n_log_n_of(np.array([n]), n_log_n_table(largest))[0] / BIT
    m = (largest - 1) // 2  # at least so many steps are interpolated between
    assert found == pytest.approx(n * np.log2(n), rel=1e-14, abs=n / (8 * m**2 * np.log(2)) + n / m / BIT)


def test_within_the_table_n_log_n_is_the_table_s():
    table, n = n_log_n_table(65535), np.arange(65536)
    np.testing.assert_array_equal(n_log_n_of(n.reshape(2, -1), table), table.reshape(2, -1))


def test_the_table_of_nothing_holds_the_zero():
    assert n_log_n_table(0).tolist() == [0]
