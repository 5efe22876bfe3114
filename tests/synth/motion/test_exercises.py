"""Exercises: the joints follow the curves of angles, and the feet stay where they stand."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.kinematics.joint_angles import joint_angles
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import sample_body
from synth.body.skinning import pose_joints
from synth.motion.exercises import EXERCISES, exercise_of, repetitions
from synth.motion.posed_by_angles import pose_by_angles
from synth.recipe import FPS

TIMES_S = np.arange(120) / FPS
#: degrees by which posed joints may miss their curve; lines of hips and shoulders are not quite level in every body
TOLERANCE_DEG = {"knee_flexion": 0.05, "elbow_flexion": 0.05, "trunk_lean": 0.05, "shoulder_elevation": 0.05}
ABOUT_LINES_DEG = 2.0


def joints_of(name: str, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Curves of an exercise, and the joints of somebody who does it: (T, J, 3)."""
    asset, rng = load_body_asset(), np.random.default_rng(seed)
    rest, exercise = sample_body(asset, rng), EXERCISES[name](TIMES_S, rng)
    poses = pose_by_angles(asset, rest, exercise.angles_deg)
    return dict(exercise.angles_deg), np.array([pose_joints(asset, rest, pose) for pose in poses], float)


@pytest.mark.parametrize("name", EXERCISES)
def test_joints_bend_by_the_angles_of_the_curves(name):
    curves, joints_m = joints_of(name, seed=3)
    found = joint_angles(dict(zip(HUMAN.joints, np.moveaxis(joints_m, 1, 0), strict=True)), up=(0.0, 1.0, 0.0))
    compared = {angle: curve for angle, curve in curves.items() if angle in found and "plane" not in angle}
    assert {"left_knee_flexion", "right_elbow_flexion"} & set(compared)
    for angle, curve in compared.items():
        tolerance = TOLERANCE_DEG.get(angle.removeprefix("left_").removeprefix("right_"), ABOUT_LINES_DEG)
        np.testing.assert_allclose(found[angle], curve, atol=tolerance, err_msg=angle)


def test_who_stands_at_ease_has_straight_knees():
    _, joints_m = joints_of("wave", seed=1)
    found = joint_angles(dict(zip(HUMAN.joints, np.moveaxis(joints_m, 1, 0), strict=True)))
    assert found["left_knee_flexion"].max() < 0.05


@pytest.mark.parametrize("name", ["squat", "sit down"])
def test_feet_keep_their_distance(name):
    _, joints_m = joints_of(name, seed=5)
    ankles_m = joints_m[:, [HUMAN.joint_index("left_ankle"), HUMAN.joint_index("right_ankle")]]
    assert np.ptp(np.linalg.norm(ankles_m[:, 0] - ankles_m[:, 1], axis=1)) < 0.02


def test_repetitions_start_at_rest_and_reach_both_ends():
    course = repetitions(TIMES_S, 0.5, 0.8, 0.4)
    assert (course[TIMES_S < 0.5] == 0).all()
    assert (course.min(), course.max()) == pytest.approx((0, 1))
    assert np.abs(np.diff(course)).max() * FPS < 2 / 0.8
    assert (course[(TIMES_S > 1.31) & (TIMES_S < 1.69)] > 1 - 1e-9).all()


def test_an_unknown_angle_is_refused():
    asset = load_body_asset()
    rest = sample_body(asset, np.random.default_rng(0))
    with pytest.raises(ValueError, match="no pose is made of angle 'tail_wag'"):
        pose_by_angles(asset, rest, {"tail_wag": np.zeros(3)})


def test_exercises_take_turns():
    assert [exercise_of(number) for number in range(6)] == [*EXERCISES, "squat"]
