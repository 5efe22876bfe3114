"""Rendered exercises and rest: labelled sequences of one person in one place, cut out or in a room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.exercise_sequences import render_exercise
from synth.motion.motions import Motions
from synth.motion.poses.pose_kinds import KINDS
from synth.recipe import Recipe, read_recipe
from synth.renderer import make_renderer
from tests.support.rendered_people import people_of, recipe_of

RECIPE = read_recipe("exercises")
RESTING = replace(read_recipe("resting"), frames=180, sequence_frames=180)
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


@pytest.mark.parametrize(("number", "kind"), [(0, "standing"), (1, "seated"), (2, "lying")])
def test_who_rests_breathes_and_does_nothing_else(people, number, kind):
    cut_out = replace(RESTING, noise=False, scene=replace(RESTING.scene, room_share=0.0))
    frames = list(render_exercise(people, cut_out, number, 180))[::15]
    joints_m = np.array([frame.joints_m[0] for frame in frames])
    moved_m = np.ptp(joints_m, axis=0).max(axis=1)
    assert 0.001 < moved_m[HUMAN.joint_index("neck")] < 0.04
    assert moved_m.max() < 0.08
    upright = joints_m[0] * (1, -1, 1)  # camera axes have y down, and this camera is nearly level
    assert [KINDS[name](upright[None])[0] for name in ("seated", "lying")] == [kind == "seated", kind == "lying"]


def test_who_lies_in_a_room_has_a_bed_or_the_floor_below(people):
    for number in (2, 5, 8):
        frame = next(iter(render_exercise(people, replace(RESTING, noise=False), number, 1)))
        pelvis = frame.joints_m[0, HUMAN.joint_index("pelvis")]
        rows, cols = np.nonzero((frame.people == 0) & (frame.depth.depth_m > 0))
        points_m = frame.depth.intrinsics.deproject_pixels(rows, cols, frame.depth.depth_m[rows, cols])
        below = points_m[(points_m[:, 1] > pelvis[1]) & (points_m[:, 1] < pelvis[1] + 0.4)]
        assert np.linalg.norm((below - pelvis)[:, [0, 2]], axis=1).min() < 0.5


def test_exercises_are_sequences_of_their_own():
    with pytest.raises(ValueError, match="motions are of sequences"):
        Recipe.from_dict({"motions": "exercises"})
    with pytest.raises(ValueError, match="motions must be captured, exercises or resting"):
        Recipe.from_dict({"motions": "ballet", "sequence_frames": 2})
    with pytest.raises(ValueError, match="it plays no captures"):
        make_renderer(RECIPE, people_of(recipe_of(poses="all")), Motions.embedded())
