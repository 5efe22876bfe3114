"""Votes of leaves made by hand, pixels that cast them, and a random model that has some."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.joints.joint_parameters import JointParameters
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.votes.leaf_votes import OFFSET_STEP_M, LeafVotes
from posepipe.models.pose_model import PoseModel
from tests.support import random_inputs
from tests.support.toy_person import TOY

AREA_M2 = 1e-4
"""Of a pixel."""


def leaf_votes(offsets, weights) -> LeafVotes:
    """A vote node for each leaf: offsets (L, J, K, 3) in steps, weights (L, J, K) of 255."""
    nodes = np.arange(len(weights), dtype=np.int32)
    return LeafVotes.from_dense(nodes, np.array(offsets, np.int8), np.array(weights, np.uint8))


def dense(votes: LeafVotes, modes: int = 4) -> SimpleNamespace:
    """Votes with ``modes`` places for every joint: node_of_leaf (L,), offsets (V, J, K, 3), weights (V, J, K)."""
    weights = np.zeros((len(votes.n_votes), votes.n_joints, modes), np.uint8)
    offsets = np.zeros((*weights.shape, 3), np.int8)
    node_of_vote = np.repeat(np.arange(len(votes.n_votes)), votes.n_votes)
    for node, joint, offset, weight in zip(node_of_vote, votes.joint, votes.offset, votes.weight, strict=True):
        mode = np.count_nonzero(weights[node, joint])
        offsets[node, joint, mode], weights[node, joint, mode] = offset, weight
    return SimpleNamespace(node_of_leaf=votes.node_of_leaf, offsets=offsets, weights=weights)


TWO_LEAVES = leaf_votes([[[[20, 0, 0]]], [[[0, 40, 0]]]], [[[255]], [[51]]])
"""The joint lies 0.1 m right of the pixels of leaf 0, and 0.2 m below those of leaf 1."""


def noisy_voters(rng: np.random.Generator, n_pixels: int = 300):
    """Pixels round three joints, with votes of three trees that err by centimetres.

    Returns
    -------
    points (N, 3), areas (N,), leaves (N, 3), LeafVotes of three trees, joints (3, 3)
    """
    joints = np.array([[0, 0, 2], [0.8, 0.1, 2.3], [-0.7, 0.6, 2.1]])
    home = rng.integers(3, size=n_pixels)
    offset = rng.integers(-40, 41, (n_pixels, 3))
    points = joints[home] - offset * OFFSET_STEP_M
    trees = []
    for _ in range(3):  # a leaf a pixel
        offsets, weights = np.zeros((n_pixels, 3, 2, 3)), np.zeros((n_pixels, 3, 2))
        offsets[np.arange(n_pixels), home, 0] = offset + rng.integers(-2, 3, (n_pixels, 3))
        weights[np.arange(n_pixels), home, 0] = rng.integers(100, 256, n_pixels)
        stray = rng.random(n_pixels) < 0.1
        offsets[stray, 2, 1] = 120
        weights[stray, 2, 1] = 90
        trees.append(leaf_votes(offsets, weights))
    leaves = np.repeat(np.arange(n_pixels)[:, None], 3, 1).astype(np.int32)
    area = rng.uniform(0.5, 1.5, n_pixels).astype(np.float32) * np.float32(AREA_M2)
    return points.astype(np.float32), area, leaves, trees, joints


def random_model(seed: int = 1) -> PoseModel:
    """Two random trees with random votes, of the toy body."""
    rng = np.random.default_rng(seed)
    trees = [random_inputs.tree(rng, 7, 9, TOY.n_classes) for _ in range(2)]
    shapes = [(tree.n_leaves, len(TOY.joints), 1) for tree in trees]
    votes = tuple(leaf_votes(rng.integers(-40, 40, (*shape, 3)), rng.integers(256, size=shape)) for shape in shapes)
    forest = DepthForest(trees, [random_inputs.offset_pairs(rng, 9) for _ in trees], TOY)
    return PoseModel(forest, JointParameters.default(TOY), votes, {"name": "toy", "figures": {}})
