"""Proposals read as a sequence, poses as a mapping of joints; both are arrays."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.landmarks import Landmark
from posepipe.results import FrameResult, Joint, JointProposal, Pose, Proposals, Track

HEAD, VOTED, HAND = Landmark("head", False), Landmark("head", True), Landmark("left_hand", False)
LANDMARKS = (HEAD, HAND, VOTED)


def proposal(x: float, confidence: float, landmark: Landmark = HEAD) -> JointProposal:
    return JointProposal(landmark.name, (x, 0.5, 2.0), confidence, landmark.voted)


SOME = [proposal(1.0, 0.3), proposal(2.0, 0.9, VOTED), proposal(3.0, 0.7)]
SORTED = [SOME[2], SOME[0], SOME[1]]  #: landmark by landmark, highest confidence first


def test_proposals_are_sorted_by_landmark_then_confidence():
    known = Proposals.gather(LANDMARKS, SOME)
    assert list(known) == SORTED
    assert len(known) == 3
    assert known[0] == SORTED[0]
    assert known[-1] == SORTED[-1]
    assert known[1:] == tuple(SORTED[1:])
    assert list(reversed(known)) == SORTED[::-1]
    assert SOME[1] in known
    assert known == tuple(SORTED)
    assert tuple(SORTED) == known
    assert known != tuple(SOME)


def test_gathered_proposals_stay_what_they_are():
    known = Proposals.gather(LANDMARKS, SOME)
    assert Proposals.gather(LANDMARKS, known) is known
    again = Proposals.gather((VOTED, HEAD, HAND), known)
    assert list(again) == [SOME[1], SOME[2], SOME[0]]


@pytest.mark.parametrize("confidence", [0.0, -0.5, np.nan])
def test_a_proposal_without_confidence_is_none(confidence):
    assert len(Proposals.gather(LANDMARKS, [proposal(1.0, confidence)])) == 0


def test_no_proposals_are_an_empty_sequence():
    known = Proposals.gather(LANDMARKS, [])
    assert list(known) == []
    assert known == ()


def test_one_of_each_landmark_is_picked_and_none_where_none_is():
    places_m, confidence = Proposals.gather(LANDMARKS, SOME).pick(np.array([1, 0, 0]))
    np.testing.assert_array_equal(places_m, [[1, 0.5, 2], [0, 0, 0], [2, 0.5, 2]])
    assert confidence.tolist() == [0.3, 0, 0.9]


@pytest.mark.parametrize(("landmark", "places", "confidences"), [(HEAD, [3, 1], [0.7, 0.3]), (VOTED, [2], [0.9])])
def test_proposals_of_one_landmark_are_those_found(landmark, places, confidences):
    places_m, confidence = Proposals.gather(LANDMARKS, SOME).of(landmark)
    assert (places_m[:, 0].tolist(), confidence.tolist()) == (places, confidences)


@pytest.mark.parametrize("landmark", [HAND, Landmark("tail", False)], ids=["nothing found", "of another body"])
def test_a_landmark_without_proposals_has_none(landmark):
    places_m, confidence = Proposals.gather(LANDMARKS, SOME).of(landmark)
    assert places_m.shape == (0, 3)
    assert confidence.shape == (0,)


def test_poses_of_equal_proposals_are_equal_and_so_are_copies():
    one, other = (Pose.of({"head": SOME[0]}, source_proposals=Proposals.gather(LANDMARKS, SOME)) for _ in range(2))
    assert one == other
    assert deepcopy(one) == other
    assert one != Pose.of({"head": SOME[0]}, source_proposals=Proposals.gather(LANDMARKS, SOME[:2]))


def test_what_is_written_of_proposals_is_a_line():
    assert repr(Proposals.gather(LANDMARKS, SOME)) == "<3 proposals for 3 landmarks>"


JOINTS = {"head": Joint("head", (0.1, -0.5, 2.0), 0.9), "left_hand": Joint("left_hand", (0.4, 0.0, 1.9), 0.4)}


def test_a_pose_of_single_joints_holds_them_as_arrays():
    pose = Pose.of(JOINTS)
    assert pose.names == ("head", "left_hand")
    np.testing.assert_array_equal(pose.joints_m, [[0.1, -0.5, 2.0], [0.4, 0.0, 1.9]])
    assert pose.joints_m.dtype == pose.confidences.dtype == np.float64
    assert pose.confidences.tolist() == [0.9, 0.4]
    assert pose.confidence == pytest.approx(0.65)


def test_a_pose_reads_as_the_joints_it_was_made_of():
    pose = Pose.of(JOINTS)
    assert dict(pose.joints) == JOINTS
    assert pose.joints is pose.joints
    assert "right_hand" not in pose.joints


def test_a_pose_of_proposals_has_their_places_and_confidences():
    pose = Pose.of({"head": SOME[2]})
    assert pose.joints == {"head": Joint("head", SOME[2].xyz_m, 0.7)}


def test_a_pose_in_rows_has_nan_for_joints_that_were_not_found():
    pose = Pose(("torso", "head"), np.array([[1.0, 2, 3], [4, 5, 6]]), np.array([0.5, 0.8]))
    joints_m, confidences = pose.in_rows_of(("head", "left_hand", "torso"))
    np.testing.assert_array_equal(joints_m, [[4, 5, 6], [np.nan] * 3, [1, 2, 3]])
    assert confidences.tolist() == [0.8, 0, 0.5]
    nothing_m, none = Pose.of({}).in_rows_of(("head",))
    assert np.isnan(nothing_m).all()
    assert none.tolist() == [0]
    with pytest.raises(KeyError, match="torso"):
        pose.in_rows_of(("head",))


def test_rows_of_the_joints_that_two_poses_have():
    one = Pose(("torso", "head", "left_hand"), np.zeros((3, 3)), np.zeros(3))
    other = Pose(("head", "left_foot", "torso"), np.zeros((3, 3)), np.zeros(3))
    rows, others = one.in_common(other)
    assert (rows.tolist(), others.tolist()) == ([0, 1], [2, 0])
    assert [len(each) for each in one.in_common(Pose.of({}))] == [0, 0]


def test_an_empty_pose_has_no_joints_and_confidence_0():
    pose = Pose.of({})
    assert (pose.names, pose.joints_m.shape, pose.confidences.shape) == ((), (0, 3), (0,))
    assert (dict(pose.joints), pose.confidence) == ({}, 0.0)


@pytest.mark.parametrize(
    "other",
    [
        Pose.of({"head": JOINTS["head"]}),
        Pose.of({"head": JOINTS["head"], "right_hand": JOINTS["left_hand"]}),
        Pose.of({**JOINTS, "head": Joint("head", (0.1, -0.5, 2.1), 0.9)}),
        Pose.of({**JOINTS, "head": Joint("head", (0.1, -0.5, 2.0), 0.8)}),
        Pose.of(JOINTS, SOME),
    ],
    ids=["a joint less", "another name", "another place", "another confidence", "other sources"],
)
def test_poses_are_equal_by_everything_they_hold(other):
    assert Pose.of(JOINTS) == Pose.of(dict(JOINTS))
    assert Pose.of(JOINTS) != other
    assert Pose.of(JOINTS) != JOINTS
    with pytest.raises(TypeError, match="unhashable"):
        hash(other)


def test_a_frame_and_its_result_are_short_when_printed():
    frame = DepthFrame(np.zeros((48, 64), np.float32), Intrinsics(50.0, 50.0, 31.5, 23.5), 0.4, 12)
    nothing = np.zeros((48, 64), bool)
    people = tuple(Track(number, Pose.of({})) for number in (1, 3))
    assert repr(frame) == "<frame 12 at 0.4 s, 64x48>"
    assert repr(FrameResult(frame, nothing, nothing, ())) == "<result of <frame 12 at 0.4 s, 64x48>: nobody>"
    assert repr(FrameResult(frame, nothing, nothing, (), people)).endswith(": people 1, 3>")
