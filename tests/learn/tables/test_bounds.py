"""Bounds on the error: values worked out by hand, limits, and what they refuse."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.learn.tables.bounds import minimum_description_length_bound, strength_bound, vc_bound

SHARES = st.floats(0, 1)
COUNTS = st.integers(1, 10**9)
DELTAS = st.floats(1e-300, 1, exclude_max=True)


def test_description_length_bound_of_a_tree_by_hand():
    # (7 + 1) log2(5 + 3) = 24; ln(2 / 0.05) = 3.688879; over 2 x 1000: 0.01384444, whose root is 0.1176624
    bound = minimum_description_length_bound(0.1, n_nodes=7, n_binary_features=5, n_rows=1000, delta=0.05)
    assert bound == pytest.approx(0.2176624, abs=1e-7)


def test_vc_bound_of_a_tree_of_four_leaves_by_hand():
    # ln(1000 e / 4) = 1 + ln 250 = 6.521461; 2 x 4 x that / 1000 = 0.05217169, root 0.22841123
    # ln(1 / 0.05) = 2.995732; over 2000: 0.001497866, root 0.03870228
    assert vc_bound(0.1, n_leaves=4, n_rows=1000, delta=0.05) == pytest.approx(0.36711351, abs=1e-7)


def test_strength_bound_of_a_forest_by_hand():
    # 0.2 (1 - 0.36) / 0.36 = 0.128 / 0.36
    assert strength_bound(strength=0.6, correlation=0.2) == pytest.approx(0.3555556, abs=1e-7)


def test_full_strength_or_no_correlation_bounds_the_error_by_0():
    assert strength_bound(1, 0.7) == 0
    assert strength_bound(0.3, 0) == 0


def test_an_uninformative_bound_is_1():
    assert minimum_description_length_bound(0.2, 10**6, 10, 100, 0.05) == 1
    assert vc_bound(0.2, 90, 100, 0.05) == 1
    assert vc_bound(0.0, 10**6, 2, 0.05) == 1  # the formula's logarithm is below 0
    assert strength_bound(0.1, 0.5) == 1
    assert strength_bound(0, 0.5) == strength_bound(-0.5, 0.5) == strength_bound(1e-200, 0.5) == 1


@given(SHARES, COUNTS, COUNTS, COUNTS, DELTAS)
def test_a_bound_lies_between_the_training_error_and_one(error, size, features, rows, delta):
    assert error <= minimum_description_length_bound(error, size, features, rows, delta) <= 1
    assert error <= vc_bound(error, size, rows, delta) <= 1


@given(st.floats(-1, 1), SHARES)
def test_a_forest_s_bound_is_a_share(strength, correlation):
    assert 0 <= strength_bound(strength, correlation) <= 1


@given(st.integers(1, 40), st.integers(200, 10**6))
def test_bounds_grow_with_the_tree_and_shrink_with_the_rows(size, rows):
    assert vc_bound(0, size, rows, 0.1) <= vc_bound(0, size + 1, rows, 0.1)
    assert vc_bound(0, size, rows, 0.1) >= vc_bound(0, size, 2 * rows, 0.1)
    bound = minimum_description_length_bound(0, size, 8, rows, 0.1)
    assert bound <= minimum_description_length_bound(0, size + 1, 8, rows, 0.1)
    assert bound >= minimum_description_length_bound(0, size, 8, 2 * rows, 0.1)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: vc_bound(-0.1, 4, 10, 0.05), "training_error"),
        (lambda: vc_bound(math.nan, 4, 10, 0.05), "training_error"),
        (lambda: vc_bound(0.1, 0, 10, 0.05), "n_leaves"),
        (lambda: vc_bound(0.1, 4, 0, 0.05), "n_rows"),
        (lambda: vc_bound(0.1, 4, 10, 0), "delta"),
        (lambda: vc_bound(0.1, 4, 10, 1), "delta"),
        (lambda: minimum_description_length_bound(1.1, 3, 2, 10, 0.05), "training_error"),
        (lambda: minimum_description_length_bound(0.1, 0, 2, 10, 0.05), "n_nodes"),
        (lambda: minimum_description_length_bound(0.1, 3, 0, 10, 0.05), "n_binary_features"),
        (lambda: minimum_description_length_bound(0.1, 3, 2, 0, 0.05), "n_rows"),
        (lambda: minimum_description_length_bound(0.1, 3, 2, 10, 2), "delta"),
        (lambda: strength_bound(1.5, 0.2), "strength"),
        (lambda: strength_bound(0.5, -0.2), "correlation"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(call, named):
    with pytest.raises(ValueError, match=f"^{named} must .*, got "):
        call()
