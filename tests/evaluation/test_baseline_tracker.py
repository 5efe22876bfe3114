"""The tracker that others are measured against: what it does, and what it cannot do."""

from __future__ import annotations

import pytest

from posepipe.evaluation.baseline_tracker import NearestPoseTracker
from posepipe.results import JointProposal, Pose

FPS = 30


def pose(x_m: float, *joints: str) -> Pose:
    """A person at (x, 0, 2): joints above each other."""
    names = joints or ("head", "pelvis")
    return Pose.of({name: JointProposal(name, (x_m, -0.7 * (name == "head"), 2.0), 0.9) for name in names})


def ids(frames, times_s=None, tracker=None):
    """Ids of the poses at some places, frame by frame."""
    tracker = tracker or NearestPoseTracker()
    times_s = times_s or [k / FPS for k in range(len(frames))]
    found = []
    for places, now_s in zip(frames, times_s, strict=True):
        tracks = tracker.update([pose(x) for x in places], now_s)
        assert [track.pose.joints["head"].xyz_m[0] for track in tracks] == list(places)
        found.append([track.id for track in tracks])
    return found


def test_ids_stay_with_the_nearest_in_whatever_order_poses_come():
    assert ids([[0.0, 1.0], [0.9, 0.1], [0.2, 0.8]]) == [[1, 2], [2, 1], [1, 2]]


def test_the_sum_of_distances_is_minimal():
    assert ids([[0.0, 0.5], [0.45, 1.3]]) == [[1, 2], [1, 2]]  # 0.45 is nearest to the second


def test_people_crossing_between_frames_exchange_ids():
    """Which is what a prediction would put right."""
    assert ids([[-0.4, 0.4], [-0.2, 0.2], [0.2, -0.2], [0.4, -0.4]]) == [[1, 2], [1, 2], [2, 1], [2, 1]]


def test_people_too_far_away_or_gone_too_long_are_new():
    assert ids([[0.0], [0.99], [2.0]]) == [[1], [1], [2]]
    assert ids([[0.0], [0.0], [0.0]], [0.0, 1.9, 4.0]) == [[1], [1], [2]]
    assert ids([[0.0], [], [0.0]]) == [[1], [], [1]]


def test_an_id_is_given_once():
    assert ids([[0.0, 3.0], [6.0], [9.0, 0.0]]) == [[1, 2], [3], [4, 1]]


@pytest.mark.parametrize("shown", [("head",), ("head", "left_hand")])
def test_only_joints_that_both_have_are_compared(shown):
    tracker = NearestPoseTracker()
    tracker.update([pose(0.0)], 0.0)
    (same,) = tracker.update([pose(0.2, *shown)], 0.1)
    assert same.id == 1


def test_a_pose_that_shares_no_joint_is_a_new_person():
    tracker = NearestPoseTracker()
    tracker.update([pose(0.0)], 0.0)
    (other,), (empty,) = tracker.update([pose(0.0, "left_hand")], 0.1), tracker.update([Pose.of({})], 0.2)
    assert (other.id, empty.id) == (2, 3)
