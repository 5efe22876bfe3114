"""Kernels that fit the votes of leaves and cast them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.learn.depth.votes.cast_votes import cast_votes, pack_votes
from posepipe.learn.depth.votes.fit_votes import STARTS, VoteRules, fit_votes
from tests.kernels.kernel import Kernel
from tests.reference.learn import cast_votes as naive_cast_votes
from tests.reference.learn import fit_votes as naive_fit_votes
from tests.support import random_inputs
from tests.support.leaf_votes import dense, leaf_votes


def _training_pixels(rng, size):
    """Pixels of a tree's leaves, one a person; each leaf sees a joint at one place or another, some joints unknown."""
    tree = random_inputs.tree(rng, 5, 3, 2)
    leaves = rng.integers(tree.n_leaves, size=size).astype(np.int32)
    places = rng.uniform(-0.3, 0.3, (tree.n_leaves, 2, 3, 3))
    offsets = places[leaves, (rng.random(size) < 0.3).astype(int)] + rng.normal(0, 0.005, (size, 3, 3))
    offsets[:, 2][rng.random(size) < 0.3] = np.nan
    points_m = rng.uniform([-1, -1, 1], [1, 1, 4], (size, 3)).astype(np.float32)
    return SimpleNamespace(
        tree=tree,
        leaves=leaves,
        points_m=points_m,
        person=np.arange(size, dtype=np.int32),
        joints_m=(points_m[:, None] + offsets).astype(np.float32),
        limits_m=np.array([0.4, 0.35, 0.4], np.float32),
        rules=VoteRules(min_samples=15, max_samples=40, bandwidth_m=0.03),
    )


def _pixels_and_rules(inputs):
    return inputs.tree, inputs.leaves, inputs.points_m, inputs.person, inputs.joints_m, inputs.limits_m, inputs.rules


def _fitted(inputs):
    """Offsets and weights leaf by leaf."""
    votes = dense(fit_votes(*_pixels_and_rules(inputs)), inputs.rules.modes)
    return votes.offsets[votes.node_of_leaf], votes.weights[votes.node_of_leaf]


def _voters(rng, size):
    """Pixels round three joints, a leaf each, whose votes in each of three trees err by a centimetre."""
    home, offset = rng.integers(3, size=size), rng.integers(-40, 41, (size, 3))
    trees = []
    for _ in range(3):
        offsets, weights = np.zeros((size, 3, 2, 3), np.int8), np.zeros((size, 3, 2), np.uint8)
        offsets[np.arange(size), home, 0] = offset + rng.integers(-2, 3, (size, 3))
        weights[np.arange(size), home, 0] = rng.integers(100, 256, size)
        trees.append(leaf_votes(offsets, weights))
    joints = np.array([[0, 0, 2], [0.8, 0.1, 2.3], [-0.7, 0.6, 2.1]])
    return SimpleNamespace(
        points_m=(joints[home] - offset * 0.005).astype(np.float32),
        area_m2=rng.uniform(5e-5, 15e-5, size).astype(np.float32),
        leaves=np.repeat(np.arange(size)[:, None], 3, 1).astype(np.int32),
        trees=trees,
        packed=pack_votes(trees),
    )


def _cast(inputs):
    votes = cast_votes(inputs.points_m, inputs.area_m2, inputs.leaves, inputs.packed, 60, 77)
    return votes.places_m, votes.weights_m2, votes.counts


def _cast_naively(inputs):
    trees = [dense(tree) for tree in inputs.trees]
    cast = naive_cast_votes.cast_votes(inputs.points_m, inputs.area_m2, inputs.leaves, trees, 60, 77)
    places, weights = np.zeros((len(cast), 60, 3)), np.zeros((len(cast), 60))
    for joint, votes in enumerate(cast):
        for k, vote in enumerate(votes):
            places[joint, k], weights[joint, k] = vote
    return places, weights, np.array([len(votes) for votes in cast])


KERNELS = (
    Kernel(
        "fit_votes",
        _fitted,
        lambda i: naive_fit_votes.fit_votes(*_pixels_and_rules(i), STARTS),
        _training_pixels,
        size=600,
        tolerance=(1, 2),
        may_differ=0.1,
        reason="stored steps are rounded either way; votes of equal or of the minimum weight change places or go",
    ),
    Kernel(
        "cast_votes",
        _cast,
        _cast_naively,
        _voters,
        size=300,
        tolerance=1e-6,
        reason="float32 places",
    ),
)
