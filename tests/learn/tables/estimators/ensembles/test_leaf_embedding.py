"""Leaves as features: what each row of the matrix says, and what other learners make of it."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_circles
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier
from posepipe.learn.tables.estimators.ensembles.leaf_embedding import LeafEmbedding
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes interpreted; smaller ones remain")
def test_scikit_learn_s_checks_pass():
    check_estimator(LeafEmbedding(CartClassifier(max_depth=3)), on_skip=None)


def test_a_row_has_one_leaf_of_each_tree():
    X, y = load_iris(return_X_y=True)
    embedding = LeafEmbedding(RandomForestClassifier(n_estimators=7, random_state=0)).fit(X, y)
    leaves = embedding.transform(X)
    assert leaves.shape == (150, embedding.n_leaves_) == (150, len(embedding.get_feature_names_out()))
    assert set(np.asarray(leaves.sum(axis=1)).ravel()) == {7}
    nodes = embedding.estimator_.apply(X)
    wanted = {f"tree{t}_node{node}" for t, node in enumerate(nodes[42])}
    assert set(embedding.get_feature_names_out()[leaves[42].indices]) == wanted


def test_a_tree_of_numbers_embeds_too():
    X = np.arange(6.0)[:, None]
    leaves = LeafEmbedding(CartRegressor(max_leaf_nodes=2)).fit(X, [0, 0, 0, 0, 9, 9]).transform(X)
    np.testing.assert_array_equal(leaves.toarray(), [[1, 0]] * 4 + [[0, 1]] * 2)


def test_a_linear_model_learns_circles_from_leaves():
    X, y = make_circles(400, factor=0.5, noise=0.05, random_state=0)
    forest = RandomForestClassifier(n_estimators=20, max_leaf_nodes=8, random_state=0)
    linear = make_pipeline(LeafEmbedding(forest), LogisticRegression())
    assert LogisticRegression().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) < 0.7
    assert linear.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95


def test_the_learner_given_is_not_fitted():
    learner = CartClassifier()
    LeafEmbedding(learner).fit([[0.0], [1]], [0, 1])
    assert not hasattr(learner, "tree_")
