"""Sums of weights are rounded: neither their scale nor the order of rows changes what is learned."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from posepipe.learn import C45Classifier, CartClassifier, Discretizer, Id3Classifier, RandomForestClassifier

NAN = float("nan")
HOLES = np.array([[2, NAN], [3, 3], [NAN, 0], [NAN, 0], [2, 1], [1, 0]])
CLASSES = [0, 0, 1, 0, 1, 1]
SCALES = (1 / 150, 0.1, 0.25, 1 / 3, 0.7, 2.0, 1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_shares_of_rows_with_missing_cells_add_up(scale):
    wanted = CartClassifier().fit(HOLES, CLASSES)
    found = CartClassifier().fit(HOLES, CLASSES, np.full(6, scale))
    assert found.get_n_leaves() == wanted.get_n_leaves()


@pytest.mark.parametrize("learner", [CartClassifier(), C45Classifier(prune=None)], ids=["cart", "c45"])
@pytest.mark.parametrize("scale", SCALES)
def test_scaled_weights_grow_the_same_tree_on_tables_with_holes(learner, scale):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 5, (60, 3)).astype(float), rng.integers(0, 2, 60)
        X[rng.random(X.shape) < 0.15] = np.nan
        plain = clone(learner).fit(X, y).tree_.tree
        scaled = clone(learner).fit(X, y, np.full(60, scale)).tree_.tree
        np.testing.assert_array_equal(scaled.feature, plain.feature)
        np.testing.assert_allclose(scaled.threshold, plain.threshold, atol=1e-12)


def test_the_order_of_rows_changes_no_tree():
    X = np.array([[1, NAN], [0, 1], [3, 1], [0, NAN], [2, 1], [1, 1], [0, 2]])
    y, order = np.array([1, 1, 1, 0, 0, 1, 0]), [5, 2, 6, 4, 0, 1, 3]
    assert CartClassifier().fit(X, y).get_n_leaves() == CartClassifier().fit(X[order], y[order]).get_n_leaves()


@pytest.mark.parametrize("scale", SCALES)
def test_edges_of_equal_frequency_keep_their_ties(scale):
    X = np.arange(6.0)[:, None]
    plain, scaled = (Discretizer(strategy="equal-frequency", n_bins=4) for _ in range(2))
    edges = scaled.fit(X, sample_weight=np.full(6, scale)).edges_
    np.testing.assert_array_equal(edges, plain.fit(X).edges_)
    tree = Id3Classifier(discretize="equal-frequency", n_bins=4).fit(X, np.arange(6) % 2, np.full(6, scale))
    np.testing.assert_array_equal(tree.schema_.edges[0], edges[0])


def test_a_link_as_strong_as_ccp_alpha_is_closed():
    """Its strength is 0.2, and 0.20000000000000004 as it is summed."""
    X, y = np.array([1, 2, 3, 3, 0, 0, 3, 3, 0, 1])[:, None], [1, 0, 0, 1, 0, 0, 1, 1, 0, 0]
    tree = CartClassifier(prune_criterion="misclassification", ccp_alpha=0.2)
    assert tree.fit(X, y).get_n_leaves() == 1
    assert tree.set_params(ccp_alpha=0.1999).fit(X, y).get_n_leaves() == 2


@pytest.mark.parametrize("scale", [1e-170, 1e160])
def test_costs_take_weights_of_any_scale(scale):
    tree = CartClassifier(costs=[[0, 1], [2, 0]]).fit([[0.0], [1.0], [2.0]], [0, 1, 0], [scale] * 3)
    assert tree.get_n_leaves() == 3


@pytest.mark.parametrize("learner", [CartClassifier, C45Classifier, RandomForestClassifier])
@pytest.mark.parametrize("weights", [{0: NAN, 1: 1}, {0: -1, 1: 1}, {0: np.inf, 1: 1}, {0: 0, 1: 0}])
def test_weights_of_classes_are_checked(learner, weights):
    with pytest.raises(ValueError, match="class_weight must be finite"):
        learner(class_weight=weights).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
