"""Draws the pose of one rendered person: a captured pose, varied until it is one that nobody struck before."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from synth.body.body_asset import BodyAsset
from synth.body.body_mesh import RestBody
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import POSED_BONES, pose_joints
from synth.motion.poses.clips import PoseBank
from synth.motion.poses.pose_variation import jitter, mirror_poses, pose_between, recombine
from synth.motion.poses.postures import lay_down, sit_down, tumble
from synth.recipe import Recipe

ATTEMPTS = 8
"""Variations tried before a captured pose is taken as it is: that one a body has held."""
RESTING_M = 0.25
"""Nobody's pelvis lies higher above his lowest joint."""
HANGING = {"l": (0.16, -1.0, 0.03), "r": (-0.16, -1.0, 0.03)}
"""Direction of a relaxed arm: down, a little out and forward."""


def draw_pose(bank: PoseBank, recipe: Recipe, asset: BodyAsset, rest: RestBody, rng: np.random.Generator) -> np.ndarray:
    """Draw a pose for one body.

    Mirrored, given the arms of another, relaxed towards standing and jittered as the recipe says;
    drawn again while limbs pass through the body; at last some sit down, or grow limp and lie, or are
    tipped over.

    Returns
    -------
    float32 (20, 4), global rotation of each bone, quaternions xyzw
    """
    pose = _upright_pose(bank, recipe, asset, rest, rng)
    if recipe.seated_share and rng.random() < recipe.seated_share:
        pose = _seated(pose, asset, rest, rng)
    if recipe.lying_share and rng.random() < recipe.lying_share:
        return _lying(pose, asset, rest, rng)
    return tumble(pose, rng) if recipe.tumble_share and rng.random() < recipe.tumble_share else pose


def _upright_pose(bank, recipe, asset, rest, rng) -> np.ndarray:
    standing = standing_pose(asset)
    captured = _captured(bank, recipe, rng)
    for _ in range(ATTEMPTS):
        pose = captured
        if rng.random() < recipe.recombine_share:
            pose = recombine(np.stack([captured, _captured(bank, recipe, rng)]), rng)[0]
        if rng.random() < recipe.relax_share:
            pose = pose_between(pose, standing, rng.random())
        if recipe.jitter_deg > 0:
            pose = jitter(pose, rng, np.radians(recipe.jitter_deg))
        if not limbs_intersect(pose_joints(asset, rest, pose)):
            return pose
    return captured


def _seated(pose, asset, rest, rng) -> np.ndarray:
    for _ in range(ATTEMPTS):
        seated = sit_down(pose, rng)
        if not limbs_intersect(pose_joints(asset, rest, seated)):
            return seated
    return pose


def _lying(pose, asset, rest, rng) -> np.ndarray:
    """Grown limp, on the side on which the body comes closest to the ground."""
    lowest_m, best = np.inf, pose
    for _ in range(ATTEMPTS):
        lying = lay_down(pose_between(pose, standing_pose(asset), rng.random()), rng)
        heights_m = pose_joints(asset, rest, lying)[:, 1]
        above_m = heights_m[HUMAN.joint_index("pelvis")] - heights_m.min()
        if above_m < lowest_m:
            lowest_m, best = above_m, lying
        if lowest_m < RESTING_M:
            break
    return best


def _captured(bank: PoseBank, recipe: Recipe, rng: np.random.Generator) -> np.ndarray:
    pose = bank.rotations[rng.integers(len(bank.rotations))]
    return mirror_poses(pose, bank.bones) if rng.random() < recipe.mirror_share else pose


@lru_cache(maxsize=4)
def standing_pose(asset: BodyAsset) -> np.ndarray:
    """Standing at ease with hanging arms: float32 (20, 4). The rest pose holds its arms out."""
    pose = np.tile(np.array([0, 0, 0, 1], np.float32), (len(POSED_BONES), 1))
    for side, hanging in HANGING.items():
        shoulder, hand = (asset.mean_m[asset.n_vertices + asset.bone(f"{b}_{side}")] for b in ("upperarm", "hand"))
        turn, _ = Rotation.align_vectors([hanging], [hand - shoulder])
        for bone in ("upperarm", "lowerarm", "hand"):
            pose[POSED_BONES.index(f"{bone}_{side}")] = turn.as_quat()
    return pose
