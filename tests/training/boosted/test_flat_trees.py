"""Boosted trees of scikit-learn as flat arrays."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF
from posepipe.training.boosted.flat_trees import flat_trees
from tests.reference.segmentation.sum_of_leaves import sum_of_leaves

NAMES = ("a", "b", "c", "d", "e")
ARRAYS = ("number", "threshold", "child", "value", "roots")


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(300, 5)).astype(np.float32)
    numbers[:, 0] = np.round(numbers[:, 0], 1)  # rows that lie on thresholds
    return numbers, numbers[:, 0] + numbers[:, 1] ** 2 > 0.5


@pytest.mark.parametrize("limits", [{"max_leaf_nodes": 7}, {"max_depth": 1}, {"min_samples_leaf": 200}])
def test_the_sum_of_leaves_is_the_decision_function(table, limits):
    numbers, is_person = table
    boosted = HistGradientBoostingClassifier(max_iter=12, max_features=0.6, random_state=0, **limits)
    boosted.fit(numbers, is_person)
    flat = flat_trees(boosted, NAMES)
    arrays = [getattr(flat, name) for name in ARRAYS]
    scores = [sum_of_leaves(row, *arrays) for row in numbers]
    np.testing.assert_allclose(scores, boosted.decision_function(numbers), atol=1e-6)


def test_the_sum_of_leaves_is_what_a_regressor_predicts(table):
    numbers = table[0]
    wanted = numbers[:, 0] + 3 * numbers[:, 1] ** 2 + 5
    boosted = HistGradientBoostingRegressor(max_iter=12, max_features=0.6, random_state=0).fit(numbers, wanted)
    flat = flat_trees(boosted, NAMES)
    np.testing.assert_allclose([flat.score(row) for row in numbers], boosted.predict(numbers), atol=1e-5)


def test_children_lie_side_by_side_after_their_node(table):
    boosted = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=7, random_state=0).fit(*table)
    flat = flat_trees(boosted, NAMES)
    inner = np.flatnonzero(flat.number != LEAF)
    children = np.concatenate([flat.child[inner], flat.child[inner] + 1])
    assert sorted([*children, *flat.roots]) == list(range(len(flat.number)))
    assert (flat.child[inner] > inner).all()
    assert [getattr(flat, name).dtype for name in ARRAYS] == [np.int32, np.float32, np.int32, np.float32, np.int32]
