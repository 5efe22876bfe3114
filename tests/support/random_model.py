"""A model of random trees with random votes, of the toy body."""

from __future__ import annotations

import numpy as np

from posepipe.joints.joint_parameters import JointParameters
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.models.pose_model import PoseModel
from tests.support import random_inputs
from tests.support.leaf_votes import leaf_votes
from tests.support.toy_person import TOY


def random_model(seed: int = 1) -> PoseModel:
    rng = np.random.default_rng(seed)
    trees = [random_inputs.tree(rng, 7, 9, TOY.n_classes) for _ in range(2)]
    shapes = [(tree.n_leaves, len(TOY.joints), 1) for tree in trees]
    votes = tuple(leaf_votes(rng.integers(-40, 40, (*shape, 3)), rng.integers(256, size=shape)) for shape in shapes)
    forest = DepthForest(trees, [random_inputs.offset_pairs(rng, 9) for _ in trees], TOY)
    return PoseModel(forest, JointParameters.default(TOY), votes, {"name": "toy", "figures": {}})
