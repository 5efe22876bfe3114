"""Vary captured poses: choose distant ones, mirror, recombine, jitter, interpolate.

Poses are global bone rotations (..., 20, 4), quaternions xyzw, in the order of `synth.body.skinning.POSED_BONES`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.compilation import njit
from synth.body.skinning import POSED_BONES
from synth.geometry.quaternions import inverse, multiply

_PARENT_NAMES = {
    **dict(zip(POSED_BONES[1:6], POSED_BONES[0:5], strict=True)),
    **{
        f"{bone}_{side}": parent if parent in ("spine_03", "pelvis") else f"{parent}_{side}"
        for side in "lr"
        for bone, parent in {
            "clavicle": "spine_03",
            "upperarm": "clavicle",
            "lowerarm": "upperarm",
            "hand": "lowerarm",
            "thigh": "pelvis",
            "calf": "thigh",
            "foot": "calf",
        }.items()
    },
}
_PARENTS = np.array([POSED_BONES.index(_PARENT_NAMES[b]) if b in _PARENT_NAMES else -1 for b in POSED_BONES])
_CHEST = POSED_BONES.index("spine_03")
_ARMS = np.array([i for i, b in enumerate(POSED_BONES) if b.startswith(("clavicle", "upperarm", "lowerarm", "hand"))])

JITTER_BOUND = 2.5  #: in standard deviations; longer rotations are limited to it
_TRUNK_JITTER = 0.5
"""Share of the noise for spine, neck and collar bones: their rotations add up along the chain."""
_JITTER_SHARES = np.array(
    [_TRUNK_JITTER if b.startswith(("spine", "neck", "head", "clavicle")) else 1.0 for b in POSED_BONES]
)


def mirror_poses(rotations: np.ndarray, bones: tuple[str, ...]) -> np.ndarray:
    """Mirror poses in the sagittal plane: x -> -x, left bones <-> right bones.

    Parameters
    ----------
    rotations : float (..., B, 4)
    bones : tuple of str
        Names of the B bones; sides end in _l and _r.
    """
    other_side = {"_l": "_r", "_r": "_l"}
    images = [bone[:-2] + other_side[bone[-2:]] if bone[-2:] in other_side else bone for bone in bones]
    return rotations[..., [bones.index(image) for image in images], :] * np.array([1, -1, -1, 1], rotations.dtype)


@njit(cache=True)
def _furthest_points(points_m, first, min_separation_m, order):
    """Fill ``order`` with indices, each the furthest from all before it; return how many were found.

    Parameters
    ----------
    points_m : float32 (N, J, 3), metres; the distance of two poses is the largest over J
    first : int, the index to begin with
    min_separation_m : float, metres; stops before a point nearer than this to a chosen one
    order : int64 (count,), written in place; ties go to the lower index

    References
    ----------
    Gonzalez, Theor. Comput. Sci. 38, 1985. Naive twin: tests/reference/synth/motion/pose_variation.py
    """
    nearest2 = np.full(points_m.shape[0], np.inf)
    chosen = first
    for found in range(order.shape[0]):
        order[found] = chosen
        furthest = 0
        for n in range(points_m.shape[0]):
            distance2 = 0.0
            for j in range(points_m.shape[1]):
                dx = np.float64(points_m[n, j, 0]) - points_m[chosen, j, 0]
                dy = np.float64(points_m[n, j, 1]) - points_m[chosen, j, 1]
                dz = np.float64(points_m[n, j, 2]) - points_m[chosen, j, 2]
                distance2 = max(distance2, dx * dx + dy * dy + dz * dz)
                if distance2 >= nearest2[n]:  # it can only grow, and an earlier point is nearer
                    break
            nearest2[n] = min(nearest2[n], distance2)
            if nearest2[n] > nearest2[furthest]:
                furthest = n
        if nearest2[furthest] == 0 or nearest2[furthest] < min_separation_m * min_separation_m:
            return found + 1
        chosen = furthest
    return order.shape[0]


def furthest_points(points_m: np.ndarray, count: int, min_separation_m: float, seed: int) -> np.ndarray:
    """Choose varied poses, greedily: each is the furthest from all chosen before it.

    Parameters
    ----------
    points_m : float (N, J, 3), metres
        Joints of N poses. The distance of two poses is that of their furthest joint.
    count : int
        Maximum number of poses.
    min_separation_m : float, metres
        Minimum distance of chosen poses; equal poses are never chosen twice.
    seed : int
        Decides which pose is the first.

    Returns
    -------
    int64 (M,)
        M <= count row numbers in furthest-point order.

    Raises
    ------
    ValueError
        For another shape, or points that are not finite.
    """
    points_m = np.ascontiguousarray(points_m, np.float32)
    if points_m.ndim != 3 or points_m.shape[2] != 3 or not np.isfinite(points_m).all():
        raise ValueError(f"points_m: wanted finite points (N, J, 3), got shape {points_m.shape}")
    if count < 1 or len(points_m) == 0:
        return np.empty(0, np.int64)
    first = int(np.random.default_rng(seed).integers(len(points_m)))
    order = np.empty(min(count, len(points_m)), np.int64)
    return order[: _furthest_points(points_m, first, float(min_separation_m), order)]


def recombine(rotations: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give each pose the arms of another pose, with the same rotations relative to the chest.

    Parameters
    ----------
    rotations : float (N, 20, 4)
        At least two poses.
    rng : numpy.random.Generator
        Draws the permutation; no pose keeps its own arms.

    Returns
    -------
    float32 (N, 20, 4)

    Raises
    ------
    ValueError
        For fewer than two poses.
    """
    if rotations.ndim != 3 or len(rotations) < 2:
        raise ValueError(f"rotations: wanted two poses or more (N, 20, 4), got shape {rotations.shape}")
    givers = np.empty(len(rotations), np.int64)
    circle = rng.permutation(len(rotations))
    givers[circle] = np.roll(circle, 1)
    out = rotations.astype(np.float32)
    chest, other_chest = rotations[:, [_CHEST]], rotations[givers][:, [_CHEST]]
    held = multiply(inverse(other_chest), rotations[givers][:, _ARMS])
    out[:, _ARMS] = multiply(chest, held)
    return out


def without_heading(rotations: np.ndarray) -> np.ndarray:
    """Remove the twist of the pelvis about the vertical axis: float32 (N, 20, 4).

    The twist, unlike the direction of the belly, is stable for people who lie on their backs.
    """
    twist = rotations[:, 0] * np.array([0, 1, 0, 1])
    twist[np.linalg.norm(twist, axis=1) < 1e-6] = (0, 0, 0, 1)  # upside down: the heading is undefined
    back = Rotation.from_quat(np.repeat(twist, rotations.shape[1], axis=0)).inv()
    turned = back * Rotation.from_quat(rotations.reshape(-1, 4))
    return turned.as_quat().reshape(rotations.shape).astype(np.float32)


def jitter(rotations: np.ndarray, rng: np.random.Generator, sigma_rad: float) -> np.ndarray:
    """Add rotation noise to every joint; the bones below it follow.

    Parameters
    ----------
    rotations : float (20, 4) or (..., 20, 4)
    rng : numpy.random.Generator
    sigma_rad : float, radians
        Standard deviation about each axis; half of it along the trunk. Limited by JITTER_BOUND.

    Returns
    -------
    float32
        Of the shape of ``rotations``.
    """
    turns = rng.normal(0, 1, (*rotations.shape[:-1], 3))
    length = np.linalg.norm(turns, axis=-1, keepdims=True)
    turns *= np.minimum(1, JITTER_BOUND / np.maximum(length, 1e-9)) * (sigma_rad * _JITTER_SHARES[:, None])
    flat = rotations.reshape(-1, len(POSED_BONES), 4).astype(np.float64)
    out = np.empty_like(flat)
    _turn_bones(flat, _PARENTS, turns.reshape(-1, len(POSED_BONES), 3), out)
    return out.reshape(rotations.shape).astype(np.float32)


def pose_between(first: np.ndarray, second: np.ndarray, share: float) -> np.ndarray:
    """Interpolate between two poses.

    Every bone rotates along an arc (Shoemake 1985). Of the two possible arcs the one is used on which the rotation
    relative to its parent is the shorter. The shorter arc of each bone by itself would bend knees backwards where
    thigh and calf take opposite ways.

    Parameters
    ----------
    first, second : float (20, 4)
    share : float
        0 = the first pose, 1 = the second.

    Returns
    -------
    float32 (20, 4)
    """
    out = np.empty((len(POSED_BONES), 4))
    _pose_between(first.astype(np.float64), second.astype(np.float64), _PARENTS, float(share), out)
    return out.astype(np.float32)


@njit(cache=True)
def _pose_between(first, second, parents, share, out):
    """Fill ``out`` with the interpolated pose, see `pose_between`.

    Parameters
    ----------
    first, second, out : float64 (B, 4), quaternions xyzw, global; the signs of ``second`` are changed
    parents : int64 (B,), -1 = none; a parent is before its children

    References
    ----------
    Naive twin: tests/reference/synth/motion/pose_variation.py
    """
    for bone in range(first.shape[0]):
        before, after, parent = _tuple(first[bone]), _tuple(second[bone]), parents[bone]
        if parent >= 0:  # relative to the parent, whose arc is chosen already
            before = _product(_undone(first[parent]), before)
            after = _product(_undone(second[parent]), after)
        if _dot(before, after) < 0:
            second[bone] *= -1
        cosine = min(max(_dot(first[bone], second[bone]), -1.0), 1.0)
        sine = math.sqrt(1 - cosine * cosine)
        if sine > 1e-4:
            angle = math.acos(cosine)
            out[bone] = (math.sin((1 - share) * angle) * first[bone] + math.sin(share * angle) * second[bone]) / sine
        else:  # nearly the same rotation: linear, along the shorter of the two ways
            out[bone] = (1 - share) * first[bone] + (share if cosine > 0 else -share) * second[bone]
        out[bone] /= math.sqrt(_dot(out[bone], out[bone]))


@njit(cache=True, inline="always")
def _tuple(quaternion):
    return quaternion[0], quaternion[1], quaternion[2], quaternion[3]


@njit(cache=True, inline="always")
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@njit(cache=True, inline="always")
def _undone(quaternion):
    return -quaternion[0], -quaternion[1], -quaternion[2], quaternion[3]


@njit(cache=True, inline="always")
def _product(a, b):
    """Rotation b, then a, of tuples xyzw."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@njit(cache=True)
def _turn_bones(rotations, parents, turns, out):
    """Fill ``out`` with poses in which every bone is rotated in its own axes; the bones below it follow.

    A kernel, because NumPy is slow for twenty bones.

    Parameters
    ----------
    rotations, out : float64 (N, B, 4), quaternions xyzw, global
    parents : int64 (B,), -1 = none; a parent is before its children
    turns : float64 (N, B, 3), rotation vectors, radians

    References
    ----------
    Naive twin: tests/reference/synth/motion/pose_variation.py
    """
    for n in range(rotations.shape[0]):
        for bone in range(rotations.shape[1]):
            x, y, z = turns[n, bone]
            half = math.sqrt(x * x + y * y + z * z) / 2
            share = math.sin(half) / (2 * half) if half > 0 else 0.5
            turned = _product(_tuple(rotations[n, bone]), (x * share, y * share, z * share, math.cos(half)))
            if parents[bone] >= 0:
                local = _product(_undone(rotations[n, parents[bone]]), turned)
                turned = _product(_tuple(out[n, parents[bone]]), local)
            for k in range(4):
                out[n, bone, k] = turned[k]
