"""`Tree.check` refuses arrays that would lead a kernel out of bounds or into a loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.learn.tree import LEAF, Tree
from tests.support import random_inputs

#: 0 (root) and 2 are inner nodes; 1, 3 and 4 are leaves
GOOD = Tree(
    feature=np.array([0, LEAF, 1, LEAF, LEAF], np.int32),
    threshold=np.array([0.1, 0, -0.2, 0, 0], np.float32),
    first_child=np.array([1, 0, 3, 1, 2], np.int32),
    leaf_statistics=np.eye(3, dtype=np.float32),
)


def changed(name: str, place, value) -> Tree:
    array = getattr(GOOD, name).copy()
    array[place] = value
    return replace(GOOD, **{name: array})


def test_a_sound_tree_passes_and_knows_its_size():
    GOOD.check(n_features=2)
    assert (GOOD.n_nodes, GOOD.n_leaves, GOOD.depth()) == (5, 3, 2)


def test_a_single_leaf_is_a_tree_of_depth_0():
    leaf = Tree(np.array([LEAF], np.int32), np.zeros(1, np.float32), np.zeros(1, np.int32), np.ones((1, 2), np.float32))
    leaf.check(n_features=0)
    assert leaf.depth() == 0


@pytest.mark.parametrize(
    "tree",
    [
        changed("feature", 0, 2),
        changed("feature", 0, -2),
        changed("first_child", 0, 0),
        changed("first_child", 2, 1),
        changed("first_child", 2, 2),
        changed("first_child", 2, 4),
        changed("first_child", 2, 1000),
        changed("first_child", 0, -1),
        changed("first_child", 1, -1),
        changed("first_child", 4, 3),
        changed("first_child", 0, 3),
        replace(
            GOOD,
            feature=np.append(GOOD.feature, LEAF).astype(np.int32),
            threshold=np.append(GOOD.threshold, 0).astype(np.float32),
            first_child=np.append(GOOD.first_child, 0).astype(np.int32),
        ),
        changed("first_child", 2, 2**31 - 1),
        changed("threshold", 0, np.nan),
        changed("threshold", 2, np.inf),
        changed("leaf_statistics", (0, 0), np.nan),
        replace(GOOD, feature=np.zeros(0, np.int32), threshold=np.zeros(0, np.float32), first_child=GOOD.feature[:0]),
        replace(GOOD, threshold=GOOD.threshold[:4]),
        replace(GOOD, first_child=GOOD.first_child[:4]),
    ],
    ids=[
        "feature beyond the table",
        "negative feature",
        "root is its own child",
        "child before its parent",
        "node is its own child",
        "second child beyond the tree",
        "child far beyond the tree",
        "negative child",
        "negative leaf",
        "leaf beyond the rows",
        "two nodes with the same children",
        "a node without a parent",
        "child further than numbers go",
        "threshold NaN",
        "threshold infinite",
        "probability NaN",
        "no nodes",
        "too few thresholds",
        "too few children",
    ],
)
def test_check_refuses(tree):
    with pytest.raises(ValueError):
        tree.check(n_features=2)


def test_random_trees_pass_their_check():
    rng = np.random.default_rng(1)
    for depth in range(6):
        tree = random_inputs.tree(rng, depth, 7, 4)
        tree.check(n_features=7)
        assert tree.depth() <= depth
        assert tree.n_nodes == 2 * tree.n_leaves - 1
