"""Build the embedded pose bank and motions from DeepMimic's clips in the pybullet wheel.

``python -m synth.tools.build_pose_bank PYBULLET_WHEEL`` reads the wheel as a zip and installs nothing. DeepMimic's
skeleton has 13 joints, ours 20 bones. Its chest is distributed over three of our spine bones, its neck over two, and
our collar bones follow raised arms. In its rest pose arms hang; in ours they are held out. Rest directions come from
the body asset (`synth.body.body_asset`).

References
----------
Peng et al., DeepMimic, SIGGRAPH 2018; frame layout: pybullet_envs/deep_mimic in the same wheel.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from posepipe.body import HUMAN
from posepipe.errors import FormatError
from synth.body.body_asset import BodyAsset, load_body_asset
from synth.body.body_mesh import RestBody, rest_body
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import POSED_BONES, pose_body
from synth.motion.mocap.retarget import CLAVICLE_FREE_RAD, CLAVICLE_SHARE
from synth.motion.poses.clips import (
    DATA_DIR,
    MOTIONS_FILE,
    POSE_BANK_FILE,
    Motion,
    PoseBank,
    write_motions,
    write_pose_bank,
)
from synth.motion.poses.pose_variation import furthest_points, without_heading

CLIPS_FOLDER = "pybullet_data/data/motions/"
CLIPS_PREFIX = CLIPS_FOLDER + "humanoid3d_"
N_CLIPS = 15
FRAME_NUMBERS = 44
JOINTS = {"chest": 8, "neck": 12} | {
    f"{joint}_{side}": start + offset
    for side, offset in (("r", 0), ("l", 14))
    for joint, start in {"hip": 16, "knee": 20, "ankle": 21, "shoulder": 25, "elbow": 29}.items()
}
"""Column where each joint's rotation starts: a quaternion wxyz, or one angle for the HINGES."""
HINGES = ("knee", "elbow")

AXES = Rotation.from_matrix([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
"""Their axes (x forward, y up, z right) to ours (x left, y up, z forward)."""
LEG_M = 0.831  #: hip to ankle of their skeleton, (1.686184 + 1.639480) / 4 of humanoid.urdf

SPINE_SHARES = {"spine_01": 1 / 3, "spine_02": 2 / 3, "spine_03": 1.0}
NECK_SHARES = {"neck_01": 0.5, "head": 1.0}

MIN_SEPARATION_M = 0.05
MOTION_NAMES = ("humanoid3d_walk", "humanoid3d_dance_a")
MOTION_FPS = 30.0
MOTION_FRAMES = 75  #: a looped clip is repeated until it has at least this many


@dataclass(frozen=True, eq=False)
class SourceClip:
    """One file of DeepMimic: F frames, in its own axes."""

    times_s: np.ndarray  #: (F,), from 0
    root_m: np.ndarray  #: (F, 3), middle of the hips
    rotations: dict[str, Rotation]  #: "root" and JOINTS -> F rotations, each in the frame of the joint before it
    loops: bool  #: the last frame is the first of the next repetition


def read_source_clips(wheel: Path) -> dict[str, SourceClip]:
    """Read all clips of the wheel, by name. Raises FormatError when the wheel has others than these 15."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            paths = sorted(path for path in archive.namelist() if path.startswith(CLIPS_PREFIX))
            if len(paths) != N_CLIPS:
                raise FormatError(wheel, f"wanted {N_CLIPS} clips {CLIPS_PREFIX}*.txt, got {len(paths)}")
            return {Path(path).stem: _parse(wheel, path, archive.read(path)) for path in paths}
    except (OSError, zipfile.BadZipFile) as error:
        raise FormatError(wheel, f"wanted the wheel pybullet-3.2.7, cannot read it: {error}") from error


def _parse(wheel: Path, path: str, content: bytes) -> SourceClip:
    clip = json.loads(content)
    frames = np.array(clip["Frames"], np.float64)
    if frames.ndim != 2 or frames.shape[1] != FRAME_NUMBERS:
        raise FormatError(wheel, f"{path}: wanted frames of {FRAME_NUMBERS} numbers, got shape {frames.shape}")
    rotations = {"root": Rotation.from_quat(frames[:, [5, 6, 7, 4]])}
    for joint, column in JOINTS.items():
        if joint.startswith(HINGES):
            rotations[joint] = Rotation.from_rotvec(frames[:, [column]] * [0, 0, 1])
        else:
            rotations[joint] = Rotation.from_quat(frames[:, [column + 1, column + 2, column + 3, column]])
    times_s = np.concatenate([[0], np.cumsum(frames[:-1, 0])])
    return SourceClip(times_s, frames[:, 1:4], rotations, clip["Loop"] == "wrap")


def retarget(clip: SourceClip, rest: RestBody, asset: BodyAsset) -> np.ndarray:
    """Return bone rotations of a clip on our rig, with heading: float32 (F, 20, 4), global, quaternions xyzw."""
    turned = {name: AXES * rotation * AXES.inv() for name, rotation in clip.rotations.items()}
    bones = {"pelvis": turned["root"]}
    bones |= _spread(turned["root"], turned["chest"], SPINE_SHARES)
    bones |= _spread(bones["spine_03"], turned["neck"], NECK_SHARES)
    for side in "lr":
        to_hanging = _hanging(rest, asset, (f"thigh_{side}", f"calf_{side}", f"foot_{side}"))
        hip = turned["root"] * turned[f"hip_{side}"]
        knee = hip * turned[f"knee_{side}"]
        bones[f"thigh_{side}"] = hip * to_hanging[0]
        bones[f"calf_{side}"] = knee * to_hanging[1]
        bones[f"foot_{side}"] = knee * turned[f"ankle_{side}"]  # both skeletons have flat feet at rest
        to_hanging = _hanging(rest, asset, (f"upperarm_{side}", f"lowerarm_{side}", f"hand_{side}"))
        shoulder = bones["spine_03"] * turned[f"shoulder_{side}"]
        elbow = shoulder * turned[f"elbow_{side}"]
        bones[f"clavicle_{side}"] = bones["spine_03"] * _collar_lift(turned[f"shoulder_{side}"])
        bones[f"upperarm_{side}"] = shoulder * to_hanging[0]
        bones[f"lowerarm_{side}"] = elbow * to_hanging[1]
        bones[f"hand_{side}"] = elbow * to_hanging[1]  # its wrists do not rotate
    return np.stack([bones[name].as_quat() for name in POSED_BONES], axis=1).astype(np.float32)


def _spread(base: Rotation, joint: Rotation, shares: dict[str, float]) -> dict[str, Rotation]:
    """Distribute one joint's rotation over several bones, each global."""
    return {bone: base * Rotation.from_rotvec(share * joint.as_rotvec()) for bone, share in shares.items()}


def _hanging(rest: RestBody, asset: BodyAsset, chain: tuple[str, ...]) -> list[Rotation]:
    """Rotations that make each bone of a chain except the last hang straight down from its rest direction.

    Each adds the shortest rotation to that of the bone before it. A forearm rotated straight down by itself would be
    twisted by about 18 degrees against its upper arm.
    """
    heads_m = rest.bone_heads_m[[asset.bone(bone) for bone in chain]]
    turns, turn = [], Rotation.identity()
    for direction in np.diff(heads_m, axis=0):
        turn = _shortest_rotation(turn.apply(direction), np.array([0.0, -1.0, 0.0])) * turn
        turns.append(turn)
    return turns


def _shortest_rotation(a: np.ndarray, b: np.ndarray) -> Rotation:
    axis = np.cross(a, b)
    sine = np.linalg.norm(axis)
    if sine == 0:
        return Rotation.identity()
    return Rotation.from_rotvec(axis / sine * np.arctan2(sine, a @ b))


def _collar_lift(shoulder: Rotation) -> Rotation:
    """The collar bone's rotation in the chest, about the axis in which the arm is lifted from hanging."""
    arm = shoulder.apply([0, -1, 0])
    axis = np.cross([0, -1, 0], arm)
    sine = np.linalg.norm(axis, axis=1)
    elevation = np.arctan2(sine, -arm[:, 1])
    lift = CLAVICLE_SHARE * np.clip(elevation - CLAVICLE_FREE_RAD, 0, np.pi / 2)
    return Rotation.from_rotvec(axis / np.maximum(sine, 1e-9)[:, None] * lift[:, None])


def distinct_poses(bank: PoseBank, rest: RestBody, asset: BodyAsset) -> PoseBank:
    """Return the possible poses that differ by MIN_SEPARATION_M in at least one joint, in furthest-point order.

    Some are not possible: with our proportions, a forearm passes through the belly or a thigh.
    """
    joints_m = np.stack([pose_body(asset, rest, pose).joints_m for pose in bank.rotations])
    possible = np.flatnonzero(~limbs_intersect(joints_m))
    kept = possible[furthest_points(joints_m[possible], len(possible), MIN_SEPARATION_M, seed=0)]
    return PoseBank(bank.rotations[kept], bank.bones, bank.clips[kept])


def build_bank(clips: dict[str, SourceClip], rest: RestBody, asset: BodyAsset) -> PoseBank:
    """Return all distinct poses of the clips, with the precision of the file."""
    rotations = {name: without_heading(retarget(clip, rest, asset)) for name, clip in clips.items()}
    stored = np.concatenate(list(rotations.values())).astype(np.float16).astype(np.float32)
    names = np.concatenate([np.full(len(poses), name) for name, poses in rotations.items()])
    unit = stored / np.linalg.norm(stored, axis=-1, keepdims=True)
    return distinct_poses(PoseBank(unit, POSED_BONES, names), rest, asset)


def build_motion(clip: SourceClip, rest: RestBody, asset: BodyAsset) -> Motion:
    """Return a clip at MOTION_FPS, repeated if it loops, its lowest point of all frames on the floor at y = 0."""
    if clip.loops:
        repetitions = int(np.ceil(MOTION_FRAMES / (clip.times_s[-1] * MOTION_FPS)))
        clip = _repeat(clip, repetitions)
    clip = _resample(clip, MOTION_FPS)
    rotations = retarget(clip, rest, asset)
    hips_m = AXES.apply(clip.root_m - clip.root_m[0] * [1, 0, 1]) * (_leg_m(rest, asset) / LEG_M)
    posed = [pose_body(asset, rest, pose) for pose in rotations]
    root_m = hips_m - np.array([body.joints_m[HUMAN.joint_index("pelvis")] for body in posed])
    root_m[:, 1] -= min(body.vertices_m[:, 1].min() + y for body, y in zip(posed, root_m[:, 1], strict=True))
    return Motion(rotations, root_m.astype(np.float32), MOTION_FPS)


def _leg_m(rest: RestBody, asset: BodyAsset) -> float:
    hip, knee, ankle = (rest.bone_heads_m[asset.bone(bone)] for bone in ("thigh_l", "calf_l", "foot_l"))
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))


def _repeat(clip: SourceClip, repetitions: int) -> SourceClip:
    """Join repetitions: each starts at the place and with the heading where the one before it ends."""
    period = clip.times_s[-1]
    turn_rad = _heading_rad(clip.rotations["root"][-1]) - _heading_rad(clip.rotations["root"][0])
    keep = len(clip.times_s) - 1
    times, roots, turns = [], [], []
    turn, place_m = Rotation.identity(), clip.root_m[0] * [1, 0, 1]
    for index in range(repetitions):
        times.append(clip.times_s[:keep] + index * period)
        travelled_m = turn.apply(clip.root_m - clip.root_m[0] * [1, 0, 1]) + place_m
        roots.append(travelled_m[:keep])
        turns.append(turn * clip.rotations["root"][:keep])
        turn, place_m = Rotation.from_rotvec([0, turn_rad, 0]) * turn, travelled_m[keep] * [1, 0, 1]
    rotations = {name: Rotation.concatenate([r[:keep]] * repetitions) for name, r in clip.rotations.items()}
    rotations["root"] = Rotation.concatenate(turns)
    return SourceClip(np.concatenate(times), np.concatenate(roots), rotations, loops=False)


def _heading_rad(root: Rotation) -> float:
    _, y, _, w = root.as_quat()
    return 2 * np.arctan2(y, w)


def _resample(clip: SourceClip, fps: float) -> SourceClip:
    times_s = np.arange(int(clip.times_s[-1] * fps + 1e-6) + 1) / fps
    root_m = np.stack([np.interp(times_s, clip.times_s, axis) for axis in clip.root_m.T], axis=1)
    within = np.minimum(times_s, clip.times_s[-1])
    rotations = {name: Slerp(clip.times_s, rotation)(within) for name, rotation in clip.rotations.items()}
    return SourceClip(times_s, root_m, rotations, clip.loops)


def main(arguments: list[str] | None = None) -> None:
    """Build both files from the command line."""
    parser = argparse.ArgumentParser(description="Build the embedded poses from DeepMimic's clips (MIT).")
    parser.add_argument("wheel", type=Path, help="a wheel pybullet-3.2.7-*.whl, from PyPI")
    parser.add_argument("--out", type=Path, default=DATA_DIR, help="folder to write to (default: %(default)s)")
    options = parser.parse_args(arguments)
    clips = read_source_clips(options.wheel)
    asset = load_body_asset()
    rest = rest_body(asset, np.zeros(len(asset.components_m)))
    bank = build_bank(clips, rest, asset)
    write_pose_bank(bank, options.out / POSE_BANK_FILE.name)
    write_motions(
        {name: build_motion(clips[name], rest, asset) for name in MOTION_NAMES}, options.out / MOTIONS_FILE.name
    )
    print(f"{options.out}: {len(bank.rotations)} distinct poses of {sum(len(c.times_s) for c in clips.values())}")


if __name__ == "__main__":
    main()
