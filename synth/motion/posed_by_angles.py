"""Poses from joint angles: the bone rotations of one body whose limbs bend by given angles.

Angles have the names and signs of `posepipe.kinematics.joint_angles`, and these further ones, about the axis of a bone:
``shoulder_rotation``, 0 = the bent forearm points forward while the arm hangs, outwards is positive; ``supination``,
0 = the palm faces the thigh while the arm hangs; ``foot_pitch``, 0 = flat on the floor, heel up is positive.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from synth.body.body_asset import BodyAsset
from synth.body.body_mesh import RestBody
from synth.body.skinning import POSED_BONES, pose_joints

TRUNK = ("pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head", "clavicle_l", "clavicle_r")
SIDES = {"left": ("_l", 1.0), "right": ("_r", -1.0)}
"""Side -> end of the names of its bones, and the sign of its turns about upright axes."""
IDENTITY = np.tile(np.array([0.0, 0.0, 0.0, 1.0]), (len(POSED_BONES), 1))


def pose_by_angles(asset: BodyAsset, rest: RestBody, angles_deg: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the poses of a person whose joints have given angles.

    The trunk and the head are rigid. An angle that is not given is 0: standing upright with hanging arms.

    Parameters
    ----------
    asset : BodyAsset
    rest : RestBody
        Of the person: angles are exact for these bones.
    angles_deg : name -> float (T,), degrees

    Returns
    -------
    float32 (T, 20, 4)
        Global rotation of each bone, quaternions xyzw.

    Raises
    ------
    ValueError
        For an angle that no pose is made of.
    """
    frames = len(next(iter(angles_deg.values())))
    angles = _Angles(angles_deg, frames)
    rest_m = dict(zip(HUMAN.joints, pose_joints(asset, rest, IDENTITY).astype(float), strict=True))
    lean = _about("x", angles.take("trunk_lean"))
    turns = dict.fromkeys(TRUNK, lean * _aligned(rest_m["neck"] - rest_m["pelvis"], (0, 1, 0)))
    for side in SIDES:
        turns |= _leg(side, lean, angles, rest_m) | _arm(side, lean, angles, rest_m)
    if unused := sorted(angles.unused()):
        raise ValueError(f"no pose is made of angle {unused[0]!r}")
    rotations = [np.broadcast_to(turns[bone].as_quat(), (frames, 4)) for bone in POSED_BONES]
    return np.stack(rotations, axis=1).astype(np.float32)


class _Angles:
    """Angles by name, those that are not given 0; remembers which were taken."""

    def __init__(self, angles_deg: Mapping[str, np.ndarray], frames: int) -> None:
        self._angles_deg, self._zero, self._taken = angles_deg, np.zeros(frames), set[str]()

    def take(self, name: str) -> np.ndarray:
        self._taken.add(name)
        return self._angles_deg.get(name, self._zero)

    def unused(self) -> set[str]:
        return set(self._angles_deg) - self._taken


def _leg(side: str, lean: Rotation, angles: _Angles, rest_m: Mapping[str, np.ndarray]) -> dict[str, Rotation]:
    end, sign = SIDES[side]
    hip, knee, ankle = (rest_m[f"{side}_{joint}"] for joint in ("hip", "knee", "ankle"))
    sideways = _about("z", sign * angles.take(f"{side}_hip_abduction"))
    thigh = lean * _about("x", -angles.take(f"{side}_hip_flexion")) * sideways
    shank = thigh * _about("x", angles.take(f"{side}_knee_flexion"))
    return {
        f"thigh{end}": thigh * _aligned(knee - hip, (0, -1, 0)),
        f"calf{end}": shank * _aligned(ankle - knee, (0, -1, 0)),
        f"foot{end}": _about("x", angles.take(f"{side}_foot_pitch")),
    }


def _arm(side: str, lean: Rotation, angles: _Angles, rest_m: Mapping[str, np.ndarray]) -> dict[str, Rotation]:
    end, sign = SIDES[side]
    shoulder, elbow, wrist = (rest_m[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist"))
    elevation, plane = (np.radians(angles.take(f"{side}_shoulder_{name}")) for name in ("elevation", "plane"))
    across = np.stack([-np.sin(plane), np.zeros_like(plane), sign * np.cos(plane)], axis=1)
    raised = Rotation.from_rotvec(elevation[:, None] * across)
    upper = lean * raised * _about("y", sign * angles.take(f"{side}_shoulder_rotation"))
    fore = upper * _about("x", -angles.take(f"{side}_elbow_flexion"))
    supination, at_rest = sign * angles.take(f"{side}_supination"), _aligned(wrist - elbow, (0, -1, 0))
    return {
        f"upperarm{end}": upper * _aligned(elbow - shoulder, (0, -1, 0)),
        f"lowerarm{end}": fore * _about("y", supination / 2) * at_rest,
        f"hand{end}": fore * _about("y", supination) * at_rest,
    }


def _about(axis: str, angles_deg: np.ndarray) -> Rotation:
    return Rotation.from_euler(axis, angles_deg[:, None], degrees=True)


def _aligned(vector: np.ndarray, direction: tuple[float, float, float]) -> Rotation:
    """The shortest rotation from a vector to a direction."""
    return Rotation.align_vectors([direction], [vector / np.linalg.norm(vector)])[0]
