"""People who bend forwards: their legs carry them, and those whom captures show are found."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import pose_body
from synth.motion.pose_sampler import CAPTURED_BENT_SHARE, bent_poses, draw_pose, standing_pose
from synth.motion.poses.bending import BENDS, bend_forward
from synth.motion.poses.clips import embedded_pose_bank
from synth.motion.poses.pose_kinds import BENT_DEG, KINDS, bends_on_legs, joints_of
from synth.motion.poses.postures import lay_down, sit_down
from synth.recipe import PoseRecipe

ASSET = load_body_asset()
REST = rest_body(ASSET, np.zeros(len(ASSET.components_m)))
BANK = embedded_pose_bank().split("validation")
BENT = PoseRecipe(poses="validation", bent_share=1.0)


def at(joints_m, name):
    return joints_m[..., HUMAN.joint_index(name), :]


def tilt_deg(joints_m):
    up = at(joints_m, "neck") - at(joints_m, "pelvis")
    return np.degrees(np.arccos(up[..., 1] / np.linalg.norm(up, axis=-1)))


def joints(pose):
    return pose_body(ASSET, REST, pose).joints_m


@pytest.fixture(scope="module")
def drawn():
    """Joints of 60 people who bend."""
    bent, rng = bent_poses(BANK), np.random.default_rng(3)
    return np.stack([joints(draw_pose(BANK, BENT, ASSET, REST, rng, bent)) for _ in range(60)])


def test_those_who_bend_stand_on_their_feet(drawn):
    assert bends_on_legs(drawn).mean() > 0.97
    assert (tilt_deg(drawn) > BENT_DEG[0]).mean() > 0.97
    assert not limbs_intersect(drawn).all()
    lowest = drawn[..., 1].min(axis=1)
    feet = np.stack([at(drawn, f"{side}_{end}")[:, 1] for side in ("left", "right") for end in ("ankle", "foot")])
    assert (feet.min(axis=0) - lowest < 0.1).mean() > 0.97


def test_they_bow_low_and_little_with_straight_and_bent_knees(drawn):
    assert np.percentile(tilt_deg(drawn), 10) < 58
    assert np.percentile(tilt_deg(drawn), 90) > 80
    thigh, calf = at(drawn, "left_hip") - at(drawn, "left_knee"), at(drawn, "left_knee") - at(drawn, "left_ankle")
    cosine = (thigh * calf).sum(axis=1) / np.linalg.norm(thigh, axis=1) / np.linalg.norm(calf, axis=1)
    assert np.percentile(np.degrees(np.arccos(cosine)), [15, 85]) == pytest.approx([10, 95], abs=25)


@pytest.mark.parametrize("name", BENDS)
def test_each_way_to_bend_bends_by_its_angles(name):
    bend, rng = BENDS[name], np.random.default_rng(5)
    upright = np.tile([0, 0, 0, 1.0], (20, 1))  # what the pose adds is not of this stage
    poses_m = np.stack([joints(bend_forward(upright, standing_pose(ASSET), bend, rng)) for _ in range(40)])
    low, high = bend.trunk_deg
    assert np.percentile(tilt_deg(poses_m), [10, 90]) == pytest.approx([low, high], abs=14)
    assert bends_on_legs(poses_m).mean() > 0.2
    hands = np.minimum(at(poses_m, "left_hand")[:, 1], at(poses_m, "right_hand")[:, 1])
    assert (hands < at(poses_m, "torso")[:, 1]).mean() > 0.75


def test_the_feet_lie_below_the_trunk():
    rng = np.random.default_rng(6)
    bow = BENDS["bow"]
    poses_m = np.stack([joints(bend_forward(BANK.rotations[0], standing_pose(ASSET), bow, rng)) for _ in range(40)])
    trunk = (at(poses_m, "pelvis") + at(poses_m, "torso") + at(poses_m, "neck")) / 3
    feet = np.mean([at(poses_m, f"{side}_{end}") for side in ("left", "right") for end in ("ankle", "foot")], axis=0)
    assert np.median(np.abs((trunk - feet)[:, 2])) < 0.15


def test_captured_poses_of_those_who_bend_are_found():
    found = bent_poses(embedded_pose_bank())
    joints_m = joints_of(found)
    assert 20 < len(found.rotations) < 0.2 * len(embedded_pose_bank().rotations)
    assert bends_on_legs(joints_m).all()
    assert tilt_deg(joints_m).min() > BENT_DEG[0]
    assert not any(KINDS[kind](joints_m).any() for kind in ("seated", "lying", "upside down", "standing at ease"))


def test_sitting_lying_and_standing_people_do_not_bend():
    rng = np.random.default_rng(2)
    standing = standing_pose(ASSET)
    others = [standing, *(sit_down(standing, rng) for _ in range(9)), *(lay_down(standing, rng) for _ in range(9))]
    assert not bends_on_legs(np.stack([joints(pose) for pose in others])).any()


def test_a_backbend_and_a_handstand_are_no_bow(drawn):
    turned = drawn * [-1, 1, -1]  # the same trunk, seen with the hips the other way round
    turned[:, [HUMAN.joint_index(f"{side}_hip") for side in ("left", "right")]] = turned[
        :, [HUMAN.joint_index(f"{side}_hip") for side in ("right", "left")]
    ]
    assert not bends_on_legs(turned).any()
    assert not bends_on_legs(drawn * [1, -1, 1]).any()


def test_both_captured_people_and_others_bend():
    assert 0 < CAPTURED_BENT_SHARE < 1
    only = bent_poses(BANK).select(("humanoid3d_spin",))
    assert len(only.rotations) > 0
    assert len(bent_poses(only.select(("none",))).rotations) == 0


def test_without_bent_share_the_same_people_are_drawn():
    plain = PoseRecipe(poses="validation")
    one, other = (draw_pose(BANK, plain, ASSET, REST, np.random.default_rng(4), bent) for bent in (None, BANK))
    np.testing.assert_array_equal(one, other)
