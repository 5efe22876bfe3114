"""Ids stay with their people."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.results import JointProposal, Pose
from posepipe.tracking import NoTracker, Tracker, pose_distance

FRAME_S = 1 / 30


def pose(x: float, z: float = 2.0, joints=("head", "left_hand", "right_hand"), scatter_m=None) -> Pose:
    """A person at (x, 0, z); joints half a metre apart in height."""
    places = [np.array([x, 0.5 * k, z]) for k in range(len(joints))]
    if scatter_m is not None:
        places = [place + scatter_m[k] for k, place in enumerate(places)]
    return Pose(
        {name: JointProposal(name, tuple(map(float, at)), 0.9) for name, at in zip(joints, places, strict=True)}
    )


def ids(tracks) -> list[int]:
    return [track.id for track in tracks]


def test_two_people_walking_past_each_other_keep_their_ids():
    # 1.4 m/s, 60 cm apart in depth, 2 cm of noise, listed in a random order
    rng = np.random.default_rng(1)
    tracker, seen = Tracker(), {"left": set(), "right": set()}
    for k in range(90):
        people = {
            "left": pose(-2 + 1.4 * k * FRAME_S, 2.0, scatter_m=rng.normal(0, 0.02, (3, 3))),
            "right": pose(2 - 1.4 * k * FRAME_S, 2.6, scatter_m=rng.normal(0, 0.02, (3, 3))),
        }
        order = rng.permutation(["left", "right"])
        for name, track in zip(order, tracker.update([people[n] for n in order], k * FRAME_S), strict=True):
            assert track.pose is people[name]
            seen[name].add(track.id)
    assert [len(found) for found in seen.values()] == [1, 1]
    assert seen["left"] != seen["right"]


def test_tracks_come_in_the_order_of_the_poses():
    tracker = Tracker()
    a, b = ids(tracker.update([pose(0), pose(1)], 0.0))
    assert ids(tracker.update([pose(1), pose(0)], 0.1)) == [b, a]


def test_a_person_hidden_for_a_moment_keeps_the_id():
    tracker = Tracker(forget_after_s=1.0)
    first = ids(tracker.update([pose(0)], 0.0))
    for k in range(1, 9):
        assert tracker.update([], 0.1 * k) == ()
    assert ids(tracker.update([pose(0.1)], 0.9)) == first


def test_a_person_who_stays_away_is_forgotten_and_the_id_never_given_again():
    tracker = Tracker(forget_after_s=1.0)
    first = ids(tracker.update([pose(0)], 0.0))
    second = ids(tracker.update([pose(0)], 1.5))
    third = ids(tracker.update([pose(5), pose(0)], 1.6))
    assert first != second
    assert third[1] == second[0]
    assert third[0] not in (first[0], second[0])


def test_a_jump_is_someone_new():
    tracker = Tracker(max_step_m=0.5)
    first = ids(tracker.update([pose(0)], 0.0))
    assert ids(tracker.update([pose(0.49)], 0.1)) == first
    assert ids(tracker.update([pose(1.2)], 0.2)) != first


def test_a_newcomer_far_away_takes_nobody_s_id():
    tracker = Tracker()
    near, beside = ids(tracker.update([pose(0), pose(0.6)], 0.0))
    # the first person has gone out, the second stepped to 0.4: that is 0.2 from where he was, 0.4 from the other
    stayed, newcomer = ids(tracker.update([pose(0.4), pose(10)], 0.1))
    assert stayed == beside
    assert newcomer not in (near, beside)


def test_two_poses_never_share_an_id():
    tracker = Tracker()
    tracker.update([pose(0)], 0.0)
    assert len(set(ids(tracker.update([pose(0), pose(0.01), pose(0.02)], 0.1)))) == 3


def test_the_nearer_of_two_gets_the_id():
    tracker = Tracker()
    first = ids(tracker.update([pose(0)], 0.0))
    assert ids(tracker.update([pose(0.3), pose(0.1)], 0.1))[1] == first[0]


def test_poses_without_a_joint_in_common_are_different_people():
    tracker = Tracker()
    first = ids(tracker.update([pose(0, joints=("head",))], 0.0))
    assert ids(tracker.update([pose(0, joints=("left_hand",))], 0.1)) != first


def test_joints_that_come_and_go_do_not_break_a_track():
    tracker = Tracker()
    first = ids(tracker.update([pose(0)], 0.0))
    assert ids(tracker.update([pose(0.05, joints=("head", "left_hand"))], 0.1)) == first


def test_nobody_is_tracked_where_nobody_is():
    assert Tracker().update([], 0.0) == ()


def test_a_source_that_starts_over_starts_new_tracks():
    tracker = Tracker()
    first = ids(tracker.update([pose(0)], 100.0))
    assert ids(tracker.update([pose(0)], 0.0)) != first


def test_tracking_moves_no_joint():
    tracker = Tracker()
    tracker.update([pose(0)], 0.0)
    moved = pose(0.2)
    assert tracker.update([moved], 0.1)[0].pose is moved


def test_ids_start_at_1_and_every_tracker_counts_for_itself():
    assert ids(Tracker().update([pose(0), pose(3)], 0.0)) == [1, 2]
    assert ids(Tracker().update([pose(0)], 0.0)) == [1]


def test_without_tracking_people_are_numbered_from_1_in_every_frame():
    off = NoTracker()
    assert ids(off.update([pose(0), pose(1)], 0.0)) == [1, 2]
    assert ids(off.update([pose(1)], 0.1)) == [1]
    assert off.update([], 0.2) == ()


def test_the_distance_of_poses_is_the_mean_over_shared_joints():
    one = Pose({name: JointProposal(name, (0.0, 0.0, 2.0), 1.0) for name in ("head", "torso", "left_hand")})
    other = Pose(
        {
            "head": JointProposal("head", (0.3, 0.0, 2.0), 1.0),
            "torso": JointProposal("torso", (0.0, 0.0, 2.1), 1.0),
            "right_hand": JointProposal("right_hand", (9.0, 9.0, 9.0), 1.0),
        }
    )
    assert pose_distance(one, other) == pose_distance(other, one) == pytest.approx(0.2)
    assert pose_distance(one, Pose({})) == float("inf")
