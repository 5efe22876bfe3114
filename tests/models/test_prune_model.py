"""Pruned models: fewer leaves, the splits that say most, and votes of the leaves that were merged."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.joints.joint_parameters import JointParameters
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import as_stored
from posepipe.learn.tree import LEAF, Tree
from posepipe.models.pose_model import PoseModel
from posepipe.models.prune_model import prune_model
from tests.support.leaf_votes import dense, leaf_votes, random_model
from tests.support.toy_person import TOY, toy_frame


def one_hot(part: int) -> np.ndarray:
    return np.eye(TOY.n_classes, dtype=np.float32)[part]


def planted_tree() -> Tree:
    """The root's first child parts nearly equal leaves, its second two parts of the body."""
    leaves = np.stack([0.9 * one_hot(1) + 0.1 * one_hot(2), one_hot(1), one_hot(3), one_hot(4)])
    return Tree(
        np.array([0, 0, 0, LEAF, LEAF, LEAF, LEAF], np.int32),
        np.zeros(7, np.float32),
        np.array([1, 3, 5, 0, 1, 2, 3], np.int32),
        leaves.astype(np.float32),
    )


def planted_model() -> PoseModel:
    offsets = np.zeros((4, len(TOY.joints), 1, 3))
    offsets[:, 0, 0, 0] = [10, 20, 30, 40]
    weights = np.zeros((4, len(TOY.joints), 1))
    weights[:, 0] = 255
    forest = DepthForest([planted_tree()], [np.full((1, 2, 2), 0.1, np.float32)], TOY)
    return PoseModel(forest, JointParameters.default(TOY), (leaf_votes(offsets, weights),))


def test_the_split_that_says_least_is_closed_first():
    (tree,) = prune_model(planted_model(), 0.75).forest.trees
    assert tree.feature.tolist() == [0, LEAF, 0, LEAF, LEAF]
    np.testing.assert_allclose(tree.leaf_statistics[0], 0.95 * one_hot(1) + 0.05 * one_hot(2), atol=1 / 255)
    np.testing.assert_array_equal(tree.leaf_statistics[1:], planted_tree().leaf_statistics[2:])


def test_a_merged_leaf_votes_as_most_leaves_below_it_do():
    votes = dense(prune_model(planted_model(), 0.75).votes[0])
    assert votes.offsets[votes.node_of_leaf, 0, 0, 0].tolist() == [10, 30, 40]
    assert len(votes.weights) == 3  # the vote node of no leaf is left out


@pytest.mark.parametrize("share", [0.001, 0.25, 0.5, 0.999])
def test_a_pruned_model_has_at_most_that_share_of_leaves(tmp_path, share):
    model = random_model()
    pruned = prune_model(model, share)
    for tree, smaller in zip(model.forest.trees, pruned.forest.trees, strict=True):
        assert 1 <= smaller.n_leaves <= max(1, share * tree.n_leaves)
    assert dict(pruned.metadata) == {"name": "toy", "pruned": share}
    pruned.save(tmp_path / "pruned.npz")
    depth = toy_frame(1).depth
    kept, again = pruned.classifier(), PoseModel.load(tmp_path / "pruned.npz").classifier()
    one, other = (
        each.predict(depth.depth_m, depth.depth_m > 0, depth.intrinsics).probabilities for each in (kept, again)
    )
    np.testing.assert_array_equal(one, other)


def test_a_model_pruned_twice_tells_the_share_of_both():
    twice = prune_model(prune_model(random_model(), 0.5), 0.5)
    assert twice.metadata["pruned"] == 0.25
    for tree, smaller in zip(random_model().forest.trees, twice.forest.trees, strict=True):
        assert smaller.n_leaves <= 0.25 * tree.n_leaves


def test_more_pruning_closes_all_that_less_did():
    half, quarter = (prune_model(random_model(), share).forest.trees for share in (0.5, 0.25))
    assert [t.n_leaves for t in quarter] < [t.n_leaves for t in half]
    assert all(set(small.threshold) <= set(large.threshold) for small, large in zip(quarter, half, strict=True))


def test_by_frames_the_split_that_errs_on_them_is_closed():
    """All pixels below the second child are of part 3, where it parts 3 from 4."""
    reached = [10.0 * np.stack([0.9 * one_hot(1) + 0.1 * one_hot(2), one_hot(1), one_hot(3), one_hot(3)])]
    (tree,) = prune_model(planted_model(), None, reached).forest.trees
    assert tree.feature.tolist() == [0, 0, LEAF, LEAF, LEAF]
    np.testing.assert_allclose(tree.leaf_statistics[tree.first_child[2]], 0.5 * (one_hot(3) + one_hot(4)), atol=1 / 255)
    # where the second child is right on its pixels, the first one's split is worth less
    reached = [10.0 * np.stack([one_hot(1), one_hot(1), one_hot(3), one_hot(4)])]
    (tree,) = prune_model(planted_model(), 0.75, reached).forest.trees
    assert tree.feature.tolist() == [0, LEAF, 0, LEAF, LEAF]


def brier(tree: Tree, reached: np.ndarray, full: Tree) -> float:
    """Mean quadratic error of a pruned tree on pixels counted at the leaves of the full one, walked side by side."""
    error, total, stack = 0.0, reached.sum(), [(0, 0)]
    while stack:
        own, node = stack.pop()
        if not tree.is_leaf[own]:
            stack += zip(tree.children(own), full.children(node), strict=True)
            continue
        below = [node]
        while below:
            node = below.pop()
            below += full.children(node)
            if full.is_leaf[node]:
                counts = reached[full.first_child[node]]
                share = tree.leaf_statistics[tree.first_child[own]]
                share = share / share.sum()
                error += sum(n * ((np.eye(len(share))[c] - share) ** 2).sum() for c, n in enumerate(counts))
    return error / total


def test_by_frames_the_error_on_them_does_not_rise():
    model, rng = random_model(), np.random.default_rng(8)
    reached = [rng.integers(0, 3, tree.leaf_statistics.shape).astype(float) for tree in model.forest.trees]
    best = prune_model(model, None, reached).forest.trees
    for k, full in enumerate(model.forest.trees):
        errors = [brier(tree, reached[k], full) for tree in (as_stored(full), best[k])]
        assert errors[1] <= errors[0] + 0.01  # leaves are bytes
        assert best[k].n_leaves < full.n_leaves
    for share in (0.25, 0.5):
        for full, tree in zip(model.forest.trees, prune_model(model, share, reached).forest.trees, strict=True):
            assert tree.n_leaves <= max(1, share * full.n_leaves)


def test_neither_a_share_nor_frames_is_refused():
    with pytest.raises(ValueError, match="to a share of its leaves, or by frames"):
        prune_model(random_model(), None)


@pytest.mark.parametrize("share", [0, 1, -0.5, 2, float("nan")])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(ValueError, match="above 0 and below 1"):
        prune_model(random_model(), share)
