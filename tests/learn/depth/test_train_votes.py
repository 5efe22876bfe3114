"""Votes of a grown forest: joints of people it never saw are where its pixels vote."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.proposals import ModeProposer, find_landmarks
from posepipe.joints.weighted_points import weigh_points
from posepipe.landmarks import landmark_classes
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.depth.train_votes import train_votes
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.learn.depth.voting_forest import VotingForest
from posepipe.learn.growing import GrowthRules
from posepipe.models.pose_model import PoseModel
from posepipe.training.joints.fit_joints import fit_joint_parameters
from tests.support.toy_person import TOY, toy_frame, toy_frames

PARAMETERS = ForestParameters(trees=2, pixels_per_person=150, growth=GrowthRules(max_depth=9, candidates=80), seed=3)


@pytest.fixture(scope="module")
def forest() -> DepthForest:
    return train_forest(toy_frames(24), PARAMETERS, TOY)


@pytest.fixture(scope="module")
def votes(forest) -> tuple[LeafVotes, ...]:
    return train_votes(forest, toy_frames(24))


@pytest.fixture(scope="module")
def classifier(forest, votes) -> VotingForest:
    return VotingForest(forest, votes)


def points_of(classifier, frame, mask=None):
    depth_m, intrinsics = frame.depth.depth_m, frame.depth.intrinsics
    parts = classifier.predict(depth_m, frame.people > 0 if mask is None else mask, intrinsics)
    return weigh_points(depth_m, intrinsics, parts, landmark_classes(TOY))


def voted(method: str) -> JointParameters:
    return JointParameters.default(TOY, method)


def test_pixels_vote_for_joints_of_unseen_people(classifier):
    for seed in range(100, 106):
        frame = toy_frame(seed)
        modes, masses = find_landmarks(points_of(classifier, frame), voted("votes"))
        assert (masses[:, 0] > 0).all()
        np.testing.assert_allclose(modes[:, 0], frame.joints_m[0], atol=0.06)


def test_a_hidden_hand_is_voted_for(classifier):
    frame = toy_frame(110)
    seen = (frame.people > 0) & (frame.parts != TOY.part_code("left_arm"))
    hidden = replace(frame, people=seen.astype(np.uint8))
    modes, masses = find_landmarks(points_of(classifier, hidden), voted("votes"))
    hand = TOY.joint_index("left_hand")
    assert masses[hand, 0] > 0
    assert np.linalg.norm(modes[hand, 0] - frame.joints_m[0, hand]) < 0.15


def test_both_methods_give_the_landmarks_of_each(classifier):
    points = points_of(classifier, toy_frame(111))
    surfaces, joints, both = (find_landmarks(points, voted(m)) for m in ("parts", "votes", "both"))
    for one, other, together in zip(surfaces, joints, both, strict=True):
        np.testing.assert_array_equal(np.concatenate([one, other]), together)


def test_joints_from_votes_need_a_classifier_with_votes(forest, classifier):
    points, with_votes = (points_of(each, toy_frame(112)) for each in (forest, classifier))
    for method in ("votes", "both"):
        with pytest.raises(ValueError, match="need a classifier with votes"):
            find_landmarks(points, voted(method))
    for one, other in zip(
        find_landmarks(points, voted("parts")), find_landmarks(with_votes, voted("parts")), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_proposals_say_whether_they_were_voted_for(classifier):
    found = ModeProposer(TOY, voted("both")).find(points_of(classifier, toy_frame(113)))
    assert {p.joint for p in found if p.voted} == set(TOY.joints)
    assert {p.joint for p in found if not p.voted} == {"head", "left_hand", "right_hand", "trunk", "legs"}


@pytest.mark.filterwarnings("ignore:joint parameters from")
@pytest.mark.parametrize("method", ["votes", "both"])
def test_joint_parameters_are_learned_for_votes(classifier, method):
    learned = fit_joint_parameters(classifier, toy_frames(12, first=50), method=method)
    assert learned.method == method
    assert learned.bandwidth_m.shape == JointParameters.default(TOY, method).bandwidth_m.shape
    assert (abs(learned.push_back_m[-len(TOY.joints) :]) < 0.03).all()  # a vote needs hardly any


def test_the_same_frames_give_the_same_votes(forest, votes):
    again = train_votes(forest, toy_frames(24))
    for one, other in zip(votes, again, strict=True):
        for name in LeafVotes.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_votes_need_people(forest):
    frame = toy_frame(0)
    empty = replace(frame, people=np.zeros_like(frame.people), joints_m=frame.joints_m[:0], visible=frame.visible[:0])
    with pytest.raises(ValueError, match="show none"):
        train_votes(forest, [empty] * 3)


def test_votes_of_too_few_trees_are_refused(forest, votes):
    with pytest.raises(ValueError, match="2 trees"):
        PoseModel(forest, JointParameters.default(TOY), votes[:1])
