"""Every criterion against its twin, which works on the rows while the criterion works on their counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.learn.impurity import (
    conditional_entropy,
    entropy,
    gain_ratio,
    gini,
    information_gain,
    intrinsic_value,
    misclassification,
    squared_error,
)
from tests.reference.learn import tree_criteria as naive

N_CLASSES, N_BRANCHES = 3, 4
WEIGHTS = st.one_of(st.integers(0, 3), st.sampled_from([1 / 3, 0.2, 2.5]))
ROWS = st.lists(st.tuples(st.integers(0, N_BRANCHES - 1), st.integers(0, N_CLASSES - 1), WEIGHTS), max_size=12)
COSTS = st.lists(st.sampled_from([0, 0.5, 1, 4]), min_size=N_CLASSES**2, max_size=N_CLASSES**2)
TARGETS = st.lists(st.tuples(st.integers(-8, 8), WEIGHTS), max_size=12)
SUMS = 1e-12  #: the two sides add the same terms in another order


def tabulate(rows):
    """The weights of (branch, class, weight) rows: float64 (N_BRANCHES, N_CLASSES)."""
    children = np.zeros((N_BRANCHES, N_CLASSES))
    for branch, label, weight in rows:
        children[branch, label] += weight
    return children


def columns(rows):
    return [[row[i] for row in rows] for i in range(3)]


@given(ROWS)
def test_impurities_of_counts_are_those_of_the_rows(rows):
    _, labels, weights = columns(rows)
    counts = tabulate(rows).sum(axis=0)
    assert entropy(counts) == pytest.approx(naive.entropy(labels, weights), abs=SUMS)
    assert gini(counts) == pytest.approx(naive.gini(labels, weights), abs=SUMS)
    assert misclassification(counts) == pytest.approx(naive.misclassification(labels, weights), abs=SUMS)


@given(ROWS, COSTS)
def test_gini_with_costs_is_the_mean_cost_over_pairs_of_rows(rows, costs):
    _, labels, weights = columns(rows)
    table = np.reshape(costs, (N_CLASSES, N_CLASSES))
    expected = naive.gini(labels, weights, {place: table[place] for place in np.ndindex(table.shape)})
    assert gini(tabulate(rows).sum(axis=0), costs=table) == pytest.approx(expected, abs=SUMS)


@given(TARGETS)
def test_the_squared_error_of_moments_is_that_of_the_values(rows):
    values, weights = [row[0] for row in rows], [row[1] for row in rows]
    moments = [sum(w * v**power for v, w in rows) for power in range(3)]
    # the difference of two squares up to 64 loses a few bits more
    assert squared_error(moments) == pytest.approx(naive.squared_error(values, weights), abs=1e-11)


@given(ROWS)
def test_what_a_split_saves_by_counts_is_what_it_saves_by_rows(rows):
    branches, labels, weights = columns(rows)
    children = tabulate(rows)
    parent = children.sum(axis=0)
    assert conditional_entropy(children) == pytest.approx(naive.conditional_entropy(*columns(rows)), abs=SUMS)
    assert information_gain(parent, children) == pytest.approx(naive.information_gain(*columns(rows)), abs=SUMS)
    assert intrinsic_value(children) == pytest.approx(naive.intrinsic_value(branches, weights), abs=SUMS)
    assert gain_ratio(parent, children) == pytest.approx(naive.gain_ratio(branches, labels, weights), abs=SUMS)


@given(st.lists(ROWS, min_size=2, max_size=4))
def test_many_nodes_at_once_are_each_node_by_itself(tables):
    children = np.stack([tabulate(rows) for rows in tables])
    parents = children.sum(axis=1)
    for criterion in (entropy, gini, misclassification):
        assert criterion(parents).tolist() == [criterion(parent) for parent in parents]
    for criterion in (conditional_entropy, intrinsic_value):
        assert criterion(children).tolist() == [criterion(own) for own in children]
    for criterion in (information_gain, gain_ratio):
        expected = [criterion(parent, own) for parent, own in zip(parents, children, strict=True)]
        assert criterion(parents, children).tolist() == expected


@pytest.mark.parametrize("criterion", [information_gain, gain_ratio])
@pytest.mark.parametrize("children", [[[2, 3], [4, 0]], [[9], [5]]])
def test_a_forgotten_branch_is_refused(criterion, children):
    with pytest.raises(ValueError, match=r"the counts of all branches add up to .*, not to the parent"):
        criterion([9, 5], children)


def test_costs_and_moments_of_another_size_are_refused():
    with pytest.raises(ValueError, match=r"costs must be \(3, 3\).* got shape \(2, 2\)"):
        gini([1, 2, 3], costs=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="moments are weight, sum and sum of squares, got 2 numbers"):
        squared_error([1, 2])
