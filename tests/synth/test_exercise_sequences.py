"""Rendered exercises: labelled sequences of one person in one place, cut out or in a room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.exercise_sequences import render_exercise
from synth.motion.motions import Motions
from synth.recipe import Recipe, read_recipe
from synth.renderer import make_renderer
from tests.support.rendered_people import people_of, recipe_of

RECIPE = read_recipe("exercises")
ANKLES = [HUMAN.joint_index("left_ankle"), HUMAN.joint_index("right_ankle")]


@pytest.fixture(scope="module")
def people():
    return people_of(recipe_of(poses="all"))


def test_planted_feet_stay_while_the_body_sinks(people):
    frames = [f for t, f in enumerate(render_exercise(people, RECIPE, 0, 48)) if t % 12 == 0]
    joints_m = np.array([frame.joints_m[0] for frame in frames])
    assert np.ptp(joints_m[:, ANKLES], axis=0).max() < 0.03
    assert np.ptp(joints_m[:, HUMAN.joint_index("pelvis"), 1]) > 0.2


def test_the_true_angle_of_a_knee_is_stored(people):
    frames = [f for t, f in enumerate(render_exercise(people, RECIPE, 0, 48)) if t in (0, 47)]
    row = frames[0].bodies.angle_names.index("left_knee_flexion")
    bends_deg = [frame.bodies.angles_deg[0, row] for frame in frames]
    assert bends_deg[0] == pytest.approx(0, abs=0.1)
    assert bends_deg[1] > 60


def test_a_sequence_depends_on_the_recipe_and_its_number_alone(people):
    first, again = (next(iter(render_exercise(people, RECIPE, 4, 20))) for _ in range(2))
    np.testing.assert_array_equal(first.depth.depth_m, again.depth.depth_m)
    np.testing.assert_array_equal(first.joints_m, again.joints_m)


def test_in_a_room_there_is_a_chair_to_sit_on(people):
    room = replace(RECIPE, noise=False, scene=replace(RECIPE.scene, room_share=1.0))
    for frame in list(render_exercise(people, room, 2, 60))[::59]:
        assert np.count_nonzero(frame.depth.depth_m) > 2 * np.count_nonzero(frame.people)
    cut_out = replace(RECIPE, noise=False)
    alone = list(render_exercise(people, cut_out, 2, 60))[59]
    assert np.count_nonzero(alone.depth.depth_m) == np.count_nonzero(alone.people)
    seated = frame.joints_m[0, HUMAN.joint_index("pelvis")]
    rows, cols = np.nonzero((frame.people == 0) & (frame.depth.depth_m > 0))
    points_m = frame.depth.intrinsics.deproject_pixels(rows, cols, frame.depth.depth_m[rows, cols])
    assert np.linalg.norm(points_m - seated, axis=1).min() < 0.35


def test_exercises_are_sequences_of_their_own():
    with pytest.raises(ValueError, match="exercises are sequences"):
        Recipe.from_dict({"motions": "exercises"})
    with pytest.raises(ValueError, match="motions must be captured or exercises"):
        Recipe.from_dict({"motions": "ballet", "sequence_frames": 2})
    with pytest.raises(ValueError, match="plays no captured motions"):
        make_renderer(RECIPE, people_of(recipe_of(poses="all")), Motions.embedded())
