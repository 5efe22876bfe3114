"""Errors of limbs: known turns, bends and stretches are measured as what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from posepipe.evaluation.evaluate_poses import evaluate
from posepipe.evaluation.metrics.body_metrics import BodyScores, LengthScores, limb_bones, score_lengths, twist_deg
from posepipe.results import BodyFit
from synth.recipe import Recipe
from tests.support.rendered_people import renderer_of
from tests.support.shipped_model import shipped_model


@pytest.fixture(scope="module")
def frame():
    return renderer_of(Recipe(seed=3)).render(1)


def fit_of(rotations_xyzw: np.ndarray) -> BodyFit:
    joints = len(HUMAN.joints)
    return BodyFit(HUMAN.joints, np.zeros((joints, 3)), rotations_xyzw, np.zeros(joints), np.zeros(0), 1.0, 1.0)


def scored(frame, found_m: np.ndarray, turn_deg: float = 0.0) -> dict[str, float]:
    """Figures of joints, and of orientations that are turned about the axis of each limb."""
    true_m = frame.joints_m[0].astype(float)
    rotations = frame.bodies.rotations_xyzw[0].astype(float)
    for joint, parent in limb_bones(HUMAN, true_m, frame.bodies.bone_lengths_m[0]):
        bone = true_m[joint] - true_m[parent]
        turn = Rotation.from_rotvec(np.radians(turn_deg) * bone / np.linalg.norm(bone))
        rotations[parent] = (turn * Rotation.from_quat(rotations[parent])).as_quat()
    scores, everything = BodyScores(), np.ones(len(HUMAN.joints), bool)
    scores.add(HUMAN, (true_m, everything, frame.bodies, 0), found_m, fit_of(rotations))
    return scores.figures()


def test_the_truth_itself_has_no_errors(frame):
    figures = scored(frame, frame.joints_m[0].astype(float))
    assert list(figures.values()) == pytest.approx([0.0] * 5, abs=0.05)


def test_a_turn_about_the_bone_is_twist_alone(frame):
    figures = scored(frame, frame.joints_m[0].astype(float), turn_deg=25.0)
    assert figures["twist error, degrees"] == pytest.approx(25.0, abs=0.1)
    assert figures["bone direction error, degrees"] == pytest.approx(0.0, abs=0.05)


def test_a_swing_of_the_bone_is_no_twist():
    swing = Rotation.from_rotvec([0.4, 0.0, 0.3]).as_quat()
    assert twist_deg(swing, np.array([0, 0, 0, 1.0]), np.array([0, 2.0, 0])) == pytest.approx(0, abs=1e-9)
    half_turn = Rotation.from_rotvec([0, np.radians(350), 0]).as_quat()
    assert twist_deg(half_turn, np.array([0, 0, 0, 1.0]), np.array([0, 2.0, 0])) == pytest.approx(10)


def test_a_larger_body_has_longer_bones_in_the_same_direction(frame):
    figures = scored(frame, 1.1 * frame.joints_m[0].astype(float))
    assert figures["bone length error"] == pytest.approx(0.1, abs=0.01)
    assert figures["bone direction error, degrees"] == pytest.approx(0.0, abs=0.05)


def test_limbs_are_scored_and_the_trunk_is_not(frame):
    bones = limb_bones(HUMAN, frame.joints_m[0], frame.bodies.bone_lengths_m[0])
    assert len(bones) == 12
    names = {HUMAN.joints[joint].removeprefix("left_").removeprefix("right_") for joint, _ in bones}
    assert names == {"elbow", "wrist", "hand", "knee", "ankle", "foot"}


def test_lengths_are_compared_after_two_seconds(frame):
    times_s, true_m = np.arange(120) / 30, np.repeat(frame.joints_m.astype(float), 120, axis=0)
    stretched = true_m * np.where(times_s < 2, 1.2, 1.05)[:, None, None]
    scores = score_lengths(HUMAN, stretched, true_m, frame.bodies.bone_lengths_m[0], times_s)
    assert scores.figures()["bone length error after 2 s"] == pytest.approx(0.05, abs=1e-3)
    lengths = np.where(times_s < 2, 1.2, 1.05)
    assert scores.figures()["bone length spread"] == pytest.approx(lengths.std() / lengths.mean(), abs=1e-3)
    short = score_lengths(HUMAN, stretched[:30], true_m[:30], frame.bodies.bone_lengths_m[0], times_s[:30])
    assert np.isnan(short.figures()["bone length error after 2 s"])
    assert LengthScores().figures() == {}


def test_bones_that_are_hardly_found_have_no_lengths(frame):
    times_s, true_m = np.arange(120) / 30, np.repeat(frame.joints_m.astype(float), 120, axis=0)
    found_m = 1.1 * true_m
    found_m[4:, HUMAN.joint_index("left_wrist")] = np.nan
    true_m[0] = np.nan  # not known in the first frame
    scores = score_lengths(HUMAN, found_m, true_m, frame.bodies.bone_lengths_m[0], times_s)
    assert len(scores.spreads) == len(scores.errors) == 10  # all but those that end or start at the wrist


def test_lengths_of_several_people_are_put_together():
    both = LengthScores((0.1, 0.2), (0.01,)) + LengthScores((0.3,), (0.05, 0.09))
    assert list(both.figures().values()) == pytest.approx([0.2, 0.05])


def test_only_frames_with_stored_truth_have_figures_of_bodies(frame):
    model = shipped_model()
    with_truth = evaluate(model, [frame], fit=False)
    without = evaluate(model, [replace(frame, bodies=None)], fit=False)
    assert without.bodies.figures() == {}
    assert with_truth.headline()["bone direction error, degrees"] < 45
    assert np.isnan(with_truth.headline()["twist error, degrees"])
    known = without.headline()
    assert {name: with_truth.headline()[name] for name in known} == pytest.approx(known, nan_ok=True)
