"""Joint angles from joint positions, such as knee flexion, shoulder elevation and trunk lean.

Names and signs follow the International Society of Biomechanics where positions alone define the angle.
Rotation of a bone about its own axis (hip or shoulder rotation, pronation) cannot be measured from positions.
The trunk's axes come from the line from pelvis to neck and the line of the hips or shoulders. The standard uses
bony landmarks instead, but a depth camera does not see them. Definitions: docs/reference/results.md.

References
----------
Wu et al., ISB recommendation on definitions of joint coordinate system, part I: ankle, hip, and spine,
J. Biomech. 35, 2002; part II: shoulder, elbow, wrist and hand, J. Biomech. 38, 2005.
Grood and Suntay, A joint coordinate system for the clinical description of three-dimensional motions,
J. Biomech. Eng. 105, 1983.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from posepipe.camera import CAMERA_UP

MIN_ELEVATION_DEG = 10.0
"""Minimum angle between the upper arm and the trunk's axis. Below it the shoulder plane is noise."""

_TRUNK = ("pelvis", "neck")
_HIPS = ("left_hip", "right_hip")
_SHOULDERS = ("left_shoulder", "right_shoulder")


def joint_angles(
    positions_m: Mapping[str, np.ndarray | tuple[float, float, float]],
    up: np.ndarray | tuple[float, float, float] = CAMERA_UP,
) -> dict[str, np.ndarray]:
    """Compute every angle whose joints are given.

    Rotating, translating or scaling the positions and ``up`` together does not change the angles.

    Parameters
    ----------
    positions_m : joint name -> float (..., 3), in any right-handed axes; NaN = absent. For an array (T, J, 3) pass
        ``dict(zip(joints, np.moveaxis(xyz_m, -2, 0)))``
    up : float (3,), or one per pose, in the same axes; used for ``trunk_lean`` only

    Returns
    -------
    angle name -> float64 (...), degrees; NaN where a joint is absent or the angle is undefined
    """
    points = {name: np.asarray(position, float) for name, position in positions_m.items()}
    person = _Person(points, np.asarray(up, float))
    with np.errstate(over="ignore", invalid="ignore"):  # positions near the float limit have no angles
        return {name: ANGLES[name].formula(person) for name in angle_names(points)}


def angle_names(joints: Iterable[str]) -> tuple[str, ...]:
    """Names of the angles that are defined for a body with these joints."""
    known = set(joints)
    return tuple(name for name, angle in ANGLES.items() if known.issuperset(angle.joints))


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i", one, other)


def _cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    # np.cross is ten times slower for a single pose
    ahead = one[..., [1, 2, 0]] * other[..., [2, 0, 1]]
    return ahead - one[..., [2, 0, 1]] * other[..., [1, 2, 0]]


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.sqrt(_dot(vectors, vectors))[..., None]
    return vectors / np.where(lengths > 0, lengths, np.nan)  # coincident joints have no direction


def _between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Unsigned angle between unit vectors, degrees; the arctangent stays accurate near 0 and 180."""
    across = _cross(one, other)
    return np.degrees(np.arctan2(np.sqrt(_dot(across, across)), _dot(one, other)))


@dataclass
class _Person:
    """Bone directions, and the trunk's axes, cached."""

    points: Mapping[str, np.ndarray]
    up: np.ndarray
    _axes: dict[tuple[str, str], tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=dict)

    def bone(self, start: str, end: str) -> np.ndarray:
        return _unit(self.points[end] - self.points[start])

    def along(self, bone: np.ndarray, line: tuple[str, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Components of a bone towards the person's left, up the trunk and forward.

        ``line`` names the two joints, hips or shoulders, that define left and right.
        """
        if line not in self._axes:
            trunk = self.bone(*_TRUNK)
            forward = _unit(_cross(self.bone(line[1], line[0]), trunk))
            self._axes[line] = (_cross(trunk, forward), trunk, forward)
        left, above, ahead = (_dot(bone, axis) for axis in self._axes[line])
        return left, above, ahead


@dataclass(frozen=True)
class _Angle:
    """An angle: the joints it needs, and its formula."""

    joints: tuple[str, ...]
    formula: Callable[[_Person], np.ndarray]  #: result in degrees


def _bend(upper: str, middle: str, lower: str) -> _Angle:
    """Bend of a limb at its middle joint: 0 = straight."""
    return _Angle((upper, middle, lower), lambda p: _between(p.bone(upper, middle), p.bone(middle, lower)))


def _hip_flexion(side: str) -> _Angle:
    def formula(p: _Person) -> np.ndarray:
        _, above, ahead = p.along(p.bone(f"{side}_hip", f"{side}_knee"), _HIPS)
        return np.degrees(np.arctan2(ahead, -above))

    return _Angle((*_TRUNK, *_HIPS, f"{side}_knee"), formula)


def _hip_abduction(side: str) -> _Angle:
    def formula(p: _Person) -> np.ndarray:
        left, above, ahead = p.along(p.bone(f"{side}_hip", f"{side}_knee"), _HIPS)
        return np.degrees(np.arctan2(left if side == "left" else -left, np.hypot(above, ahead)))

    return _Angle((*_TRUNK, *_HIPS, f"{side}_knee"), formula)


def _shoulder_elevation(side: str) -> _Angle:
    shoulder, elbow = f"{side}_shoulder", f"{side}_elbow"
    return _Angle((*_TRUNK, shoulder, elbow), lambda p: _between(p.bone(shoulder, elbow), p.bone("neck", "pelvis")))


def _shoulder_plane(side: str) -> _Angle:
    def formula(p: _Person) -> np.ndarray:
        left, _, ahead = p.along(p.bone(f"{side}_shoulder", f"{side}_elbow"), _SHOULDERS)
        plane = np.degrees(np.arctan2(ahead, left if side == "left" else -left))
        return np.where(np.hypot(left, ahead) >= np.sin(np.radians(MIN_ELEVATION_DEG)), plane, np.nan)

    return _Angle((*_TRUNK, *_SHOULDERS, f"{side}_elbow"), formula)


def _ankle_dorsiflexion(side: str) -> _Angle:
    knee, ankle, foot = (f"{side}_{joint}" for joint in ("knee", "ankle", "foot"))
    return _Angle((knee, ankle, foot), lambda p: 90 - _between(p.bone(ankle, knee), p.bone(ankle, foot)))


def _trunk_lean(p: _Person) -> np.ndarray:
    return _between(p.bone(*_TRUNK), _unit(p.up))


def _trunk_twist(p: _Person) -> np.ndarray:
    trunk, hips, shoulders = p.bone(*_TRUNK), p.bone(*_HIPS[::-1]), p.bone(*_SHOULDERS[::-1])
    sine = _dot(trunk, _cross(hips, shoulders))
    return np.degrees(np.arctan2(sine, _dot(hips, shoulders) - _dot(hips, trunk) * _dot(shoulders, trunk)))


def _neck_flexion(p: _Person) -> np.ndarray:
    _, above, ahead = p.along(p.bone("neck", "head"), _SHOULDERS)
    return np.degrees(np.arctan2(ahead, above))


def _left_and_right(name: str, make: Callable[[str], _Angle]) -> dict[str, _Angle]:
    return {f"{side}_{name}": make(side) for side in ("left", "right")}


ANGLES = {
    **_left_and_right("knee_flexion", lambda side: _bend(f"{side}_hip", f"{side}_knee", f"{side}_ankle")),
    **_left_and_right("hip_flexion", _hip_flexion),
    **_left_and_right("hip_abduction", _hip_abduction),
    **_left_and_right("ankle_dorsiflexion", _ankle_dorsiflexion),
    **_left_and_right("elbow_flexion", lambda side: _bend(f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist")),
    **_left_and_right("shoulder_elevation", _shoulder_elevation),
    **_left_and_right("shoulder_plane", _shoulder_plane),
    "trunk_lean": _Angle(_TRUNK, _trunk_lean),
    "trunk_twist": _Angle((*_TRUNK, *_HIPS, *_SHOULDERS), _trunk_twist),
    "neck_flexion": _Angle((*_TRUNK, *_SHOULDERS, "head"), _neck_flexion),
}
"""Angle name -> its joints and formula. Columns and tables keep this order."""
