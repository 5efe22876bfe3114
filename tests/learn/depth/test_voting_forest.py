"""A forest with votes: the parts of the forest alone, and votes that pixels cast only when asked for."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.votes.cast_votes import cast_votes, pack_votes
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.learn.depth.voting_forest import VotingForest
from tests.support import random_inputs
from tests.support.toy_person import TOY, toy_frame


def drawn(symmetric: bool = False) -> tuple[DepthForest, tuple[LeafVotes, ...]]:
    rng = np.random.default_rng(1)
    trees = [random_inputs.tree(rng, 5, 9, TOY.n_classes) for _ in range(2)]
    votes = tuple(
        LeafVotes.from_dense(
            np.arange(tree.n_leaves, dtype=np.int32),
            rng.integers(-40, 40, (tree.n_leaves, len(TOY.joints), 1, 3), np.int8),
            rng.integers(1, 255, (tree.n_leaves, len(TOY.joints), 1), np.uint8),
        )
        for tree in trees
    )
    return DepthForest(trees, [random_inputs.offset_pairs(rng, 9) for _ in trees], TOY, symmetric), votes


@pytest.fixture(scope="module")
def person() -> tuple:
    frame = toy_frame(5)
    return frame.depth.depth_m, frame.people > 0, frame.depth.intrinsics


@pytest.mark.parametrize("stride", [(1, 1), (2, 3)])
def test_parts_are_those_of_the_forest_alone(person, stride):
    forest, votes = drawn()
    own, plain = VotingForest(forest, votes).predict(*person, stride), forest.predict(*person, stride)
    np.testing.assert_array_equal(own.pixels, plain.pixels)
    np.testing.assert_array_equal(own.probabilities, plain.probabilities)
    assert own.stride == plain.stride == stride


def test_a_forest_without_votes_casts_none(person):
    forest, _ = drawn()
    assert VotingForest(forest).predict(*person).cast_votes is None
    assert forest.predict(*person).cast_votes is None


@pytest.mark.parametrize("symmetric", [False, True])
def test_votes_are_those_of_the_leaves_that_pixels_reach(person, symmetric):
    forest, votes = drawn(symmetric)
    parts = VotingForest(forest, votes).predict(*person)
    points = person[2].deproject_pixels(*parts.pixels.T, person[0][tuple(parts.pixels.T)]).astype(np.float32)
    area = np.full(len(points), 1e-4, np.float32)
    _, leaves = forest.reach_leaves(*person)
    packed = pack_votes(votes, TOY.mirrored_joints() if symmetric else None)
    wanted, found = cast_votes(points, area, leaves, packed), parts.cast_votes(points, area)
    assert found.counts.tolist() == wanted.counts.tolist()
    assert found.counts.all()
    np.testing.assert_array_equal(found.places_m, wanted.places_m)
    np.testing.assert_array_equal(found.weights_m2, wanted.weights_m2)


def test_a_voting_forest_has_the_body_of_its_forest():
    forest, votes = drawn()
    assert VotingForest(forest, votes).body == TOY
