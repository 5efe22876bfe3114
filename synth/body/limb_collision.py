"""Test whether limbs pass through the body, with capsules between joints: fast enough for every drawn pose.

Capsules are thinner than limbs, because limbs may touch, and because poses of slim people are used for stout people
as well. Only bones that cross each other, or the core of the trunk, count as intersecting.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.body import HUMAN
from posepipe.compilation import njit

RADII_M = {
    "trunk": 0.09,
    "head": 0.08,
    "upper_arm": 0.03,
    "forearm": 0.025,
    "hand": 0.02,
    "thigh": 0.05,
    "calf": 0.035,
    "foot": 0.025,
}
"""Capsule radii of a person whose legs measure LEG_M from hip to ankle; they scale with the legs."""
LEG_M = 0.80

_CAPSULES: dict[str, tuple[str, str]] = {
    "trunk lower": ("pelvis", "torso"),
    "trunk upper": ("torso", "neck"),
    "head": ("head", "head"),
} | {
    f"{limb} {side}": (f"{side}_{start}", f"{side}_{end}")
    for side in ("left", "right")
    for limb, (start, end) in {
        "upper_arm": ("shoulder", "elbow"),
        "forearm": ("elbow", "wrist"),
        "hand": ("wrist", "hand"),
        "thigh": ("hip", "knee"),
        "calf": ("knee", "ankle"),
        "foot": ("ankle", "foot"),
    }.items()
}
_CORE = ("trunk", "head")
_COLLIDERS: dict[str, tuple[str, ...]] = {
    "upper_arm": ("head", "thigh", "calf", "foot"),  # not the trunk, where it starts
    "forearm": (*_CORE, "thigh", "calf", "foot"),
    "hand": (*_CORE, "thigh", "calf", "foot"),
    "calf": _CORE,
    "foot": _CORE,
}
"""What a limb must not intersect, on either side."""
_ACROSS = (("upper_arm", "forearm", "hand"), ("thigh", "calf", "foot"))
"""Groups whose left members must not intersect the right ones; neighbours at a knee or elbow are not tested."""


def _pairs() -> np.ndarray:
    """Every two capsules that must stay apart: int64 (P, 2)."""
    kinds = [name.split()[0] for name in _CAPSULES]
    sides = [name.split()[-1] for name in _CAPSULES]
    pairs = set()
    for i, kind in enumerate(kinds):
        for j, other in enumerate(kinds):
            across = any(kind in group and other in group for group in _ACROSS) and sides[i] < sides[j]
            if across or other in _COLLIDERS.get(kind, ()):
                pairs.add((i, j))
    return np.array(sorted(pairs))


_ENDS = np.array([[HUMAN.joint_index(joint) for joint in ends] for ends in _CAPSULES.values()])
_RADII = np.array([RADII_M[name.split()[0]] for name in _CAPSULES])
_PAIRS = _pairs()
_LEGS = np.array([[HUMAN.joint_index(f"{side}_{j}") for j in ("hip", "knee", "ankle")] for side in ("left", "right")])


@njit(cache=True)
def _distance2(points_m, a, b, c, d):
    """Squared distance of the segments a-b and c-d, rows of ``points_m``: float64 (J, 3), metres.

    References
    ----------
    Ericson, Real-Time Collision Detection, 2005, section 5.1.9.
    Naive twin: tests/reference/synth/body/limb_collision.py
    """
    uu = vv = uv = ur = vr = 0.0
    for k in range(3):
        u, v, r = points_m[b, k] - points_m[a, k], points_m[d, k] - points_m[c, k], points_m[a, k] - points_m[c, k]
        uu += u * u
        vv += v * v
        uv += u * v
        ur += u * r
        vr += v * r
    slant = uu * vv - uv * uv
    s = min(max((uv * vr - vv * ur) / slant, 0.0), 1.0) if slant > 1e-12 else 0.0  # parallel: any s is right
    t = (uv * s + vr) / vv if vv > 1e-12 else 0.0
    if t < 0 or t > 1:
        t = min(max(t, 0.0), 1.0)
        s = (uv * t - ur) / uu if uu > 1e-12 else 0.0
    elif vv <= 1e-12:  # c-d is a point
        s = -ur / uu if uu > 1e-12 else 0.0
    s = min(max(s, 0.0), 1.0)
    distance2 = 0.0
    for k in range(3):
        near = points_m[a, k] + s * (points_m[b, k] - points_m[a, k])
        other = points_m[c, k] + t * (points_m[d, k] - points_m[c, k])
        distance2 += (near - other) ** 2
    return distance2


@njit(cache=True, inline="always")
def _length(points_m, a, b):
    return math.sqrt(
        (points_m[b, 0] - points_m[a, 0]) ** 2
        + (points_m[b, 1] - points_m[a, 1]) ** 2
        + (points_m[b, 2] - points_m[a, 2]) ** 2
    )


@njit(cache=True)
def _intersecting(joints_m, legs, ends, radii, pairs, out):
    """Fill ``out`` with whether any pair of capsules overlaps.

    Parameters
    ----------
    joints_m : float64 (N, J, 3), metres
    legs : int64 (2, 3), the joints of both legs from the hip down: radii scale with their mean length
    ends : int64 (C, 2), joints between which a capsule lies; twice the same = a sphere
    radii : float64 (C,), metres, of a person whose legs measure LEG_M
    pairs : int64 (P, 2), capsules
    out : bool (N,), written in place

    References
    ----------
    Naive twin: tests/reference/synth/body/limb_collision.py
    """
    for n in range(joints_m.shape[0]):
        leg_m = 0.0
        for side in range(len(legs)):
            hip, knee, ankle = legs[side]
            leg_m += (_length(joints_m[n], hip, knee) + _length(joints_m[n], knee, ankle)) / len(legs)
        out[n] = False
        for p in range(pairs.shape[0]):
            i, j = pairs[p]
            reach = (radii[i] + radii[j]) * leg_m / LEG_M
            if _distance2(joints_m[n], ends[i, 0], ends[i, 1], ends[j, 0], ends[j, 1]) < reach * reach:
                out[n] = True
                break


def limbs_intersect(joints_m: np.ndarray) -> np.ndarray | bool:
    """Test whether limbs pass through the body or through each other.

    Parameters
    ----------
    joints_m : float (20, 3) or (N, 20, 3), metres
        Joints in the order of `posepipe.body.HUMAN`, any axes.

    Returns
    -------
    bool, or bool (N,) for N poses

    Raises
    ------
    ValueError
        For another shape.
    """
    joints_m = np.asarray(joints_m, np.float64)
    if joints_m.ndim not in (2, 3) or joints_m.shape[-2:] != (len(HUMAN.joints), 3):
        raise ValueError(f"joints_m: wanted shape (N, {len(HUMAN.joints)}, 3), got {joints_m.shape}")
    poses_m = np.ascontiguousarray(joints_m.reshape(-1, *joints_m.shape[-2:]))
    out = np.empty(len(poses_m), np.bool_)
    _intersecting(poses_m, _LEGS, _ENDS, _RADII, _PAIRS, out)
    return out if joints_m.ndim == 3 else bool(out[0])
