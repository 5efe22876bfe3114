"""Kernels that pose bodies and see whether they hit themselves."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.body import HUMAN
from synth.body import limb_collision
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import sample_body
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import JOINT_PLACES, POSED_BONES, pose_body, pose_joints
from synth.motion.poses.clips import embedded_pose_bank
from synth.motion.poses.pose_variation import jitter
from tests.kernels.kernel import Kernel
from tests.reference.synth.body import limb_collision as naive_limb_collision
from tests.reference.synth.body import skinning as naive_skinning


def _person(rng, size):
    """A person in so many poses that no person could take."""
    asset, turns = load_body_asset(), rng.normal(size=(size, len(POSED_BONES), 4))
    turns /= np.linalg.norm(turns, axis=2, keepdims=True)
    return SimpleNamespace(asset=asset, rest=sample_body(asset, rng), poses=turns)


def _posed(inputs):
    posed = [pose_body(inputs.asset, inputs.rest, pose) for pose in inputs.poses]
    return np.concatenate([each.vertices_m for each in posed]), np.concatenate([each.joints_m for each in posed])


def _posed_naively(inputs):
    asset, rest, vertices_m, joints_m = inputs.asset, inputs.rest, [], []
    places = [JOINT_PLACES[joint] for joint in HUMAN.joints]
    for pose in inputs.poses:
        moved = naive_skinning.move_bones(asset.bone_names, asset.bone_parents, rest.bone_heads_m, POSED_BONES, pose)
        ends_m = rest.bone_heads_m, rest.bone_tails_m
        vertices_m.append(naive_skinning.skin(rest.vertices_m, asset.weight_bones, asset.weights, moved))
        joints_m.append(naive_skinning.place_joints(places, asset.bone_names, *ends_m, moved))
    return np.concatenate(vertices_m), np.concatenate(joints_m)


def _segments(rng, size):
    """Two segments a row, some of which are points."""
    ends_m = rng.uniform(-1, 1, (size, 4, 3))
    ends_m[::10, 1] = ends_m[::10, 0]
    ends_m[::15, 3] = ends_m[::15, 2]
    return SimpleNamespace(ends_m=ends_m)


def _captured_with_noise(rng, size):
    """Joints of captured poses, turned so far that in some of them limbs pass through the body."""
    asset, captured = load_body_asset(), embedded_pose_bank().rotations
    rest, poses = sample_body(asset, rng), jitter(captured[rng.permutation(len(captured))[:size]], rng, 0.3)
    return SimpleNamespace(joints_m=np.array([pose_joints(asset, rest, pose) for pose in poses], np.float64))


KERNELS = (
    Kernel(
        "pose_body",
        _posed,
        _posed_naively,
        _person,
        size=1,
        tolerance=5e-6,
        reason="twenty float32 operations on coordinates up to 3 m",
    ),
    Kernel(
        "segment_distance",
        lambda i: np.sqrt([limb_collision._distance2(each, 0, 1, 2, 3) for each in i.ends_m]),
        lambda i: [naive_limb_collision.segment_distance(*each) for each in i.ends_m],
        _segments,
        size=60,
        tolerance=1e-3,
        reason="the twin tries points up to 3.5 m / 2000 apart; where segments all but touch, so far is it off",
    ),
    Kernel(
        "limbs_intersect",
        lambda i: limbs_intersect(i.joints_m),
        lambda i: naive_limb_collision.limbs_intersect(
            i.joints_m,
            limb_collision._LEGS,
            limb_collision._ENDS,
            limb_collision._RADII,
            limb_collision._PAIRS,
            limb_collision.LEG_M,
        ),
        _captured_with_noise,
        size=40,
    ),
)
