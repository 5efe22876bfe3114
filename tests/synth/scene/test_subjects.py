"""People of a recipe: what its proportions change, and what is drawn without them."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.motion.poses.clips import embedded_pose_bank
from synth.recipe import ClothingRecipe, PoseRecipe, ProportionRecipe
from synth.scene.subjects import People, Subject


def person(seed: int, **proportion: tuple[float, float]) -> Subject:
    people = People(PoseRecipe(), ClothingRecipe(), embedded_pose_bank(), ProportionRecipe(**proportion))
    return people.draw(np.random.default_rng(seed))


def bone_m(subject: Subject, start: str, end: str) -> float:
    rows = [HUMAN.joint_index(joint) for joint in (start, end)]
    return float(np.linalg.norm(np.subtract(*subject.joints_m[rows])))


def test_limbs_have_the_lengths_of_the_recipe():
    usual, longer = person(4), person(4, forearm_scale=(1.2, 1.2))
    forearm = "left_elbow", "left_wrist"
    assert bone_m(longer, *forearm) == pytest.approx(1.2 * bone_m(usual, *forearm), rel=1e-4)
    assert bone_m(longer, "left_hip", "left_knee") == pytest.approx(bone_m(usual, "left_hip", "left_knee"), rel=1e-4)


def test_a_range_is_drawn_for_each_person():
    ratios = [
        bone_m(subject, "left_shoulder", "left_elbow") / bone_m(subject, "left_hip", "left_knee")
        for subject in (person(seed, upper_arm_scale=(0.8, 1.3)) for seed in range(12))
    ]
    assert max(ratios) > 1.2 * min(ratios)


def test_both_sides_are_alike():
    subject = person(4, upper_arm_scale=(0.8, 1.3))
    left, right = (bone_m(subject, f"{side}_shoulder", f"{side}_elbow") for side in ("left", "right"))
    assert left == pytest.approx(right, rel=0.03)
