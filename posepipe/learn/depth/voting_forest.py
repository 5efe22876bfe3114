"""Depth forest whose leaves vote for joints: a classifier of parts with votes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.learn.depth.classify import mean_posterior
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.votes.cast_votes import cast_votes, pack_votes
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.parts import EVERY_PIXEL, JointVotes, PartProbabilities, Stride
from posepipe.stage import Stateless


class VotingForest(Stateless):
    """`PartClassifier` made of a forest and the votes of its leaves.

    Parameters
    ----------
    forest : DepthForest
    votes : LeafVotes of each tree; empty = a classifier without votes
    """

    def __init__(self, forest: DepthForest, votes: Sequence[LeafVotes] = ()) -> None:
        self._forest = forest
        mirrored_joints = forest.body.mirrored_joints() if forest.symmetric else None
        self._votes = pack_votes(votes, mirrored_joints) if votes else None

    @property
    def body(self) -> BodyDefinition:
        """Body definition whose parts it labels."""
        return self._forest.body

    def predict(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: Stride = EVERY_PIXEL
    ) -> PartProbabilities:
        """Classify the pixels of one person, as `DepthForest.predict` does; votes are decoded on demand."""
        pixels, leaves = self._forest.reach_leaves(depth_m, mask, intrinsics, stride)
        values, votes = mean_posterior(leaves, self._forest.packed), self._votes
        if votes is None:
            return PartProbabilities(pixels, values, stride)

        def cast(points_m: np.ndarray, area_m2: np.ndarray) -> JointVotes:
            return cast_votes(points_m, area_m2, leaves, votes)

        return PartProbabilities(pixels, values, stride, cast)
