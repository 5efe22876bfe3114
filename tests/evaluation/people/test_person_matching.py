"""The rule by which people found are matched with labels: cases made by hand, and properties of any frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.camera import Intrinsics
from posepipe.evaluation.people.person_labels import PersonLabel
from posepipe.evaluation.people.person_matching import Matches, PersonCentre, centre_of, match_people, torso_depth_m
from posepipe.frames import DepthFrame
from posepipe.results import Pose
from tests.support.found_people import track_of

LENS = Intrinsics(100.0, 100.0, 50.0, 40.0)
ROOM_M = np.full((80, 100), 2.0, np.float32)
LABEL = PersonLabel((20, 10, 40, 70), (30, 30))


def at(column: float, row: float, depth_m: float = 2.0) -> PersonCentre:
    return PersonCentre(column, row, depth_m)


def pose_of(**joints) -> Pose:
    return track_of(1, joints).pose


def test_the_centre_is_the_mean_of_the_trunk_alone():
    frame = DepthFrame(ROOM_M, LENS)
    pose = pose_of(torso=(0.0, 0.0, 2.0), head=(0.0, -0.4, 2.0), left_hand=(1.0, 1.0, 1.0))
    assert centre_of(pose, frame) == at(50.0, 30.0, 2.0)


def test_without_a_trunk_all_joints_count():
    frame = DepthFrame(ROOM_M, LENS)
    pose = pose_of(left_hand=(0.2, 0.0, 2.0), right_hand=(0.4, 0.0, 2.0))
    assert centre_of(pose, frame) == at(pytest.approx(65.0), 40.0, 2.0)


def test_a_pose_without_joints_before_the_camera_has_no_centre():
    frame = DepthFrame(ROOM_M, LENS)
    assert centre_of(Pose.of({}), frame) is None
    assert centre_of(pose_of(torso=(0.0, 0.0, -1.0)), frame) is None


def test_the_depth_of_a_torso_is_the_median_of_its_readings():
    depth_m = np.zeros((80, 100), np.float32)
    assert torso_depth_m(LABEL, depth_m) is None
    depth_m[29, 29:32] = 1.0, 1.2, 5.0
    assert torso_depth_m(LABEL, depth_m) == pytest.approx(1.2)
    depth_m[32, 30] = 3.0  # outside the 3x3 pixels
    assert torso_depth_m(LABEL, depth_m) == pytest.approx(1.2)


@pytest.mark.parametrize("torso", [(0, 0), (99, 79), (-1, 5), (500, 500), (-9, -9)])
def test_a_torso_at_the_border_or_beyond_reads_what_is_inside(torso):
    inside = -1 <= torso[0] <= 100 and -1 <= torso[1] <= 80
    assert torso_depth_m(PersonLabel((0, 0, 99, 79), torso), ROOM_M) == (2.0 if inside else None)


@pytest.mark.parametrize(
    ("centre", "found"),
    [
        (at(30, 30), True),
        (at(17.0, 30), True),  # 3 pixels, 0.15 of the width, beyond the left side
        (at(16.9, 30), False),
        (at(43.0, 30), True),
        (at(30, 1.0), True),  # 9 pixels above
        (at(30, 0.9), False),
        (at(30, 79.1), False),
        (at(30, 30, 2.49), True),
        (at(30, 30, 2.51), False),
        (at(30, 30, 1.49), False),
    ],
)
def test_a_person_fits_within_the_enlarged_box_and_half_a_metre(centre, found):
    expected = Matches({0: 0}, (), (), ()) if found else Matches({}, (0,), (), (0,))
    assert match_people([centre], [LABEL], ROOM_M) == expected


def test_one_of_two_on_the_same_label_is_false():
    assert match_people([at(33, 33), at(30, 31)], [LABEL], ROOM_M) == Matches({0: 1}, (), (), (0,))


def test_two_labels_that_overlap_each_get_the_nearest():
    labels = [LABEL, PersonLabel((20, 10, 60, 70), (40, 30))]
    assert match_people([at(36, 30), at(31, 30)], labels, ROOM_M) == Matches({0: 1, 1: 0}, (), (), ())
    assert match_people([at(34, 30)], labels, ROOM_M) == Matches({0: 0}, (1,), (), ())


def test_people_on_ignored_labels_count_neither_way():
    ignored = PersonLabel((20, 10, 40, 70), (30, 30), ignore=True)
    assert match_people([at(30, 30), at(31, 30)], [ignored], ROOM_M) == Matches({}, (), (0, 1), ())
    assert match_people([], [ignored], ROOM_M) == Matches({}, (), (), ())


def test_labels_to_be_counted_come_before_ignored_ones():
    ignored = PersonLabel((20, 10, 40, 70), (30, 30), ignore=True)
    counted = PersonLabel((20, 10, 40, 70), (38, 60))
    assert match_people([at(30, 30)], [ignored, counted], ROOM_M) == Matches({1: 0}, (), (), ())


def test_without_a_reading_nobody_fits_but_an_ignored_label_does():
    nothing = np.zeros_like(ROOM_M)
    ignored = PersonLabel((20, 10, 40, 70), (30, 30), ignore=True)
    assert match_people([at(30, 30)], [LABEL], nothing) == Matches({}, (0,), (), (0,))
    assert match_people([at(30, 30)], [ignored], nothing) == Matches({}, (), (0,), ())


def test_in_an_empty_frame_everybody_is_false():
    assert match_people([at(1, 1), at(2, 2)], [], ROOM_M) == Matches({}, (), (), (0, 1))


centres = st.lists(st.builds(at, st.integers(0, 99), st.integers(0, 79), st.sampled_from((1.8, 2.2, 3.0))), max_size=5)
boxes = st.tuples(st.integers(0, 60), st.integers(0, 40), st.integers(61, 99), st.integers(41, 79))
torsos = st.tuples(st.integers(0, 99), st.integers(0, 79))
labels = st.lists(st.builds(PersonLabel, boxes, torsos, ignore=st.booleans()), max_size=5)


@given(people=centres, labels=labels)
def test_every_person_and_every_label_is_counted_once(people, labels):
    matches = match_people(people, labels, ROOM_M)
    everybody = [*matches.found.values(), *matches.ignored, *matches.false]
    assert sorted(everybody) == list(range(len(people)))
    assert sorted([*matches.found, *matches.missed]) == [row for row, label in enumerate(labels) if not label.ignore]


@given(people=centres, labels=labels)
def test_no_person_who_is_false_fits_a_label_that_is_missed(people, labels):
    matches = match_people(people, labels, ROOM_M)
    for person in matches.false:
        alone = match_people([people[person]], [labels[row] for row in matches.missed], ROOM_M)
        assert not alone.found


@given(people=centres, labels=labels, column=st.integers(1, 50))
def test_a_shifted_frame_has_the_same_matches(people, labels, column):
    wide = np.pad(ROOM_M, ((0, 0), (1, 51)), mode="edge")
    moved = [
        replace(
            label,
            box=(label.box[0] + column, label.box[1], label.box[2] + column, label.box[3]),
            torso=(label.torso[0] + column, label.torso[1]),
        )
        for label in labels
    ]
    shifted = [at(person.column + column, person.row, person.depth_m) for person in people]
    assert match_people(shifted, moved, wide) == match_people(people, labels, wide)
