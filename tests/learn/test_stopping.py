"""Stopping early: tables worked out by hand, and a twin that tests split by split from the root down."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.learn.impurity import MISCLASSIFICATION, SQUARED_ERROR
from posepipe.learn.stopping import chi_square_stop, validation_stop
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tree import LEAF, Tree
from tests.reference.learn import stopping as naive
from tests.reference.learn.pruning import Node


def summed(children, field: str) -> tuple:
    return tuple(map(sum, zip(*(getattr(child, field) for child in children), strict=True)))


def inner(*children: Node) -> Node:
    return Node(0, summed(children, "training"), summed(children, "validation"), children)


def leaf(*training, validation=()) -> Node:
    return Node(0, training, validation or (0,) * len(training))


def flat(root: Node) -> tuple[Tree, np.ndarray]:
    """A nested tree as arrays, level by level, and the validation statistics of its nodes."""
    nodes = [root]
    for node in nodes:
        nodes.extend(node.children)
    count = np.array([len(node.children) for node in nodes], np.int32)
    is_leaf = count == 0
    first_child = np.where(is_leaf, np.cumsum(is_leaf) - 1, 1 + np.cumsum(count) - count)
    tree = Tree(
        np.where(is_leaf, LEAF, 0).astype(np.int32),
        np.zeros(len(nodes)),
        first_child.astype(np.int32),
        np.array([node.training for node in nodes if not node.children], np.float64),
        count,
    )
    tree.check(n_features=1)
    return tree, np.array([node.validation for node in nodes], np.float64)


def nested(tree: Tree, node: int = 0):
    """The training statistics of the leaves, in lists nested like the tree."""
    if tree.is_leaf[node]:
        return tree.leaf_statistics[tree.first_child[node]].tolist()
    return [nested(tree, child) for child in tree.children(node)]


def nested_naively(node: Node):
    return [nested_naively(child) for child in node.children] if node.children else list(map(float, node.training))


@st.composite
def trees(draw, moments=False, depth=3) -> Node:
    """Some nodes no training row reached, or no validation row."""
    if depth and draw(st.booleans() if depth < 3 else st.just(True)):
        return inner(*(draw(trees(moments, depth - 1)) for _ in range(draw(st.integers(2, 3)))))
    if moments:
        values = [draw(st.lists(st.integers(-3, 3), max_size=4)) for _ in range(2)]
        of_rows = [tuple(float(sum(value**power for value in own)) for power in range(3)) for own in values]
        return leaf(*of_rows[0], validation=of_rows[1])
    counts = st.tuples(*[st.integers(0, 9)] * 3)
    return leaf(*draw(counts), validation=draw(counts))


# Chi-square


def significance_of(*branches) -> float:
    """The minimum significance at which a split stays, to 12 digits."""
    tree, _ = flat(inner(*(leaf(*branch) for branch in branches)))
    low, high = 1e-12, 1.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if chi_square_stop(tree, middle).n_nodes > 1 else (middle, high)
    return high


@pytest.mark.parametrize(
    ("branches", "p_value"),
    [
        # 100 (10 x 40 - 20 x 30)^2 / (30 x 70 x 40 x 60) = 0.79365, one degree: erfc(sqrt(0.396825))
        ([(10, 20), (30, 40)], math.erfc(math.sqrt(0.79365079365 / 2))),
        # 50 (400 - 25)^2 / 25^4 = 18
        ([(20, 5), (5, 20)], math.erfc(3)),
        # 6 expected in no branch, 3 in every cell: 4 x 9 / 3 = 12, two degrees: exp(-12 / 2)
        ([(6, 0), (0, 6), (3, 3)], math.exp(-6)),
        # the same with an empty class and with an empty branch: neither counts
        ([(6, 0, 0), (0, 6, 0), (3, 3, 0), (0, 0, 0)], math.exp(-6)),
        # weather by outlook: (2 - 25/14)^2 / (25/14) + ... = 3.54667, two degrees
        ([(3, 2), (0, 4), (2, 3)], math.exp(-3.54666666667 / 2)),
    ],
)
def test_a_split_stays_when_chance_makes_its_like_seldom_enough(branches, p_value):
    assert significance_of(*branches) == pytest.approx(p_value, rel=1e-6)
    assert naive.p_value(branches) == pytest.approx(p_value, rel=1e-6)


def test_what_lies_below_a_refused_split_goes_with_it():
    parity = inner(inner(leaf(50, 0), leaf(0, 50)), inner(leaf(0, 50), leaf(50, 0)))
    assert nested(chi_square_stop(flat(parity)[0], 0.05)) == [100, 100]


def test_a_split_below_one_that_stays_is_tested_on_its_own():
    tree, _ = flat(inner(inner(leaf(40, 1), leaf(40, 2)), leaf(1, 60)))
    assert nested(chi_square_stop(tree, 0.05)) == [[80, 3], [1, 60]]


def test_a_significance_of_one_refuses_nothing():
    tree, _ = flat(inner(inner(leaf(5, 5), leaf(5, 5)), leaf(10, 10)))
    assert chi_square_stop(tree, 1).n_nodes == 5
    assert chi_square_stop(tree, 0.999).n_nodes == 1


def test_a_tree_of_one_leaf_stays():
    assert nested(chi_square_stop(flat(leaf(3, 4))[0], 0.05)) == [3, 4]


@given(trees(), st.sampled_from([0.01, 0.05, 0.3, 0.7, 0.95]))
def test_chi_square_stop_refuses_what_its_twin_refuses(root, significance):
    tree, _ = flat(root)
    assert nested(chi_square_stop(tree, significance)) == nested_naively(naive.chi_square_stop(root, significance))


@given(trees())
def test_a_stricter_test_keeps_a_part_of_the_tree(root):
    tree, _ = flat(root)
    sizes = [chi_square_stop(tree, significance).n_nodes for significance in (0.001, 0.05, 0.5, 1)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == tree.n_nodes


@pytest.mark.parametrize("significance", [0, -0.1, 1.1, math.nan])
def test_a_significance_out_of_range_is_refused(significance):
    with pytest.raises(ValueError, match="significance must lie between 0 and 1, got"):
        chi_square_stop(flat(leaf(1, 2))[0], significance)


# Validation rows


def test_a_split_that_lowers_no_error_is_refused():
    """As a leaf, the root has 4 errors of 10; after one split 1 + 2; after a second split on the left still 1."""
    left = inner(leaf(9, 0, validation=(3, 1)), leaf(2, 1, validation=(1, 0)))
    right = leaf(1, 8, validation=(2, 3))
    stopped = validation_stop(*flat(inner(left, right)))
    assert nested(stopped.tree) == [[11, 1], [1, 8]]
    assert stopped.error == pytest.approx(3 / 10)
    assert stopped.closed.tolist() == [False, True, False, False, False]


def test_a_split_that_helps_only_further_down_is_refused():
    parity = inner(
        inner(leaf(5, 0, validation=(5, 0)), leaf(0, 5, validation=(0, 5))),
        inner(leaf(0, 5, validation=(0, 5)), leaf(5, 0, validation=(5, 0))),
    )
    stopped = validation_stop(*flat(parity))
    assert nested(stopped.tree) == [10, 10]
    assert stopped.error == pytest.approx(0.5)


def test_a_split_that_no_validation_row_reaches_is_refused():
    right = inner(leaf(5, 0), leaf(0, 5))
    stopped = validation_stop(*flat(inner(leaf(0, 9, validation=(0, 4)), inner(leaf(8, 0, validation=(4, 0)), right))))
    assert nested(stopped.tree) == [[0, 9], [13, 5]]
    assert stopped.error == 0


def test_numbers_are_judged_by_their_squared_error():
    """Means -1 and 3 of training, 1 of both; validation -1, -1 and 1, 3: squares about 1 12, about the two 0 + 4."""
    low, high = leaf(2, -2, 4, validation=(2, -2, 2)), leaf(2, 6, 20, validation=(2, 4, 10))
    stopped = validation_stop(*flat(inner(low, high)), SQUARED_ERROR)
    assert stopped.tree.n_nodes == 3
    assert stopped.error == pytest.approx(4 / 4)


@pytest.mark.parametrize("moments", [False, True])
@given(data=st.data())
def test_validation_stop_refuses_what_its_twin_refuses(moments, data):
    root = data.draw(trees(moments))
    tree, validation = flat(root)
    if not any(root.training) or not any(root.validation):
        return  # such a tree does not occur
    stopped = validation_stop(tree, validation, SQUARED_ERROR if moments else MISCLASSIFICATION)
    expected, wrong = naive.validation_stop(root, moments)
    assert nested(stopped.tree) == nested_naively(expected)
    assert stopped.error == pytest.approx(wrong / (root.validation[0] if moments else sum(root.validation)), abs=1e-9)


# In use


def noise_and_a_rule(seed: int, rows: int = 400):
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 5))
    return X, (X[:, 2] > 0.5) ^ (rng.random(rows) < 0.1)


@pytest.mark.parametrize("parameters", [{"stop": "chi-square", "significance": 0.001}, {"stop": "validation"}])
def test_a_stopped_tree_is_smaller_and_no_worse_on_new_rows(parameters):
    X, y = noise_and_a_rule(0)
    whole, stopped = CartClassifier().fit(X, y), CartClassifier(random_state=0, **parameters).fit(X, y)
    assert whole.score(X, y) == 1
    assert stopped.get_n_leaves() < whole.get_n_leaves() / 4
    assert stopped.score(*noise_and_a_rule(1)) > whole.score(*noise_and_a_rule(1))


def test_a_stopped_regression_tree_is_smaller_and_no_worse():
    rng = np.random.default_rng(2)
    X = rng.random((600, 3))
    y = np.where(X[:, 0] > 0.5, 1, 0) + rng.normal(0, 0.5, 600)
    whole = CartRegressor().fit(X[:300], y[:300])
    stopped = CartRegressor(stop="validation", random_state=0).fit(X[:300], y[:300])
    assert stopped.get_n_leaves() < whole.get_n_leaves() / 4
    assert stopped.score(X[300:], y[300:]) > whole.score(X[300:], y[300:])


def test_a_tree_stopped_on_rows_of_the_caller_keeps_their_error():
    X, y = noise_and_a_rule(3)
    stopped = CartClassifier(stop="validation").fit(X, y, validation=(X[:100], y[:100]))
    assert stopped.validation_error_ == pytest.approx(1 - stopped.score(X[:100], y[:100]))
