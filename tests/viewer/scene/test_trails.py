"""Trails follow the joints, and fade."""

from __future__ import annotations

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from posepipe.viewer.scene.camera_placement import LEVEL_CAMERA
from posepipe.viewer.scene.palette import PAGE, Palette
from posepipe.viewer.scene.trails import DEFAULT_JOINTS, MAX_GAP_S, MAX_TRAIL_S, Trails, default_trail_joints
from tests.support.found_people import track_of

PALETTE = Palette.of(HUMAN)


def at(x_m, id=1, joint="left_hand"):
    return track_of(id, {joint: (x_m, 0.0, 2.0)}, 1.0)


def trails_of(places_m, step_s=0.1):
    trails = Trails(HUMAN, PALETTE)
    for k, x_m in enumerate(places_m):
        trails.add([] if x_m is None else [at(x_m)], step_s * k)
    return trails


def test_a_trail_joins_past_positions_and_is_brightest_now():
    ends_m, colours = trails_of([0, 0.1, 0.2]).segments(["left_hand"], 5, LEVEL_CAMERA)
    np.testing.assert_allclose(ends_m[:, :, 0], [[0, 0.1], [0.1, 0.2]], atol=1e-6)
    np.testing.assert_allclose(ends_m[:, :, 1], 2)
    own = PALETTE.joints[HUMAN.joint_index("left_hand")]
    distance = np.linalg.norm(colours.astype(int) - own.astype(int), axis=-1)
    assert distance[-1, 1] == 0
    assert distance[0, 0] > distance[-1, 1]


def test_only_the_last_seconds_are_left():
    trails = trails_of(np.arange(20) / 10)
    ends_m, colours = trails.segments(["left_hand"], 0.55, LEVEL_CAMERA)
    np.testing.assert_allclose(ends_m[:, 0, 0], [1.4, 1.5, 1.6, 1.7, 1.8], atol=1e-6)
    assert np.abs(colours[0, 0].astype(int) - PAGE).max() < 30
    assert len(trails.segments(["right_hand"], 5, LEVEL_CAMERA)[0]) == 0
    assert len(trails.segments([], 5, LEVEL_CAMERA)[0]) == 0


def test_a_long_absence_starts_a_new_trail():
    assert len(trails_of([0, 0.1, None, 0.3, 0.4]).segments(["left_hand"], 5, LEVEL_CAMERA)[0]) == 2
    assert len(trails_of([0, 1, 2], step_s=MAX_GAP_S + 0.1).segments(["left_hand"], 5, LEVEL_CAMERA)[0]) == 0


def test_two_people_have_two_trails():
    trails = Trails(HUMAN, PALETTE)
    for k in range(3):
        trails.add([at(0.1 * k), at(5 + 0.1 * k, id=2)], 0.1 * k)
    ends_m, _ = trails.segments(["left_hand"], 5, LEVEL_CAMERA)
    assert len(ends_m) == 4
    assert np.linalg.norm(ends_m[:, 1] - ends_m[:, 0], axis=1).max() < 0.11


def test_a_time_that_was_there_before_takes_its_place():
    trails = trails_of([0, 0.1, 0.2, 0.3])
    trails.add([at(9.0)], 0.2)
    np.testing.assert_allclose(trails.segments(["left_hand"], 5, LEVEL_CAMERA)[0][-1, :, 0], [0.1, 9])
    trails.clear()
    trails.add([at(1.0)], 0.3)
    assert len(trails.segments(["left_hand"], 5, LEVEL_CAMERA)[0]) == 0


def test_old_positions_are_removed():
    trails = trails_of(np.zeros(1000), step_s=0.1)
    assert len(trails.segments(["left_hand"], 1e9, LEVEL_CAMERA)[0]) <= MAX_TRAIL_S / 0.1 + 1


def test_other_bodies_leave_trails_of_their_ends():
    snake = BodyDefinition("snake", ("skin",), ("nose", "middle", "tail"), {}, {"nose": "middle", "tail": "middle"})
    assert default_trail_joints(snake) == {"nose", "tail"}
    assert default_trail_joints(HUMAN) == set(DEFAULT_JOINTS)
