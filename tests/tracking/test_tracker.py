"""Ids stay with their people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.body import HUMAN
from posepipe.results import JointProposal, Pose
from posepipe.tracking.tracker import NoTracker, Tracker

FRAME_S = 1 / 30
STANDING = {
    "head": (0.0, -0.7, 0.0),
    "neck": (0.0, -0.5, 0.0),
    "torso": (0.0, -0.2, 0.0),
    "pelvis": (0.0, 0.0, 0.0),
    **{
        f"{side}_{joint}": (sign * x, y, 0.0)
        for side, sign in (("left", 1), ("right", -1))
        for joint, x, y in (
            ("shoulder", 0.18, -0.45),
            ("elbow", 0.22, -0.15),
            ("wrist", 0.24, 0.1),
            ("hand", 0.24, 0.18),
            ("hip", 0.1, 0.0),
            ("knee", 0.1, 0.45),
            ("ankle", 0.1, 0.85),
            ("foot", 0.1, 0.9),
        )
    },
}
"""A person of 1.7 m, about the pelvis, camera axes."""


def pose(x: float, z: float = 2.5, *, size: float = 1.0, joints=tuple(STANDING), noise_m=0.0, rng=None) -> Pose:
    places = {name: size * np.array(STANDING[name]) + [x, 0, z] for name in joints}
    if rng is not None:
        places = {name: place + rng.normal(0, noise_m, 3) for name, place in places.items()}
    return Pose.of({name: JointProposal(name, tuple(map(float, place)), 0.9) for name, place in places.items()})


def mirrored(one: Pose) -> Pose:
    """The same places with left and right exchanged."""
    other = {"left": "right", "right": "left"}
    joints = {}
    for name, joint in one.joints.items():
        side, _, rest = name.partition("_")
        image = f"{other[side]}_{rest}" if side in other else name
        joints[image] = JointProposal(image, joint.xyz_m, joint.confidence)
    return Pose.of(joints)


def ids(tracks) -> list[int]:
    return [track.id for track in tracks]


def ids_of(tracker, people, times_s, seed=0) -> dict[str, set[int]]:
    """Ids that each of the people got; None = lost. They are listed in a random order."""
    rng = np.random.default_rng(seed)
    given: dict[str, set[int]] = {name: set() for name in people}
    for k, time in enumerate(times_s):
        here = [name for name in rng.permutation(list(people)) if people[name][k] is not None]
        poses = [people[name][k] for name in here]
        for name, one, track in zip(here, poses, tracker.update(poses, time), strict=True):
            assert track.pose is one
            given[str(name)].add(track.id)
    return given


def crossing(times_s, lost_s=0.0, gap_m=0.7, seed=1, sizes=(1.0, 1.0)) -> dict[str, list[Pose | None]]:
    """Two walk past each other at 1 m/s, one behind the other; about the meeting the hinder one is lost for so long."""
    rng = np.random.default_rng(seed)
    middle = (times_s[0] + times_s[-1]) / 2
    shown = [abs(t - middle) >= lost_s / 2 for t in times_s]
    return {
        "front": [pose(t - middle, 2.0, noise_m=0.03, rng=rng, size=sizes[0]) for t in times_s],
        "behind": [
            pose(middle - t, 2.0 + gap_m, noise_m=0.03, rng=rng, size=sizes[1]) if s else None
            for t, s in zip(times_s, shown, strict=True)
        ],
    }


def assert_all_kept_one_id(given: dict[str, set[int]]) -> None:
    assert all(len(each) == 1 for each in given.values()), given
    assert len(set.union(*given.values())) == len(given)


@pytest.mark.parametrize("fps", [5, 10, 30, 60])
@pytest.mark.parametrize("lost_s", [0.0, 0.5, 1.0])
def test_two_people_who_cross_keep_their_ids_while_one_is_hidden(fps, lost_s):
    times = np.arange(0, 3, 1 / fps)
    assert_all_kept_one_id(ids_of(Tracker(), crossing(times, lost_s), times))


def test_two_people_who_cross_unseen_are_told_apart_by_velocity():
    times = np.arange(0, 3, FRAME_S)
    people = crossing(times, gap_m=0.3)
    unseen = {name: [p if abs(t - 1.5) > 0.3 else None for p, t in zip(poses, times, strict=True)]
              for name, poses in people.items()}  # fmt: skip
    assert_all_kept_one_id(ids_of(Tracker(), unseen, times))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0.01, 0.12), min_size=20, max_size=60))
def test_uneven_frame_times_change_no_id(steps):
    times = np.cumsum(steps)
    assert_all_kept_one_id(ids_of(Tracker(), crossing(times), times))


def watched(tracker, people, frames=30) -> list[int]:
    """Ids of people who stand still for so many frames; the next frame is at ``frames`` x FRAME_S."""
    for k in range(frames):
        found = ids(tracker.update(people, k * FRAME_S))
    return found


@pytest.mark.parametrize("exchanged", [False, True])
def test_body_sizes_tell_apart_people_who_may_have_swapped(exchanged):
    tracker = Tracker(HUMAN)
    child, adult = watched(tracker, [pose(-0.3, size=0.7), pose(0.3)])
    side = 0.27 if exchanged else -0.27
    assert ids(tracker.update([pose(side, size=0.7), pose(-side)], 2.0)) == [child, adult]


def test_postures_tell_apart_people_who_may_have_swapped():
    def spread(x):
        """Elbows, wrists and hands further out on both sides: their middle is where it was."""
        joints = {name: joint.xyz_m for name, joint in pose(x).joints.items()}
        for name in joints:
            if name.endswith(("elbow", "wrist", "hand")):
                joints[name] = (joints[name][0] + (0.5 if name.startswith("left") else -0.5), *joints[name][1:])
        return Pose.of({name: JointProposal(name, xyz, 0.9) for name, xyz in joints.items()})

    tracker = Tracker()
    tracker.update([spread(-0.1), pose(0.1)], -FRAME_S)  # their last postures count, not the first
    hanging, wide = watched(tracker, [pose(-0.1), spread(0.1)])
    assert ids(tracker.update([pose(0.05), spread(-0.05)], 1.3)) == [hanging, wide]


def test_a_fragment_of_a_person_has_no_body_size():
    tracker = Tracker(HUMAN)
    _, adult = watched(tracker, [pose(-0.1, size=0.7), pose(0.1)])
    # the adult's upper arm, all that is found of them, comes out as long as the child's
    arm = {"left_shoulder": (0.28, -0.4, 2.5), "left_elbow": (0.31, -0.2, 2.5)}
    seen = Pose.of({name: JointProposal(name, xyz, 0.3) for name, xyz in arm.items()})
    assert ids(tracker.update([seen], 1.0)) == [adult]


def test_people_who_turn_round_or_set_off_keep_the_id():
    times = np.arange(0, 9, FRAME_S)
    speeds = np.interp(times, [3.0, 3.3, 5.0, 5.4, 7.0, 7.4], [0.0, 1.5, 1.5, -1.5, -1.5, 0.0])
    places = np.cumsum(speeds) * FRAME_S
    assert_all_kept_one_id(ids_of(Tracker(), {"one": [pose(x) for x in places]}, times))


def test_left_taken_for_right_is_still_the_same_person():
    tracker = Tracker(HUMAN)
    first = ids(tracker.update([pose(0)], 0.0))
    for k in range(1, 20):
        one = pose(0.02 * k)
        assert ids(tracker.update([mirrored(one) if k % 2 else one], k * FRAME_S)) == first


def test_half_a_person_is_where_the_whole_was():
    tracker = Tracker(HUMAN)
    first = ids(tracker.update([pose(0)], 0.0))
    legs = [name for name in STANDING if name.endswith(("knee", "ankle", "foot"))]
    for k in range(1, 60):  # their middle is 0.9 m below that of all joints
        assert ids(tracker.update([pose(0, joints=legs)], k * FRAME_S)) == first
    assert ids(tracker.update([pose(0)], 2.0)) == first


def test_joints_of_no_confidence_are_joints_all_the_same():
    doubted = [
        Pose.of({name: JointProposal(name, joint.xyz_m, 0.0) for name, joint in pose(0.01 * k).joints.items()})
        for k in range(4)
    ]
    tracker = Tracker()
    assert [ids(tracker.update([one], 0.1 * k)) for k, one in enumerate(doubted)] == [[1]] * 4


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


def test_who_was_seen_for_a_minute_is_found_again_after_a_second():
    tracker = Tracker()
    assert watched(tracker, [pose(0.0)], frames=1800) == [1]
    assert ids(tracker.update([pose(0.3)], 1800 * FRAME_S + 1)) == [1]


def test_people_who_walk_on_unseen_are_expected_further_on():
    tracker = Tracker()
    for k in range(30):
        first = ids(tracker.update([pose(k * FRAME_S)], k * FRAME_S))
    other, same = ids(tracker.update([pose(0.9), pose(2.4)], 2.4))
    assert [same] == first
    assert other not in first


@pytest.mark.parametrize(("lost_s", "id"), [(3.5, 1), (10.0, 1), (59.0, 1), (61.0, 2)])
def test_who_is_to_be_remembered_for_long_keeps_the_id(lost_s, id):
    tracker = Tracker(forget_after_s=60.0)
    watched(tracker, [pose(0.0)], frames=60)
    assert ids(tracker.update([pose(0.1)], 60 * FRAME_S + lost_s)) == [id]


def test_a_forgotten_person_s_id_is_never_given_again():
    tracker = Tracker(forget_after_s=1.0)
    first = ids(tracker.update([pose(0)], 0.0))
    second = ids(tracker.update([pose(0)], 1.5))
    third = ids(tracker.update([pose(5), pose(0)], 1.6))
    assert first != second
    assert third[1] == second[0]
    assert third[0] not in (first[0], second[0])


def test_a_jump_is_a_new_person():
    tracker = Tracker()
    first = ids(tracker.update([pose(0)], 0.0))
    assert ids(tracker.update([pose(0.3)], 0.1)) == first
    assert ids(tracker.update([pose(1.5)], 0.2)) != first


@pytest.mark.parametrize(("confidence", "id"), [(0.9, 2), (0.3, 1)])
def test_a_pose_of_low_confidence_may_be_off_further(confidence, id):
    tracker, off = Tracker(), pose(0.6)
    watched(tracker, [pose(0.0)])
    unsure = Pose(off.names, off.joints_m, np.full(len(off.names), confidence))
    assert ids(tracker.update([unsure], 30 * FRAME_S)) == [id]


def test_people_never_return_further_away_than_max_step():
    for step, same in ((0.55, True), (0.65, False)):
        tracker = Tracker(max_step_m=0.6)
        first = ids(tracker.update([pose(0)], 0.0))
        assert (ids(tracker.update([pose(step)], 1.0)) == first) is same


def test_a_new_person_far_away_takes_no_id():
    tracker = Tracker()
    near, beside = ids(tracker.update([pose(0), pose(0.6)], 0.0))
    # the first person has gone out, the second stepped to 0.4: 0.2 from where they were, 0.4 from the other
    stayed, newcomer = ids(tracker.update([pose(0.4), pose(10)], 0.1))
    assert stayed == beside
    assert newcomer not in (near, beside)


def test_a_new_person_within_reach_shifts_no_ids():
    tracker = Tracker()
    near, beside = ids(tracker.update([pose(0), pose(0.6)], 0.0))
    # to make the second pose the second person's would be possible, though less likely than a newcomer
    stayed, newcomer = ids(tracker.update([pose(0.4), pose(1.5)], 0.1))
    assert stayed == beside
    assert newcomer not in (near, beside)


def test_a_lost_person_takes_no_id_from_a_visible_one():
    tracker = Tracker()
    lost, seen = ids(tracker.update([pose(0), pose(0.35)], 0.0))
    for k in range(1, 45):
        assert ids(tracker.update([pose(0.35)], k * FRAME_S)) == [seen]
    # nearer to where the lost one was; but they may be anywhere by now
    assert ids(tracker.update([pose(0.16)], 45 * FRAME_S)) == [seen]
    assert lost != seen


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


def test_a_pose_without_joints_is_a_new_person():
    tracker = Tracker(HUMAN)
    first = ids(tracker.update([Pose.of({}), pose(0)], 0.0))
    assert ids(tracker.update([Pose.of({}), pose(0)], 0.1)) == [3, first[1]]


def test_joints_that_come_and_go_do_not_break_a_track():
    tracker = Tracker()
    first = ids(tracker.update([pose(0, joints=("head", "pelvis"))], 0.0))
    assert ids(tracker.update([pose(0.02, joints=("head", "left_hand"))], 0.1)) == first
    assert ids(tracker.update([pose(0.04, joints=("left_hand", "pelvis"))], 0.2)) == first


def test_no_poses_give_no_tracks():
    assert Tracker().update([], 0.0) == ()


def test_a_source_that_starts_over_starts_new_tracks():
    tracker = Tracker()
    first = ids(tracker.update([pose(0)], 1.0))
    second = ids(tracker.update([pose(0)], 0.0))
    assert second != first
    assert ids(tracker.update([pose(0)], FRAME_S)) == second


def test_frames_in_the_wrong_order_break_no_track():
    tracker = Tracker()
    first = ids(tracker.update([pose(0)], 1.0))
    for time in (1.07, 1.03, 1.03, 1.1):
        assert ids(tracker.update([pose(0)], time)) == first


def test_frames_without_times_are_tracked_by_place():
    tracker = Tracker()
    first = ids(tracker.update([pose(0), pose(1)], 0.0))
    for k in range(1, 20):
        assert ids(tracker.update([pose(0.02 * k), pose(1)], 0.0)) == first


def test_tracking_moves_no_joint():
    tracker = Tracker()
    tracker.update([pose(0)], 0.0)
    moved = pose(0.2)
    assert tracker.update([moved], 0.1)[0].pose is moved


def test_ids_start_at_1_in_every_tracker():
    assert ids(Tracker().update([pose(0), pose(3)], 0.0)) == [1, 2]
    assert ids(Tracker().update([pose(0)], 0.0)) == [1]


def test_without_tracking_ids_start_from_1_in_every_frame():
    off = NoTracker()
    assert ids(off.update([pose(0), pose(1)], 0.0)) == [1, 2]
    assert ids(off.update([pose(1)], 0.1)) == [1]
    assert off.update([], 0.2) == ()
