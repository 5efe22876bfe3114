"""Trails lead where joints were, and fade."""

from __future__ import annotations

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from posepipe.results import JointProposal, Pose, Track
from posepipe.viewer.scene.ground import UPRIGHT
from posepipe.viewer.scene.palette import PAPER, Palette
from posepipe.viewer.scene.trails import GAP_S, MOST_S, USUAL, Trails, usual_trails

PALETTE = Palette.of(HUMAN)


def at(x_m, id=1, joint="left_hand"):
    return Track(id, Pose({joint: JointProposal(joint, (x_m, 0.0, 2.0), 1.0)}))


def trails_of(places_m, step_s=0.1):
    trails = Trails(HUMAN, PALETTE)
    for k, x_m in enumerate(places_m):
        trails.add([] if x_m is None else [at(x_m)], step_s * k)
    return trails


def test_a_trail_joins_where_a_joint_was_and_is_brightest_now():
    ends_m, colours = trails_of([0, 0.1, 0.2]).segments(["left_hand"], 5, UPRIGHT)
    np.testing.assert_allclose(ends_m[:, :, 0], [[0, 0.1], [0.1, 0.2]], atol=1e-6)
    np.testing.assert_allclose(ends_m[:, :, 1], 2)
    own = PALETTE.joints[HUMAN.joint_index("left_hand")]
    distance = np.linalg.norm(colours.astype(int) - own.astype(int), axis=-1)
    assert distance[-1, 1] == 0
    assert distance[0, 0] > distance[-1, 1]


def test_only_the_last_seconds_are_left():
    trails = trails_of(np.arange(20) / 10)
    ends_m, colours = trails.segments(["left_hand"], 0.55, UPRIGHT)
    np.testing.assert_allclose(ends_m[:, 0, 0], [1.4, 1.5, 1.6, 1.7, 1.8], atol=1e-6)
    assert np.abs(colours[0, 0].astype(int) - PAPER).max() < 30
    assert len(trails.segments(["right_hand"], 5, UPRIGHT)[0]) == 0
    assert len(trails.segments([], 5, UPRIGHT)[0]) == 0


def test_who_was_away_begins_a_new_trail():
    assert len(trails_of([0, 0.1, None, 0.3, 0.4]).segments(["left_hand"], 5, UPRIGHT)[0]) == 2
    assert len(trails_of([0, 1, 2], step_s=GAP_S + 0.1).segments(["left_hand"], 5, UPRIGHT)[0]) == 0


def test_two_people_have_two_trails():
    trails = Trails(HUMAN, PALETTE)
    for k in range(3):
        trails.add([at(0.1 * k), at(5 + 0.1 * k, id=2)], 0.1 * k)
    ends_m, _ = trails.segments(["left_hand"], 5, UPRIGHT)
    assert len(ends_m) == 4
    assert np.linalg.norm(ends_m[:, 1] - ends_m[:, 0], axis=1).max() < 0.11


def test_a_time_that_was_there_before_takes_its_place():
    trails = trails_of([0, 0.1, 0.2, 0.3])
    trails.add([at(9.0)], 0.2)
    np.testing.assert_allclose(trails.segments(["left_hand"], 5, UPRIGHT)[0][-1, :, 0], [0.1, 9])
    trails.forget()
    trails.add([at(1.0)], 0.3)
    assert len(trails.segments(["left_hand"], 5, UPRIGHT)[0]) == 0


def test_memory_does_not_grow():
    trails = trails_of(np.zeros(1000), step_s=0.1)
    assert len(trails.segments(["left_hand"], 1e9, UPRIGHT)[0]) <= MOST_S / 0.1 + 1


def test_other_bodies_leave_trails_of_their_ends():
    snake = BodyDefinition("snake", ("skin",), ("nose", "middle", "tail"), {}, {"nose": "middle", "tail": "middle"})
    assert usual_trails(snake) == {"nose", "tail"}
    assert usual_trails(HUMAN) == set(USUAL)
