"""Kernels that choose poses and make new ones of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.body import HUMAN
from synth.body.body_asset import load_body_asset
from synth.motion.mocap.distinct_poses import DistinctPoses
from synth.motion.pose_sampler import standing_pose
from synth.motion.poses import pose_variation
from synth.motion.poses.clips import embedded_pose_bank
from synth.motion.poses.pose_variation import furthest_points, pose_between
from tests.kernels.kernel import Kernel
from tests.reference.synth.motion import distinct_poses as naive_distinct_poses
from tests.reference.synth.motion import pose_variation as naive_pose_variation

SHARES = (0.0, 0.3, 0.9, 1.0)


def _pose_clouds(rng, size):
    """Poses to choose 1, 2, ... ``size`` of, how far apart they must be, and the seed of the first."""
    return SimpleNamespace(
        points_m=rng.normal(size=(size, 30, 4, 3)).astype(np.float32),
        separations_m=rng.uniform(0, 4, size),
        seeds=rng.integers(2**32, size=size).tolist(),
    )


def _chosen(inputs):
    chosen = zip(inputs.points_m, inputs.separations_m, inputs.seeds, strict=True)
    return np.concatenate([furthest_points(each, 1 + k, apart, seed) for k, (each, apart, seed) in enumerate(chosen)])


def _chosen_naively(inputs):
    chosen = []
    for k, points_m in enumerate(inputs.points_m):
        first = int(np.random.default_rng(inputs.seeds[k]).integers(len(points_m)))
        chosen.append(naive_pose_variation.furthest_points(points_m, first, 1 + k, inputs.separations_m[k]))
    return np.concatenate(chosen)


def _pose_streams(rng, size):
    """Poses of which half are near others, and how far apart those that are kept must be."""
    points_m = rng.normal(size=(size, 40, len(HUMAN.joints), 3)).astype(np.float32)
    points_m[:, 20:] = points_m[:, :20] + 0.1 * points_m[:, 20:]
    return SimpleNamespace(points_m=points_m, separations_m=rng.uniform(0.2, 3, size))


def _kept(inputs):
    """Stream k comes k + 1 poses at once."""
    kept = []
    for k, (points_m, separation_m) in enumerate(zip(inputs.points_m, inputs.separations_m, strict=True)):
        poses = DistinctPoses(separation_m)
        kept += [poses.choose(points_m[start : start + k + 1]) for start in range(0, len(points_m), k + 1)]
    return np.concatenate(kept)


def _kept_naively(inputs):
    streams = zip(inputs.points_m, inputs.separations_m, strict=True)
    return np.concatenate([naive_distinct_poses.distinct(*each) for each in streams])


def _captured(rng, size):
    """Captured poses, turns of their bones, some of which are none, and a pose to end in."""
    captured = embedded_pose_bank().rotations
    poses = captured[rng.permutation(len(captured))[:size]].astype(float)
    turns = rng.normal(0, 0.3, (*poses.shape[:2], 3))
    turns[:, 3] = 0
    return SimpleNamespace(
        poses=poses / np.linalg.norm(poses, axis=-1, keepdims=True),
        turns=turns,
        standing=standing_pose(load_body_asset()).astype(float),
    )


def _turned(inputs):
    out = np.empty_like(inputs.poses)
    pose_variation._turn_bones(inputs.poses, pose_variation._PARENTS, inputs.turns, out)
    return out


def _turned_naively(inputs):
    poses = zip(inputs.poses, inputs.turns, strict=True)
    return np.array([naive_pose_variation.turn_bones(pose, pose_variation._PARENTS, turns) for pose, turns in poses])


def _between(inputs):
    return np.array([pose_between(pose, inputs.standing, share) for pose in inputs.poses for share in SHARES])


def _between_naively(inputs):
    ends = [(pose, inputs.standing, pose_variation._PARENTS) for pose in inputs.poses]
    return np.array([naive_pose_variation.pose_between(*each, share) for each in ends for share in SHARES])


KERNELS = (
    Kernel("furthest_points", _chosen, _chosen_naively, _pose_clouds, size=30),
    Kernel("distinct_poses", _kept, _kept_naively, _pose_streams, size=40),
    Kernel(
        "turn_bones",
        _turned,
        _turned_naively,
        _captured,
        size=20,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
    Kernel(
        "pose_between",
        _between,
        _between_naively,
        _captured,
        size=20,
        tolerance=2e-6,
        reason="float32 quaternions",
    ),
)
