"""Votes of leaves: planted offsets are learned, and what must not vote does not."""

from __future__ import annotations

from types import SimpleNamespace

import numba
import numpy as np
import pytest

from posepipe.learn.depth.classify import classify, find_leaves, mean_posterior
from posepipe.learn.depth.packed_forest import pack_forest
from posepipe.learn.depth.splitting.depth_features import bordered_depth
from posepipe.learn.depth.votes.fit_votes import STARTS, VoteRules, fit_votes
from posepipe.learn.depth.votes.leaf_votes import MAX_VOTE_M, OFFSET_STEP_M
from posepipe.learn.tree import LEAF, Tree
from tests.reference.learn import classify as naive_classify
from tests.reference.learn import fit_votes as naive
from tests.support import random_inputs
from tests.support.leaf_votes import dense

PIXELS = 60
LIMIT_M = 0.4
SHORT, LONG = np.array([0.1, -0.2, 0.05]), np.array([0.0, 0.0, 0.5])


def tree_of(*splits: bool) -> Tree:
    """A tree whose nodes, level by level, split or do not; the features are of no matter."""
    inner = np.array(splits)
    return Tree(
        feature=np.where(inner, 0, LEAF).astype(np.int32),
        threshold=np.zeros(len(inner), np.float32),
        first_child=np.where(inner, 2 * np.cumsum(inner) - 1, np.cumsum(~inner) - 1).astype(np.int32),
        leaf_statistics=np.ones((int((~inner).sum()), 1), np.float32),
    )


ONE_LEAF = tree_of(False)
STUMP = tree_of(True, False, False)


def training(offsets, leaves=None) -> SimpleNamespace:
    """One pixel a person, here and there, whose joints lie at offsets (N, J, 3)."""
    offsets = np.asarray(offsets, float)
    points_m = np.random.default_rng(1).uniform([-1, -1, 1], [1, 1, 4], (len(offsets), 3)).astype(np.float32)
    return SimpleNamespace(
        leaves=np.zeros(len(offsets), np.int32) if leaves is None else np.asarray(leaves, np.int32),
        points_m=points_m,
        person=np.arange(len(offsets), dtype=np.int32),
        joints_m=(points_m[:, None] + offsets).astype(np.float32),
    )


def fit(pixels, tree=ONE_LEAF, limit_m=LIMIT_M, **rules):
    limits = np.full(pixels.joints_m.shape[1], limit_m, np.float32)
    rules = VoteRules(**{"min_samples": 10, "modes": 2, "min_weight": 0.1, **rules})
    votes = fit_votes(tree, pixels.leaves, pixels.points_m, pixels.person, pixels.joints_m, limits, rules)
    votes.check(tree.n_leaves, pixels.joints_m.shape[1])
    return dense(votes, rules.modes)


def same(offset, count: int = PIXELS) -> np.ndarray:
    """``count`` pixels that see one joint at one offset: (count, 1, 3)."""
    return np.tile(np.asarray(offset, float), (count, 1, 1))


def steps(offset) -> list[int]:
    return np.rint(np.asarray(offset) / OFFSET_STEP_M).astype(int).tolist()


def test_pixels_that_agree_vote_with_full_weight():
    votes = fit(training(same(SHORT)))
    assert votes.offsets[0, 0, 0].tolist() == steps(SHORT)
    assert votes.weights[0, 0].tolist() == [255, 0]
    assert (votes.offsets.dtype, votes.weights.dtype, votes.node_of_leaf.dtype) == (np.int8, np.uint8, np.int32)


def test_pixels_at_two_offsets_vote_twice():
    offsets = np.concatenate([same(SHORT, 40), same(-SHORT, 20)])
    votes = fit(training(offsets))
    assert votes.offsets[0, 0].tolist() == [steps(SHORT), steps(-SHORT)]
    assert votes.weights[0, 0].tolist() == [170, 85]  # two thirds and one third of 255
    assert fit(training(offsets), modes=1).offsets[0, 0].tolist() == [steps(SHORT)]


def test_the_less_pixels_agree_the_less_a_vote_weighs():
    rng = np.random.default_rng(2)
    bandwidth_m = 0.05
    scattered = SHORT + rng.normal(0, bandwidth_m, (4000, 1, 3))
    votes = fit(training(scattered), max_samples=4000, bandwidth_m=bandwidth_m)
    # a Gaussian seen through a Gaussian as wide: (1 + 1)^(-3/2)
    assert votes.weights[0, 0, 0] / 255 == pytest.approx(2**-1.5, abs=0.03)
    assert np.abs(votes.offsets[0, 0, 0] - np.array(steps(SHORT))).max() <= 2


def test_each_joint_has_votes_of_its_own():
    votes = fit(training(np.concatenate([same(SHORT), same(-SHORT)], axis=1)))
    assert votes.offsets[0, :, 0].tolist() == [steps(SHORT), steps(-SHORT)]


def test_each_leaf_has_votes_of_its_own():
    votes = fit(training(np.concatenate([same(SHORT), same(-SHORT)]), [0] * PIXELS + [1] * PIXELS), STUMP)
    assert votes.offsets[votes.node_of_leaf, 0, 0].tolist() == [steps(SHORT), steps(-SHORT)]
    assert votes.weights[votes.node_of_leaf, 0, 0].tolist() == [255, 255]


def test_a_leaf_of_few_pixels_votes_by_the_nearest_larger_node():
    # leaves from left to right: 0 of the root; 1 and 2 below its right child, 40 and 5 pixels
    tree = tree_of(True, False, True, False, False)
    offsets = np.concatenate([same(-SHORT, 50), same(SHORT, 40), same(2 * SHORT, 5)])
    votes = fit(training(offsets, [0] * 50 + [1] * 40 + [2] * 5), tree, limit_m=0.5)
    assert len(votes.weights) == 3
    of_leaf = votes.offsets[votes.node_of_leaf, 0, 0]
    assert of_leaf[:2].tolist() == [steps(-SHORT), steps(SHORT)]
    below = votes.node_of_leaf[2]
    assert votes.offsets[below, 0].tolist() == [steps(SHORT), steps(2 * SHORT)]
    np.testing.assert_allclose(votes.weights[below, 0] / 255, [40 / 45, 5 / 45], atol=3e-3)
    alone = fit(training(offsets, [0] * 50 + [1] * 40 + [2] * 5), tree, limit_m=0.5, min_samples=1)
    assert alone.offsets[alone.node_of_leaf[2], 0, 0].tolist() == steps(2 * SHORT)


def test_the_root_votes_when_no_node_holds_enough():
    votes = fit(training(same(SHORT, 4), [0, 0, 1, 1]), STUMP)
    assert votes.node_of_leaf.tolist() == [0, 0]
    assert votes.offsets[0, 0, 0].tolist() == steps(SHORT)


def test_unknown_joints_never_vote():
    offsets = same(SHORT)
    offsets[::2] = np.nan
    assert fit(training(offsets)).weights[0, 0].tolist() == [128, 0]  # half of the pixels agree
    assert not fit(training(np.full((PIXELS, 1, 3), np.nan))).weights.any()


def test_joints_further_than_the_limit_never_vote():
    offsets = np.concatenate([same(LONG, 40), same(SHORT, 20)])
    votes = fit(training(offsets))
    assert votes.offsets[0, 0].tolist() == [steps(SHORT), [0, 0, 0]]
    assert votes.weights[0, 0].tolist() == [85, 0]
    assert fit(training(offsets), limit_m=0.6).offsets[0, 0].tolist() == [steps(LONG), steps(SHORT)]
    assert not fit(training(offsets), limit_m=0.1).weights.any()


def test_light_votes_are_none():
    offsets = np.concatenate([same(SHORT, 55), same(-SHORT, 5)])
    assert (fit(training(offsets), min_weight=0.05).weights[0, 0] > 0).tolist() == [True, True]
    assert (fit(training(offsets), min_weight=0.2).weights[0, 0] > 0).tolist() == [True, False]


def test_no_pixels_no_votes():
    votes = fit(training(np.zeros((0, 2, 3))), STUMP)
    assert not votes.weights.any()


def test_where_people_stand_does_not_matter():
    pixels = _mixed(np.random.default_rng(3))
    still = fit(pixels, _TREE)
    pixels.points_m = pixels.points_m + np.float32(0.5)
    pixels.joints_m = pixels.joints_m + np.float32(0.5)
    moved = fit(pixels, _TREE)
    np.testing.assert_array_equal(moved.node_of_leaf, still.node_of_leaf)
    assert np.abs(moved.offsets.astype(int) - still.offsets).max() <= 1
    assert np.abs(moved.weights.astype(int) - still.weights).max() <= 1


_TREE = random_inputs.tree(np.random.default_rng(4), 5, 3, 2)


def _mixed(rng) -> SimpleNamespace:
    """Pixels of a deep tree; each leaf sees every joint at one or two offsets, a third of the joints unknown."""
    leaves = rng.integers(_TREE.n_leaves, size=600)
    places = rng.uniform(-0.3, 0.3, (_TREE.n_leaves, 2, 3, 3))
    which = (rng.random(600) < 0.3).astype(int)
    offsets = places[leaves, which] + rng.normal(0, 0.005, (600, 3, 3))
    offsets[:, 2][rng.random(600) < 0.3] = np.nan
    return training(offsets, leaves)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_votes_are_those_of_the_naive_twin(seed):
    pixels = _mixed(np.random.default_rng(seed))
    rules = VoteRules(min_samples=15, max_samples=40, modes=2, bandwidth_m=0.03, min_weight=0.1)
    limits = np.array([0.4, 0.35, 0.4], np.float32)
    inputs = (_TREE, pixels.leaves, pixels.points_m, pixels.person, pixels.joints_m, limits, rules)
    votes = dense(fit_votes(*inputs), rules.modes)
    offsets, weights = naive.fit_votes(*inputs, STARTS)
    of_leaf = votes.weights[votes.node_of_leaf].astype(int), votes.offsets[votes.node_of_leaf].astype(int)
    # a step is rounded either way; a vote at the min weight or of equal weights stays or goes
    alike = (np.abs(of_leaf[0] - weights) <= 2) & (np.abs(of_leaf[1] - offsets) <= 1).all(-1)
    assert (weights > 0).sum() > 30
    assert alike.mean() > 0.97


def test_one_thread_and_many_learn_the_same():
    pixels = _mixed(np.random.default_rng(5))
    many, threads = fit(pixels, _TREE), numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        one = fit(pixels, _TREE)
    finally:
        numba.set_num_threads(threads)
    for name in ("node_of_leaf", "offsets", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"leaves": np.full(PIXELS, 2, np.int32)}, "leaf outside"),
        ({"person": np.full(PIXELS, -1, np.int32)}, "person outside"),
        ({"person": np.zeros(3, np.int32)}, "every pixel needs"),
    ],
)
def test_rows_that_lead_nowhere_are_refused(change, message):
    pixels = training(same(SHORT))
    with pytest.raises(ValueError, match=message):
        fit(SimpleNamespace(**{**vars(pixels), **change}), STUMP)


@pytest.mark.parametrize("limit_m", [-0.1, MAX_VOTE_M + 0.01, np.nan])
def test_limits_that_a_vote_cannot_hold_are_refused(limit_m):
    with pytest.raises(ValueError, match="limits"):
        fit(training(same(SHORT)), limit_m=limit_m)


@pytest.mark.parametrize(
    "rules", [{"min_samples": 0}, {"max_samples": 0}, {"modes": 5}, {"bandwidth_m": 0}, {"min_weight": 1.5}]
)
def test_rules_that_allow_no_votes_are_refused(rules):
    with pytest.raises(ValueError, match="votes need"):
        VoteRules(**rules)


def _forest_and_pixels():
    rng = np.random.default_rng(6)
    depth_m, mask = random_inputs.depth_image(rng, 40, 50)
    trees = [random_inputs.tree(rng, 6, 10, 4) for _ in range(3)]
    tables = [random_inputs.offset_pairs(rng, 10) for _ in range(3)]
    return depth_m, mask, random_inputs.readable_pixels(rng, depth_m, mask, 200), trees, tables


def test_pixels_reach_the_leaves_that_a_naive_walk_finds():
    depth_m, mask, pixels, trees, tables = _forest_and_pixels()
    leaves = find_leaves(bordered_depth(depth_m, mask), pixels, 50.0, 50.0, pack_forest(trees, tables))
    assert (leaves.shape, leaves.dtype) == ((200, 3), np.int32)
    walked = [
        [naive_classify.leaf_of(tree, table, depth_m, mask, *pixel, 50.0, 50.0) for pixel in pixels]
        for tree, table in zip(trees, tables, strict=True)
    ]
    # a probe on the edge of two pixels is rounded either way
    assert (leaves != np.transpose(walked)).mean() < 0.005


def test_a_pixel_s_probabilities_are_the_mean_of_its_leaves():
    depth_m, mask, pixels, trees, tables = _forest_and_pixels()
    image, forest = bordered_depth(depth_m, mask), pack_forest(trees, tables)
    leaves = find_leaves(image, pixels, 50.0, 50.0, forest)
    by_hand = np.mean([tree.leaf_statistics[leaves[:, t]] for t, tree in enumerate(trees)], axis=0)
    np.testing.assert_allclose(mean_posterior(leaves, forest), by_hand, atol=1e-6)
    np.testing.assert_array_equal(mean_posterior(leaves, forest), classify(image, pixels, 50.0, 50.0, forest))
