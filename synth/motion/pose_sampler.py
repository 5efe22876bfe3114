"""Draw the pose of one rendered person: a captured pose, varied."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from synth.body.body_asset import BodyAsset
from synth.body.body_mesh import RestBody
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import POSED_BONES, pose_joints
from synth.motion.poses.bending import BENDS, bend_forward
from synth.motion.poses.clips import PoseBank
from synth.motion.poses.pose_kinds import bends_on_legs, joints_of, stands_upright
from synth.motion.poses.pose_variation import jitter, mirror_poses, pose_between, recombine
from synth.motion.poses.postures import lay_down, rotate_randomly, sit_down
from synth.recipe import PoseRecipe

MAX_TRIES = 8
"""Variations tried before a captured pose is used unchanged: a captured one is possible."""
BENT_TRIES = 24
"""The same for people who bend: limbs are closer to each other."""
MAX_PELVIS_M = 0.25
"""Maximum height of the pelvis above the lowest joint in a lying pose, metres."""
CAPTURED_BENT_SHARE = 0.3
"""Of people who bend, those in a captured pose, where the bank has any; the others are made to bend."""
HANGING = {"l": (0.16, -1.0, 0.03), "r": (-0.16, -1.0, 0.03)}
"""Direction of a relaxed arm: down, slightly out and forward."""


def draw_pose(
    bank: PoseBank,
    recipe: PoseRecipe,
    asset: BodyAsset,
    rest: RestBody,
    rng: np.random.Generator,
    bent: PoseBank | None = None,
    upright: PoseBank | None = None,
) -> np.ndarray:
    """Draw a pose for one body.

    A captured pose is mirrored, recombined with the arms of another, relaxed towards standing and jittered, as the
    recipe says. It is drawn again while limbs pass through the body. Some people stand or walk. Of the others some
    bend, and some are seated, laid down, or rotated as a whole. ``bent`` and ``upright`` hold the captured poses of
    those who bend and of those who stand or walk, see `bent_poses` and `upright_poses`; None = none.

    Returns
    -------
    float32 (20, 4)
        Global rotation of each bone, quaternions xyzw.
    """
    if recipe.standing_share and rng.random() < recipe.standing_share:
        return _varied(upright if upright is not None and len(upright.rotations) else bank, recipe, asset, rest, rng)
    if recipe.bent_share and rng.random() < recipe.bent_share:
        return _bent(bank, bent, recipe, asset, rest, rng)
    pose = _varied(bank, recipe, asset, rest, rng)
    if recipe.seated_share and rng.random() < recipe.seated_share:
        pose = _seated(pose, asset, rest, rng)
    if recipe.lying_share and rng.random() < recipe.lying_share:
        return _lying(pose, asset, rest, rng)
    share = recipe.random_rotation_share
    return rotate_randomly(pose, rng) if share and rng.random() < share else pose


def bent_poses(bank: PoseBank) -> PoseBank:
    """Return the poses of a bank that show people who bend, see `bends_on_legs`."""
    if len(bank.rotations) == 0:
        return bank
    return _kept(bank, bends_on_legs(joints_of(bank)))


def upright_poses(bank: PoseBank) -> PoseBank:
    """Return the poses of a bank that show people who stand or walk, see `stands_upright`."""
    return _kept(bank, stands_upright(joints_of(bank))) if len(bank.rotations) else bank


def _kept(bank: PoseBank, rows: np.ndarray) -> PoseBank:
    return PoseBank(bank.rotations[rows], bank.bones, bank.clips[rows])


def _bent(
    bank: PoseBank,
    bent: PoseBank | None,
    recipe: PoseRecipe,
    asset: BodyAsset,
    rest: RestBody,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw a captured pose of somebody who bends, or make somebody bend; the last one tried where none will do."""
    bend = BENDS[str(rng.choice(list(BENDS)))]
    captured = bent if bent is not None and len(bent.rotations) and rng.random() < CAPTURED_BENT_SHARE else None
    for _ in range(BENT_TRIES):
        if captured is not None:
            pose = jitter(_captured(captured, recipe, rng), rng, np.radians(recipe.jitter_deg))
        else:
            pose = bend_forward(_captured(bank, recipe, rng), standing_pose(asset), bend, rng)
        joints_m = pose_joints(asset, rest, pose)
        if bends_on_legs(joints_m[None])[0] and not limbs_intersect(joints_m):
            break
    return pose


def _varied(
    bank: PoseBank, recipe: PoseRecipe, asset: BodyAsset, rest: RestBody, rng: np.random.Generator
) -> np.ndarray:
    """Draw a captured pose and vary it; unchanged where no variation will do."""
    standing = standing_pose(asset)
    captured = _captured(bank, recipe, rng)
    for _ in range(MAX_TRIES):
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


def _seated(pose: np.ndarray, asset: BodyAsset, rest: RestBody, rng: np.random.Generator) -> np.ndarray:
    for _ in range(MAX_TRIES):
        seated = sit_down(pose, rng)
        if not limbs_intersect(pose_joints(asset, rest, seated)):
            return seated
    return pose


def _lying(pose: np.ndarray, asset: BodyAsset, rest: RestBody, rng: np.random.Generator) -> np.ndarray:
    """Lay down a relaxed pose, on the side on which the pelvis is lowest."""
    lowest_m, best = np.inf, pose
    for _ in range(MAX_TRIES):
        lying = lay_down(pose_between(pose, standing_pose(asset), rng.random()), rng)
        heights_m = pose_joints(asset, rest, lying)[:, 1]
        above_m = heights_m[HUMAN.joint_index("pelvis")] - heights_m.min()
        if above_m < lowest_m:
            lowest_m, best = above_m, lying
        if lowest_m < MAX_PELVIS_M:
            break
    return best


def _captured(bank: PoseBank, recipe: PoseRecipe, rng: np.random.Generator) -> np.ndarray:
    pose = bank.rotations[rng.integers(len(bank.rotations))]
    return mirror_poses(pose, bank.bones) if rng.random() < recipe.mirror_share else pose


@lru_cache(maxsize=4)
def standing_pose(asset: BodyAsset) -> np.ndarray:
    """Return a pose of standing at ease with hanging arms: float32 (20, 4). In the rest pose arms are held out."""
    pose = np.tile(np.array([0, 0, 0, 1], np.float32), (len(POSED_BONES), 1))
    for side, hanging in HANGING.items():
        shoulder, hand = (asset.mean_m[asset.n_vertices + asset.bone(f"{b}_{side}")] for b in ("upperarm", "hand"))
        turn, _ = Rotation.align_vectors([hanging], [hand - shoulder])
        for bone in ("upperarm", "lowerarm", "hand"):
            pose[POSED_BONES.index(f"{bone}_{side}")] = turn.as_quat()
    return pose
