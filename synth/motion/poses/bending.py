"""People who bend forwards on their own legs: they bow, pick things up, tie a shoe, or lean over a table.

Captures show few of them. Poses are as in `synth.motion.poses.postures`; angles are in degrees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from synth.body.skinning import POSED_BONES
from synth.geometry.quaternions import about_axis, inverse, multiply

TRUNK = ("pelvis", "spine_01", "spine_02", "spine_03", "neck_01")
"""Bones along the trunk, from its lower to its upper end."""
PELVIS_SHARE = (0.5, 0.9)
"""Tilt of the pelvis, as a share of the trunk's; the spine bends by the rest."""
HEAD_SHARE = (0.3, 1.1)
"""Tilt of the head: people look ahead, or at what they do."""
TWIST_DEG, SIDE_DEG = 12.0, 8.0
"""Standard deviations: twist of the trunk, and its bend to one side."""
STRIDE_DEG, APART_DEG = 6.0, (-1.0, 12.0)
"""Standard deviation of each leg ahead or behind, and how far each points outwards."""
TRUNK_MASS, TRUNK_CENTRE = 0.65, 0.8
"""Share of the body's mass above the hips, and its distance from them, in thigh lengths: legs lean back against it."""
FREE_ARMS_SHARE = 0.2
"""Of people, those whose arms stay at the trunk as they were captured."""


@dataclass(frozen=True, slots=True)
class Bend:
    """One way to bend, by ranges of angles."""

    trunk_deg: tuple[float, float]  #: of the trunk from upright, forwards
    knee_deg: tuple[float, float]  #: 0 = straight
    arm_deg: tuple[float, float]  #: of the upper arms from hanging down, forwards
    elbow_deg: tuple[float, float]
    kneels: bool = False  #: on one knee, the other foot in front


BENDS = {
    "bow": Bend((45, 100), (0, 30), (-10, 35), (0, 40)),
    "pick up": Bend((60, 115), (10, 95), (-5, 40), (0, 25)),
    "tie a shoe": Bend((48, 85), (70, 120), (5, 35), (5, 45)),
    "kneel": Bend((46, 80), (80, 105), (5, 45), (0, 45), kneels=True),
    "lean over": Bend((46, 75), (0, 15), (15, 60), (0, 20)),
}
"""Name -> way to bend."""


def bend_forward(rotations: np.ndarray, hanging: np.ndarray, bend: Bend, rng: np.random.Generator) -> np.ndarray:
    """Bend one person forwards.

    Parameters
    ----------
    rotations : float (20, 4)
        What the trunk, and some people's arms, are like relative to the pelvis.
    hanging : float (20, 4)
        A pose of standing with arms that hang down.
    bend : Bend
        One of BENDS.
    rng : numpy.random.Generator

    Returns
    -------
    float32 (20, 4)
    """
    trunk_deg = rng.uniform(*bend.trunk_deg)
    out = _bent_trunk(rotations, trunk_deg, rng)
    if rng.random() >= FREE_ARMS_SHARE:
        _reach(out, hanging, bend, rng)
    knee_deg = rng.uniform(*bend.knee_deg)
    front = int(rng.integers(2)) if bend.kneels else -1
    for number, (side, outwards) in enumerate((("l", 1.0), ("r", -1.0))):
        thigh_deg = _balanced_thigh_deg(trunk_deg, knee_deg) + rng.normal(0, STRIDE_DEG)
        angles = {"thigh": thigh_deg, "calf": thigh_deg - knee_deg, "foot": 0.0}
        if bend.kneels:
            angles = _kneeling_deg(number == front, rng)
        apart = about_axis(2, outwards * rng.uniform(*APART_DEG))
        yaw = about_axis(1, outwards * rng.uniform(-5, 25))
        for bone, ahead_deg in angles.items():
            turn = multiply(yaw, about_axis(0, -ahead_deg))
            out[POSED_BONES.index(f"{bone}_{side}")] = turn if bone == "foot" else multiply(apart, turn)
    return out.astype(np.float32)


def _bent_trunk(rotations: np.ndarray, trunk_deg: float, rng: np.random.Generator) -> np.ndarray:
    """Tilt the bones of the trunk, more from the pelvis to the neck, and all that hangs on them with its upper end."""
    upright = multiply(inverse(rotations[0]), rotations)
    pelvis_deg = trunk_deg * rng.uniform(*PELVIS_SHARE)
    twist = multiply(about_axis(2, rng.normal(0, SIDE_DEG)), about_axis(1, rng.normal(0, TWIST_DEG)))
    neck_deg = 2 * trunk_deg - pelvis_deg  # so that the whole trunk has its tilt
    out = multiply(multiply(about_axis(0, neck_deg), twist), upright)
    for number, bone in enumerate(TRUNK):
        share = number / (len(TRUNK) - 1)
        tilt = multiply(about_axis(0, pelvis_deg + share * (neck_deg - pelvis_deg)), twist)
        row = POSED_BONES.index(bone)
        out[row] = multiply(tilt, upright[row])
    head = POSED_BONES.index("head")
    out[head] = multiply(multiply(about_axis(0, trunk_deg * rng.uniform(*HEAD_SHARE)), twist), upright[head])
    return out


def _reach(out: np.ndarray, hanging: np.ndarray, bend: Bend, rng: np.random.Generator) -> None:
    """Let the arms hang down or reach forwards, in place."""
    for side, outwards in (("l", 1.0), ("r", -1.0)):
        arm_deg, elbow_deg = rng.uniform(*bend.arm_deg), rng.uniform(*bend.elbow_deg)
        aside = about_axis(2, outwards * rng.uniform(-12, 10))
        for bone, ahead_deg in (
            ("upperarm", arm_deg),
            ("lowerarm", arm_deg + elbow_deg),
            ("hand", arm_deg + elbow_deg),
        ):
            row = POSED_BONES.index(f"{bone}_{side}")
            out[row] = multiply(multiply(aside, about_axis(0, -ahead_deg)), hanging[row])


def _balanced_thigh_deg(trunk_deg: float, knee_deg: float) -> float:
    """Angle of the thighs, ahead of hanging down, at which the feet lie below the centre of mass.

    Thigh and calf count as equally long. Their mass moves with the feet, by half of it.
    """
    ahead = TRUNK_MASS * TRUNK_CENTRE * np.sin(np.radians(trunk_deg)) - 0.1
    ahead /= 1 - (1 - TRUNK_MASS) / 2
    half = np.radians(knee_deg) / 2
    return float(np.degrees(half + np.arcsin(np.clip(ahead / (2 * np.cos(half)), -1, 1))))


def _kneeling_deg(in_front: bool, rng: np.random.Generator) -> dict[str, float]:
    """Angles of a leg of somebody who kneels on one knee: that of the foot in front, or of the knee on the floor."""
    if in_front:
        return {"thigh": rng.uniform(80, 105), "calf": rng.uniform(-12, 8), "foot": 0.0}
    return {"thigh": rng.uniform(-10, 12), "calf": rng.uniform(-95, -80), "foot": rng.uniform(-70, -45)}
