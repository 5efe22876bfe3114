"""Build the body model (`posepipe.body_model`) from the body file and the pose bank, or from a creature.

``python -m synth.tools.build_body_model`` writes the model of people that comes with the project. Bones, girths and
their variation come from people of the body file with limbs of measured lengths, joint limits from the poses for
training. ``--creature FILE.toml`` takes the capsules, sizes and joint limits of a creature instead.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN, mirror_name
from posepipe.body_model.body_model import HUMAN_FILE, BodyModel, write_body_model
from posepipe.errors import PosepipeError
from synth.body.body_asset import BodyAsset, load_body_asset
from synth.body.body_mesh import RestBody, paint_parts, rest_body
from synth.body.creatures import read_creature
from synth.body.limb_lengths import LimbScales, scale_limbs
from synth.body.skinning import JOINT_PLACES, POSED_BONES
from synth.motion.poses.clips import PoseBank, embedded_pose_bank
from synth.motion.poses.pose_variation import mirror_poses
from synth.recipe import MEASURED_PROPORTIONS
from synth.tools.body_capsules import CAPSULES, CapsuleFit, capsule_distances
from synth.tools.creature_body_model import creature_body_model

N_COEFFICIENTS = 6
N_PEOPLE = 120
"""People whose capsules are fitted: enough for six principal components."""
LIMIT_PERCENTILES = (0.3, 99.7)
MIN_SIGMA_RAD = 0.03
"""Lower bound of the standard deviation of turns, for axes about which no pose turns."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A rigid segment of people: the bone whose rotation it has, and the bone end or joint where it starts."""

    bone: str
    parent: str | None
    start: str  #: joint of HUMAN, or head of a bone


def _sided(rows: dict[str, Segment]) -> dict[str, Segment]:
    """Rows of the left side followed by those of the right."""
    right = {
        mirror_name(name): Segment(
            each.bone.removesuffix("_l") + "_r", mirror_name(each.parent or ""), _mirror_start(each.start)
        )
        for name, each in rows.items()
    }
    return rows | right


def _mirror_start(start: str) -> str:
    return start.removesuffix("_l") + "_r" if start.endswith("_l") else mirror_name(start)


SEGMENTS = {
    "pelvis": Segment("pelvis", None, "pelvis"),
    "trunk": Segment("spine_03", "pelvis", "torso"),
    "head": Segment("head", "trunk", "neck"),
} | _sided(
    {
        "left_clavicle": Segment("clavicle_l", "trunk", "clavicle_l"),
        "left_upper_arm": Segment("upperarm_l", "left_clavicle", "left_shoulder"),
        "left_forearm": Segment("lowerarm_l", "left_upper_arm", "left_elbow"),
        "left_hand": Segment("hand_l", "left_forearm", "left_wrist"),
        "left_thigh": Segment("thigh_l", "pelvis", "left_hip"),
        "left_shank": Segment("calf_l", "left_thigh", "left_knee"),
        "left_foot": Segment("foot_l", "left_shank", "left_ankle"),
    }
)
JOINT_SEGMENTS = {
    "head": "head",
    "neck": "trunk",
    "torso": "pelvis",
    "pelvis": "pelvis",
    "left_shoulder": "left_clavicle",
    "left_elbow": "left_upper_arm",
    "left_wrist": "left_forearm",
    "left_hand": "left_hand",
    "left_hip": "pelvis",
    "left_knee": "left_thigh",
    "left_ankle": "left_shank",
    "left_foot": "left_foot",
}
"""Joint -> the segment that it moves with; those of the right are mirrored."""


CAPSULE_NAMES = (*CAPSULES, *(mirror_name(name) for name in CAPSULES if mirror_name(name) not in CAPSULES))


def fit_human(asset: BodyAsset, bank: PoseBank, people: int = N_PEOPLE) -> BodyModel:
    """Fit the body model of people to the first people of a body file, and to a pose bank."""
    fit = CapsuleFit(asset)
    mean = rest_body(asset, np.zeros(len(asset.components_m)))
    starts = fit.start(_rest_points(asset, mean))
    capsules = fit.fit(mean, starts)
    rows, limb_ranges, rng = [], astuple(MEASURED_PROPORTIONS), np.random.default_rng(0)
    for coefficients in asset.people[:people]:
        rest = scale_limbs(asset, rest_body(asset, coefficients), LimbScales.drawn(limb_ranges, rng))
        scale, points = rest.height_m / mean.height_m, _rest_points(asset, rest)
        begin = fit.start(points) + (capsules - starts) * scale
        begin[:, 6:] = capsules[:, 6:] * scale
        rows.append(_described(points, fit.fit(rest, begin)))
    origins_m, joints_m, ends_m, radii_m = _unpacked(_principal(np.array(rows)))
    names = list(SEGMENTS)
    return BodyModel(
        HUMAN.joints,
        HUMAN.parts,
        tuple(names),
        np.array([-1 if each.parent is None else names.index(each.parent) for each in SEGMENTS.values()]),
        origins_m,
        np.array([names.index(_joint_segment(joint)) for joint in HUMAN.joints]),
        joints_m,
        np.array([names.index(_capsule_segment(name)) for name in CAPSULE_NAMES]),
        ends_m,
        radii_m,
        _part_capsules(asset, mean, ends_m[0], radii_m[0]),
        *_turns(bank),
    )


def _joint_segment(joint: str) -> str:
    return JOINT_SEGMENTS.get(joint) or mirror_name(JOINT_SEGMENTS[mirror_name(joint)])


def _capsule_segment(name: str) -> str:
    return CAPSULES[name].segment if name in CAPSULES else mirror_name(CAPSULES[mirror_name(name)].segment)


def _rest_points(asset: BodyAsset, rest: RestBody) -> dict[str, np.ndarray]:
    """Joints of HUMAN, and ends of bones by name, of a person at rest."""
    ends = dict(zip(asset.bone_names, rest.bone_heads_m.astype(float), strict=True))
    ends |= {f"{name} tail": at for name, at in zip(asset.bone_names, rest.bone_tails_m.astype(float), strict=True)}
    return ends | {j: ends[a] + share * (ends[b] - ends[a]) for j, (_, a, b, share) in JOINT_PLACES.items()}


def _described(points_m: dict[str, np.ndarray], capsules: np.ndarray) -> np.ndarray:
    """Lengths and girths of one person, in one row; capsules of the left are mirrored to the right."""
    starts = {name: points_m[each.start] for name, each in SEGMENTS.items()}
    origins = [starts[n] - starts[n if each.parent is None else each.parent] for n, each in SEGMENTS.items()]
    joints = [points_m[joint] - starts[_joint_segment(joint)] for joint in HUMAN.joints]
    ends, radii, names = [], [], list(CAPSULES)
    for name in CAPSULE_NAMES:
        own = capsules[names.index(name if name in CAPSULES else mirror_name(name))]
        side = (1, 1, 1) if name in CAPSULES else (-1, 1, 1)
        ends.append(own[:6].reshape(2, 3) * side - starts[_capsule_segment(name)])
        radii.append(own[6:])
    return np.concatenate([np.ravel(each) for each in (origins, joints, ends, radii)])


def _unpacked(rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Origins, joints, ends and radii of rows of `_described`."""
    n, capsules = len(rows), len(CAPSULE_NAMES)
    counts = np.cumsum([3 * len(SEGMENTS), 3 * len(HUMAN.joints), 6 * capsules])
    origins, joints, ends, radii = np.split(rows, counts, axis=1)
    return origins.reshape(n, -1, 3), joints.reshape(n, -1, 3), ends.reshape(n, capsules, 2, 3), radii.reshape(n, -1, 2)


def _principal(people: np.ndarray) -> np.ndarray:
    """Mean, then components of unit variance, of the rows of people."""
    mean = people.mean(axis=0)
    _, sizes, directions = np.linalg.svd(people - mean, full_matrices=False)
    return np.vstack([mean, directions[:N_COEFFICIENTS] * (sizes[:N_COEFFICIENTS, None] / np.sqrt(len(people)))])


def _turns(bank: PoseBank) -> tuple[np.ndarray, ...]:
    """Mean, axes, deviations and limits of each segment's rotation vector from its parent.

    The axes are the principal ones of the poses and their mirror images, so that a hinge has one long axis.
    """
    poses = np.concatenate([bank.rotations, mirror_poses(bank.rotations, bank.bones)])
    rotations = {name: Rotation.from_quat(poses[:, POSED_BONES.index(each.bone)]) for name, each in SEGMENTS.items()}
    n = len(SEGMENTS)
    mean, axes = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1))
    sigma, low, high = np.full((n, 3), np.pi), np.full((n, 3), -2 * np.pi), np.full((n, 3), 2 * np.pi)
    for row, (name, each) in enumerate(SEGMENTS.items()):
        if each.parent is None:
            continue
        vectors = (rotations[each.parent].inv() * rotations[name]).as_rotvec()
        mean[row] = vectors.mean(axis=0)
        axes[row] = np.linalg.svd(vectors - mean[row], full_matrices=False)[2]
        along = (vectors - mean[row]) @ axes[row].T
        sigma[row] = along.std(axis=0) + MIN_SIGMA_RAD
        low[row], high[row] = np.percentile(along, LIMIT_PERCENTILES, axis=0)
    return mean, axes, sigma, low, high


def _part_capsules(asset: BodyAsset, rest: RestBody, ends_m: np.ndarray, radii_m: np.ndarray) -> np.ndarray:
    """Share of the skin of each part that is nearest to each capsule, over the largest share: float (1 + P, C)."""
    corners_m, points_m = rest.vertices_m[asset.triangles].astype(float), _rest_points(asset, rest)
    areas = np.linalg.norm(np.cross(corners_m[:, 1] - corners_m[:, 0], corners_m[:, 2] - corners_m[:, 0]), axis=1)
    at = np.array([points_m[SEGMENTS[_capsule_segment(name)].start] for name in CAPSULE_NAMES])
    nearest = capsule_distances(corners_m.mean(axis=1), ends_m + at[:, None], radii_m).argmin(axis=1)
    table = np.zeros((len(HUMAN.parts) + 1, len(ends_m)))
    np.add.at(table, (paint_parts(asset), nearest), areas)
    return table / table.max(axis=1, keepdims=True).clip(1e-12)


def main(arguments: list[str] | None = None) -> None:
    """Build a body model from the command line."""
    parser = argparse.ArgumentParser(description="Build the body model of people, or of a creature.")
    parser.add_argument("out", type=Path, nargs="?", default=HUMAN_FILE)
    parser.add_argument("--creature", type=Path, metavar="FILE.toml", help="description of a creature")
    args = parser.parse_args(arguments)
    try:
        if args.creature is None:
            model = fit_human(load_body_asset(), embedded_pose_bank().split("train"))
        else:
            model = creature_body_model(read_creature(args.creature))
        write_body_model(args.out, model)
    except (PosepipeError, ValueError) as error:
        sys.exit(f"synth.tools.build_body_model: error: {error}")
    print(f"{len(model.segment_names)} segments, {len(model.capsule_segments)} capsules -> {args.out}")


if __name__ == "__main__":
    main()
