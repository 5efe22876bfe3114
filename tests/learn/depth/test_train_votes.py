"""Votes of a grown forest: joints of people it never saw are where its pixels vote."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.offset_votes import LeafVotes
from posepipe.joints.proposals import ModeProposer, find_landmarks
from posepipe.joints.weighted_points import weigh_points
from posepipe.landmarks import landmark_classes
from posepipe.learn.depth.depth_forest import DepthForest, ForestParameters, train_forest
from posepipe.learn.depth.train_votes import train_votes
from posepipe.learn.growing import GrowthRules
from posepipe.training.fit_joints import fit_joint_parameters
from tests.support.toy_person import TOY, toy_frame, toy_frames

PARAMETERS = ForestParameters(trees=2, pixels_per_person=150, growth=GrowthRules(max_depth=9, candidates=80), seed=3)


@pytest.fixture(scope="module")
def forest() -> DepthForest:
    grown = train_forest(toy_frames(24), PARAMETERS, TOY)
    grown.set_votes(train_votes(grown, toy_frames(24)))
    return grown


def density_of(forest, frame, mask=None):
    depth_m, intrinsics = frame.depth.depth_m, frame.depth.intrinsics
    parts = forest.predict(depth_m, frame.people > 0 if mask is None else mask, intrinsics)
    return weigh_points(depth_m, intrinsics, parts, landmark_classes(TOY))


def voted(method: str) -> JointParameters:
    return JointParameters.default(TOY, method)


def test_joints_of_people_it_never_saw_are_where_pixels_vote(forest):
    for seed in range(100, 106):
        frame = toy_frame(seed)
        modes, masses = find_landmarks(density_of(forest, frame), voted("votes"), forest.packed_votes)
        assert (masses[:, 0] > 0).all()
        np.testing.assert_allclose(modes[:, 0], frame.joints_m[0], atol=0.06)


def test_a_hidden_hand_is_voted_for(forest):
    frame = toy_frame(110)
    seen = (frame.people > 0) & (frame.parts != TOY.part_code("left_arm"))
    hidden = replace(frame, people=seen.astype(np.uint8))
    modes, masses = find_landmarks(density_of(forest, hidden), voted("votes"), forest.packed_votes)
    hand = TOY.joint_index("left_hand")
    assert masses[hand, 0] > 0
    assert np.linalg.norm(modes[hand, 0] - frame.joints_m[0, hand]) < 0.15


def test_both_methods_give_the_landmarks_of_each_side_by_side(forest):
    density = density_of(forest, toy_frame(111))
    parts, votes, both = (find_landmarks(density, voted(m), forest.packed_votes) for m in ("parts", "votes", "both"))
    for one, other, together in zip(parts, votes, both, strict=True):
        np.testing.assert_array_equal(np.concatenate([one, other]), together)


def test_a_classifier_without_leaves_finds_what_surfaces_give(forest):
    density = replace(density_of(forest, toy_frame(112)), leaves=None)
    modes, masses = find_landmarks(density, voted("both"), forest.packed_votes)
    surfaces, _ = find_landmarks(density, voted("parts"), None)
    np.testing.assert_array_equal(modes[: len(surfaces)], surfaces)
    assert not masses[len(surfaces) :].any()


def test_proposals_say_whether_they_were_voted_for(forest):
    found = ModeProposer(TOY, voted("both"), forest.packed_votes).find(density_of(forest, toy_frame(113)))
    assert {p.joint for p in found if p.voted} == set(TOY.joints)
    assert {p.joint for p in found if not p.voted} == {"head", "left_hand", "right_hand", "trunk", "legs"}


@pytest.mark.filterwarnings("ignore:joint parameters from")
@pytest.mark.parametrize("method", ["votes", "both"])
def test_joint_parameters_are_learned_for_votes(forest, method):
    learned = fit_joint_parameters(forest, toy_frames(12, first=50), votes=forest.packed_votes, method=method)
    assert learned.method == method
    assert learned.bandwidth_m.shape == JointParameters.default(TOY, method).bandwidth_m.shape
    assert (abs(learned.push_back_m[-len(TOY.joints) :]) < 0.03).all()  # a vote needs hardly any


def test_the_same_frames_give_the_same_votes(forest):
    again = train_votes(forest, toy_frames(24))
    for one, other in zip(forest.votes, again, strict=True):
        for name in LeafVotes.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_votes_need_people(forest):
    frame = toy_frame(0)
    empty = replace(frame, people=np.zeros_like(frame.people), joints_m=frame.joints_m[:0], visible=frame.visible[:0])
    with pytest.raises(ValueError, match="nobody"):
        train_votes(forest, [empty] * 3)


def test_votes_of_too_few_trees_are_refused(forest):
    with pytest.raises(ValueError, match="2 trees"):
        DepthForest(forest.trees, forest.offsets, TOY, votes=forest.votes[:1])
