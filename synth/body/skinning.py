"""Pose a rest body: the skin and the joints inside it, from bone rotations.

Twenty bones are posed. Fingers and toes move rigidly with their hand or foot, and their weights are added to its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from posepipe.body import HUMAN
from posepipe.compilation import njit
from synth.body.body_asset import BodyAsset
from synth.body.body_mesh import RestBody

_SIDED = ("clavicle", "upperarm", "lowerarm", "hand"), ("thigh", "calf", "foot")
POSED_BONES = (
    *("pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head"),
    *(f"{bone}_{side}" for limb in _SIDED for side in "lr" for bone in limb),
)
"""The bones of every pose, in the order of its rotations; a parent is always before its children."""

SKULL_CENTRE = 0.4  #: share of the distance from the base of the skull (head of the head bone) to the crown (its tail)

JOINT_PLACES: dict[str, tuple[str, str, str, float]] = {
    "head": ("head", "head", "head tail", SKULL_CENTRE),
    "neck": ("neck_01", "neck_01", "neck_01", 0),
    "torso": ("spine_02", "spine_02", "spine_02", 0),
    "pelvis": ("pelvis", "thigh_l", "thigh_r", 0.5),
} | {
    f"{side}_{joint}": (f"{bone}_{side[0]}", f"{start}_{side[0]}", f"{end}_{side[0]}", share)
    for side in ("left", "right")
    for joint, (bone, start, end, share) in {
        "shoulder": ("upperarm", "upperarm", "upperarm", 0),
        "elbow": ("lowerarm", "lowerarm", "lowerarm", 0),
        "wrist": ("hand", "hand", "hand", 0),
        "hand": ("hand", "hand", "middle_01", 0.5),  # centre of the palm: halfway from wrist to knuckle
        "hip": ("thigh", "thigh", "thigh", 0),
        "knee": ("calf", "calf", "calf", 0),
        "ankle": ("foot", "foot", "foot", 0),
        "foot": ("foot", "ball", "ball", 0),
    }.items()
}
"""Joint -> the posed bone that it moves with, the two bone ends that it lies between at rest, and the share between."""

TURNED_BY = {joint: bone for joint, (bone, *_) in JOINT_PLACES.items()} | {"neck": "head", "torso": "spine_03"}
"""Joint -> the posed bone whose rotation is its orientation: that of the segment of a fitted body that starts there."""


@dataclass(frozen=True, eq=False)
class PosedBody:
    """One person in a pose, in body axes; the head of the pelvis bone stays where it was at rest."""

    vertices_m: np.ndarray  #: float32 (V, 3)
    joints_m: np.ndarray  #: float32 (J, 3), in the order of the body's joints
    rotations_xyzw: np.ndarray  #: float64 (J, 4), unit quaternions from the rest pose, of the segment that starts there
    rest_joints_m: np.ndarray  #: float32 (J, 3), of this person in the rest pose


@dataclass(frozen=True, eq=False)
class _Rig:
    """The asset's skeleton and weights, reduced to the posed bones."""

    bones: np.ndarray  #: (20,), rows of the posed bones in the asset
    parents: np.ndarray  #: (20,), posed parents, -1 = none
    weight_bones: np.ndarray  #: int32 (V, 4), posed bones
    weights: np.ndarray  #: float32 (V, 4), heaviest first; zeros at the end
    joint_bones: np.ndarray  #: (20,), posed bone that each joint moves with
    turning_bones: np.ndarray  #: (20,), posed bone whose rotation is each joint's orientation
    joint_ends: np.ndarray  #: (20, 2), rows in bone heads followed by bone tails; the joint lies between them
    joint_shares: np.ndarray  #: (20,), how far along


@lru_cache(maxsize=4)
def _rig(asset: BodyAsset) -> _Rig:
    bones = np.array([asset.bone(name) for name in POSED_BONES])
    moved_by = np.zeros(len(asset.bone_names), np.int64)  # bones without a posed ancestor move with the pelvis
    for bone, parent in enumerate(asset.bone_parents):
        name = asset.bone_names[bone]
        moved_by[bone] = POSED_BONES.index(name) if name in POSED_BONES else moved_by[max(parent, 0)]
    parents = [moved_by[asset.bone_parents[bone]] if i > 0 else -1 for i, bone in enumerate(bones)]
    totals = np.zeros((asset.n_vertices, len(bones)))
    np.add.at(totals, (np.arange(asset.n_vertices)[:, None], moved_by[asset.weight_bones]), asset.weights)
    strongest = np.argsort(-totals, axis=1, kind="stable")[:, : asset.weights.shape[1]]
    weights = np.take_along_axis(totals, strongest, axis=1)
    places = [JOINT_PLACES[joint] for joint in HUMAN.joints]
    return _Rig(
        bones=bones,
        parents=np.array(parents),
        weight_bones=strongest.astype(np.int32),
        weights=weights.astype(np.float32),
        joint_bones=np.array([POSED_BONES.index(bone) for bone, *_ in places]),
        turning_bones=np.array([POSED_BONES.index(TURNED_BY[joint]) for joint in HUMAN.joints]),
        joint_ends=np.array([[_bone_end(asset, a), _bone_end(asset, b)] for _, a, b, _ in places]),
        joint_shares=np.array([float(share) for *_, share in places]),
    )


def posed_weights(asset: BodyAsset) -> tuple[np.ndarray, np.ndarray]:
    """Return the posed bones that move each vertex, int32 (V, 4), and their weights, float32 (V, 4), heaviest first."""
    rig = _rig(asset)
    return rig.weight_bones, rig.weights


def _bone_end(asset: BodyAsset, name: str) -> int:
    """Row of a bone's head, or of its tail for "... tail", among all heads followed by all tails."""
    is_tail = name.endswith(" tail")
    return asset.bone(name.removesuffix(" tail")) + is_tail * len(asset.bone_names)


@njit(cache=True)
def _skin(vertices_m, weight_bones, weights, transforms, out):
    """Fill ``out`` with each vertex moved by the weighted sum of its bones' transforms.

    Parameters
    ----------
    vertices_m : float32 (V, 3), metres
    weight_bones : int32 (V, 4)
    weights : float32 (V, 4), heaviest first; the first 0 ends a row
    transforms : float32 (B, 12), a rotation's three rows, each followed by its translation, metres
    out : float32 (V, 3), metres, written in place

    References
    ----------
    Linear blend skinning, Magnenat-Thalmann et al. 1988. Naive twin: tests/reference/synth/body/skinning.py
    """
    for v in range(vertices_m.shape[0]):
        x, y, z = vertices_m[v, 0], vertices_m[v, 1], vertices_m[v, 2]
        moved_x = moved_y = moved_z = np.float32(0)
        for k in range(weights.shape[1]):
            w = weights[v, k]
            if w == 0:  # most vertices depend on one or two bones
                break
            m = transforms[weight_bones[v, k]]
            moved_x += w * (m[0] * x + m[1] * y + m[2] * z + m[3])
            moved_y += w * (m[4] * x + m[5] * y + m[6] * z + m[7])
            moved_z += w * (m[8] * x + m[9] * y + m[10] * z + m[11])
        out[v, 0] = moved_x
        out[v, 1] = moved_y
        out[v, 2] = moved_z


def pose_body(asset: BodyAsset, rest: RestBody, rotations: np.ndarray) -> PosedBody:
    """Pose a rest body.

    Parameters
    ----------
    asset : BodyAsset
    rest : RestBody
        Made from the same asset.
    rotations : float (20, 4)
        Quaternions xyzw in the order of POSED_BONES. Each is the bone's *global* rotation from the rest pose, in body
        axes. Lengths may differ slightly from 1, because poses are stored as float16.

    Raises
    ------
    ValueError
        When ``rotations`` has another shape, or holds a quaternion that is zero or not finite.
    """
    rig, transforms = _move_bones(asset, rest, rotations)
    vertices_m = np.empty_like(rest.vertices_m)
    _skin(rest.vertices_m, rig.weight_bones, rig.weights, transforms.reshape(-1, 12).astype(np.float32), vertices_m)
    rotations = np.asarray(rotations, float)[rig.turning_bones]
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    at_rest = np.tile(np.eye(3, 4), (len(POSED_BONES), 1, 1))
    return PosedBody(vertices_m, _joints(rig, rest, transforms), rotations, _joints(rig, rest, at_rest))


def pose_joints(asset: BodyAsset, rest: RestBody, rotations: np.ndarray) -> np.ndarray:
    """Return the joints of `pose_body` without its skin, which is slower: float32 (20, 3)."""
    rig, transforms = _move_bones(asset, rest, rotations)
    return _joints(rig, rest, transforms)


def _move_bones(asset: BodyAsset, rest: RestBody, rotations: np.ndarray) -> tuple[_Rig, np.ndarray]:
    """The rig, and each posed bone's transform: float64 (20, 3, 4), metres."""
    rotations = np.asarray(rotations, np.float64)
    if rotations.shape != (len(POSED_BONES), 4):
        raise ValueError(f"rotations: wanted shape {(len(POSED_BONES), 4)} (x, y, z, w), got {rotations.shape}")
    rig = _rig(asset)
    transforms = np.empty((len(POSED_BONES), 3, 4))
    if not _bone_transforms(rotations, rig.parents, rig.bones, rest.bone_heads_m, transforms):
        raise ValueError("rotations: wanted unit quaternions, got one of length below 0.5 or not finite")
    return rig, transforms


def _joints(rig: _Rig, rest: RestBody, transforms: np.ndarray) -> np.ndarray:
    joints_m = np.empty((len(rig.joint_bones), 3), np.float32)
    ends_m = rest.bone_heads_m, rest.bone_tails_m
    _move_joints(transforms, *ends_m, rig.joint_bones, rig.joint_ends, rig.joint_shares, joints_m)
    return joints_m


@njit(cache=True)
def _bone_transforms(rotations, parents, bones, heads_m, transforms):
    """Fill in the transform of each bone: its rotation, and the translation that keeps its head on its parent.

    A kernel, because NumPy is slow for twenty bones.

    Parameters
    ----------
    rotations : float64 (B, 4), quaternions xyzw, global
    parents : int64 (B,), -1 = none; a parent is before its children
    bones : int64 (B,), rows of ``heads_m``
    heads_m : float32 (N, 3), at rest
    transforms : float64 (B, 3, 4), a rotation and a translation, metres, written in place

    Returns
    -------
    bool, whether all are rotations: False for a quaternion that is not finite, or shorter than 0.5
    """
    for bone in range(rotations.shape[0]):
        x, y, z, w = rotations[bone]
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if not 0.5 < length < math.inf:
            return False
        x, y, z, w = x / length, y / length, z / length, w / length
        turn, head_m, parent = transforms[bone], heads_m[bones[bone]], parents[bone]
        turn[0, 0], turn[0, 1], turn[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
        turn[1, 0], turn[1, 1], turn[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
        turn[2, 0], turn[2, 1], turn[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)
        for i in range(3):
            posed = np.float64(head_m[i]) if parent < 0 else transforms[parent, i, 3]
            for j in range(3):
                if parent >= 0:
                    posed += transforms[parent, i, j] * head_m[j]
                posed -= turn[i, j] * head_m[j]
            turn[i, 3] = posed
    return True


@njit(cache=True)
def _move_joints(transforms, heads_m, tails_m, joint_bones, joint_ends, joint_shares, out):
    """Fill ``out``, float32 (J, 3), metres, with joints: each lies between two bone ends and moves with a bone.

    Parameters
    ----------
    transforms : float64 (B, 3, 4), of `_bone_transforms`
    heads_m, tails_m : float32 (N, 3), at rest
    joint_bones, joint_ends, joint_shares : of `_Rig`

    References
    ----------
    Naive twin: tests/reference/synth/body/skinning.py
    """
    count = heads_m.shape[0]
    at_rest_m = np.empty(3)
    for joint in range(out.shape[0]):
        first, second = joint_ends[joint]
        for j in range(3):
            first_m = heads_m[first, j] if first < count else tails_m[first - count, j]
            second_m = heads_m[second, j] if second < count else tails_m[second - count, j]
            at_rest_m[j] = first_m + joint_shares[joint] * (second_m - first_m)
        move = transforms[joint_bones[joint]]
        for i in range(3):
            moved_m = move[i, 3]
            for j in range(3):
                moved_m += move[i, j] * at_rest_m[j]
            out[joint, i] = moved_m


def rotation_matrices(quaternions: np.ndarray) -> np.ndarray:
    """Return unit quaternions xyzw, float (..., 4), as matrices (..., 3, 3) that rotate column vectors."""
    x, y, z, w = np.moveaxis(quaternions, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
