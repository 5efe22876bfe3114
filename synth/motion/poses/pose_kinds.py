"""Kinds of poses, by the positions of joints: seated, lying, crouching, reaching ..."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posepipe.body import HUMAN
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.skinning import pose_joints
from synth.motion.poses.clips import PoseBank

BENT_DEG = (45.0, 130.0)
"""Angle between the trunk and the vertical of people who bend."""
MAX_ASIDE_DEG = 60.0
"""Maximum angle, seen from above, between the direction of their bend and that which their hips face."""
MAX_OFF_FEET = 0.45
"""Maximum level distance between the middle of the trunk and that of the feet, in leg lengths, on legs that carry."""
MIN_HIPS = 0.25
"""Minimum height of the pelvis above the lower ankle there, in leg lengths."""
MAX_BELOW_FEET = 0.1
"""Maximum height of the lowest foot above the lowest joint there, in leg lengths; a hand may touch the floor."""
MAX_STEP_DEG, MAX_LEAN_DEG = 60.0, 20.0
"""Maximum bend of the knees and tilt of the thighs, and of the trunk, of people who stand or walk."""

_UP = np.array([0.0, 1, 0])


def _at(joints_m: np.ndarray, name: str) -> np.ndarray:
    return joints_m[:, HUMAN.joint_index(name)]


def _tilt(joints_m: np.ndarray) -> np.ndarray:
    """Degrees between the trunk and the vertical: (N,)."""
    return _angle(_at(joints_m, "neck") - _at(joints_m, "pelvis"), _UP)


def _angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    cosine = (a * b).sum(axis=-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1))
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def _leg_m(joints_m: np.ndarray) -> np.ndarray:
    hip, knee, ankle = (_at(joints_m, f"left_{name}") for name in ("hip", "knee", "ankle"))
    return np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)


def _knee_bends(joints_m: np.ndarray) -> np.ndarray:
    """Degrees by which each knee is bent, 0 = straight: (2, N)."""
    return np.array(
        [
            _angle(
                _at(joints_m, f"{s}_knee") - _at(joints_m, f"{s}_hip"),
                _at(joints_m, f"{s}_ankle") - _at(joints_m, f"{s}_knee"),
            )
            for s in ("left", "right")
        ]
    )


def _thigh_tilts(joints_m: np.ndarray) -> np.ndarray:
    """Degrees between each thigh and straight down: (2, N)."""
    return np.array([_angle(_at(joints_m, f"{s}_knee") - _at(joints_m, f"{s}_hip"), -_UP) for s in ("left", "right")])


def _pelvis_share(joints_m: np.ndarray) -> np.ndarray:
    """Height of the pelvis above the lower ankle, in leg lengths: (N,)."""
    low = np.minimum(_at(joints_m, "left_ankle")[:, 1], _at(joints_m, "right_ankle")[:, 1])
    return (_at(joints_m, "pelvis")[:, 1] - low) / _leg_m(joints_m)


def _lying(j: np.ndarray) -> np.ndarray:
    return (_tilt(j) > 60) & (_tilt(j) <= 120) & (_pelvis_share(j) < 0.6)


def _seated(j: np.ndarray) -> np.ndarray:
    level = ((_thigh_tilts(j) > 55) & (_thigh_tilts(j) < 115)).all(axis=0)
    return level & ((_knee_bends(j) > 45) & (_knee_bends(j) < 125)).all(axis=0) & (_tilt(j) < 50)


def _crouching(j: np.ndarray) -> np.ndarray:
    return (_pelvis_share(j) < 0.6) & (_knee_bends(j).max(axis=0) > 80) & (_tilt(j) <= 60) & ~_seated(j)


def _reaching(j: np.ndarray) -> np.ndarray:
    return np.any([_at(j, f"{s}_hand")[:, 1] > _at(j, "head")[:, 1] for s in ("left", "right")], axis=0) & (
        _tilt(j) < 60
    )


def _arms_crossed(j: np.ndarray) -> np.ndarray:
    across = _at(j, "left_shoulder") - _at(j, "right_shoulder")
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    side = [((_at(j, f"{s}_hand") - _at(j, "torso")) * across).sum(axis=1) for s in ("left", "right")]
    near = [np.linalg.norm(_at(j, f"{s}_hand") - _at(j, "torso"), axis=1) < 0.45 for s in ("left", "right")]
    return (side[0] < 0.02) & (side[1] > -0.02) & near[0] & near[1]


def _hand_to_face(j: np.ndarray) -> np.ndarray:
    return np.any(
        [np.linalg.norm(_at(j, f"{s}_hand") - _at(j, "head"), axis=1) < 0.25 for s in ("left", "right")], axis=0
    )


def stands_upright(joints_m: np.ndarray) -> np.ndarray:
    """Decide who stands or walks upright: float (N, 20, 3), body axes, y up, to bool (N,). Arms may do anything."""
    straight = (_knee_bends(joints_m) < MAX_STEP_DEG).all(axis=0) & (_thigh_tilts(joints_m) < MAX_STEP_DEG).all(axis=0)
    return straight & (_tilt(joints_m) < MAX_LEAN_DEG)


def bends_on_legs(joints_m: np.ndarray) -> np.ndarray:
    """Decide who bends, their legs carrying them: float (N, 20, 3), body axes, y up, to bool (N,).

    The trunk is tilted forwards by BENT_DEG, a foot is on the floor, and the feet lie below the trunk. People who sit,
    lie or are on all fours do not count.
    """
    tilt, leg = _tilt(joints_m), _leg_m(joints_m)
    feet = np.stack([_at(joints_m, f"{s}_{end}") for s in ("left", "right") for end in ("ankle", "foot")], axis=1)
    knees = np.stack([_at(joints_m, f"{s}_knee") for s in ("left", "right")], axis=1)
    lowest = joints_m[..., 1].min(axis=1)
    ahead = np.cross(_at(joints_m, "left_hip") - _at(joints_m, "right_hip"), _UP)
    leans = (_at(joints_m, "neck") - _at(joints_m, "pelvis")) * [1, 0, 1]
    trunk = (_at(joints_m, "pelvis") + _at(joints_m, "torso") + _at(joints_m, "neck")) / 3
    off_feet = np.linalg.norm((trunk - feet.mean(axis=1))[:, [0, 2]], axis=1)
    on_hands = np.stack([_at(joints_m, f"{s}_hand")[:, 1] for s in ("left", "right")], axis=1).max(axis=1) - lowest
    on_fours = (on_hands < 0.12 * leg) & (knees[..., 1].max(axis=1) - lowest < 0.25 * leg)
    carried = (feet[..., 1].min(axis=1) - lowest < MAX_BELOW_FEET * leg) & (off_feet < MAX_OFF_FEET * leg)
    bent = (tilt > BENT_DEG[0]) & (tilt <= BENT_DEG[1]) & (_pelvis_share(joints_m) > MIN_HIPS)
    bent &= _angle(ahead, leans) < MAX_ASIDE_DEG
    return bent & carried & ~on_fours & ~_lying(joints_m) & ~_seated(joints_m)


KINDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "standing at ease": lambda j: (
        (_tilt(j) < 15) & (_knee_bends(j).max(axis=0) < 25) & (_thigh_tilts(j).max(axis=0) < 25)
        & np.all([_at(j, f"{s}_hand")[:, 1] < _at(j, "pelvis")[:, 1] + 0.1 for s in ("left", "right")], axis=0)
    ),
    "seated": _seated,
    "lying": _lying,
    "crouching": _crouching,
    "bending": lambda j: (_tilt(j) > 35) & (_tilt(j) <= 90) & ~_lying(j),
    "upside down": lambda j: _tilt(j) > 120,
    "striding": lambda j: np.linalg.norm(_at(j, "left_ankle") - _at(j, "right_ankle"), axis=1) > 0.75,
    "reaching up": _reaching,
    "arms crossed": _arms_crossed,
    "hand to the face": _hand_to_face,
}  # fmt: skip
"""Kind -> function from joints, float (N, 20, 3), body axes, y up, to bool (N,). A pose may be of several kinds."""


def joints_of(bank: PoseBank) -> np.ndarray:
    """Return the joints of a bank's poses on the mean body: float32 (N, 20, 3), metres."""
    asset = load_body_asset()
    mean = rest_body(asset, np.zeros(len(asset.components_m)))
    return np.stack([pose_joints(asset, mean, rotations) for rotations in bank.rotations])


def pose_shares(bank: PoseBank) -> dict[str, float]:
    """Return the share of a bank's poses that are of each kind, on the mean body."""
    joints_m = joints_of(bank)
    return {kind: float(shows(joints_m).mean()) for kind, shows in KINDS.items()}
