"""People who stand or walk upright."""

from __future__ import annotations

import numpy as np
import pytest

from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.skinning import pose_joints
from synth.motion.pose_sampler import draw_pose, upright_poses
from synth.motion.poses.clips import embedded_pose_bank
from synth.motion.poses.pose_kinds import KINDS, joints_of, stands_upright
from synth.recipe import PoseRecipe

ASSET = load_body_asset()
REST = rest_body(ASSET, np.zeros(len(ASSET.components_m)))
BANK = embedded_pose_bank().split("train")
UPRIGHT = upright_poses(BANK)


def drawn(count, upright=UPRIGHT, **fields):
    recipe, rng = PoseRecipe(**fields), np.random.default_rng(3)
    poses = [draw_pose(BANK, recipe, ASSET, REST, rng, upright=upright) for _ in range(count)]
    return np.stack([pose_joints(ASSET, REST, pose) for pose in poses])


@pytest.mark.parametrize("kind", ["seated", "lying", "crouching", "bending", "upside down"])
def test_nobody_who_stands_is_of_another_kind(kind):
    joints_m = joints_of(UPRIGHT)
    assert stands_upright(joints_m).all()
    assert not KINDS[kind](joints_m).any()


def test_upright_poses_are_many_and_not_all():
    assert 0.1 < len(UPRIGHT.rotations) / len(BANK.rotations) < 0.9


def test_all_stand_where_the_recipe_says_so():
    """But for the noise of the joints and arms of another pose, which do not lift a foot."""
    joints_m = drawn(60, standing_share=1.0, seated_share=1.0, lying_share=1.0, bent_share=1.0)
    assert stands_upright(joints_m).mean() > 0.9


def test_the_others_do_as_without_those_who_stand():
    lying = KINDS["lying"](drawn(80, standing_share=0.5, lying_share=1.0))
    assert 0.3 < lying.mean() < 0.65


def test_a_bank_without_upright_poses_gives_what_it_has():
    nobody = upright_poses(BANK.select(("none",)))
    assert len(nobody.rotations) == 0
    assert drawn(2, upright=nobody, standing_share=1.0).shape == (2, 20, 3)
