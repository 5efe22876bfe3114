"""Dolls and stuffed animals, made of capsules: the shape of people or bears, and far smaller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from synth.furniture.kinds import MATERIALS
from synth.furniture.model_bank import FurnitureModel
from synth.furniture.solids import Solids
from synth.geometry.mesh import capsule, ring_triangles

HEIGHT_M = (0.18, 0.75)
"""Heights of standing dolls, drawn evenly."""


@dataclass(frozen=True, slots=True)
class _Build:
    """Proportions of a doll, as shares of its standing height; girths are radii."""

    head: float
    trunk: float
    leg: float
    arm: float
    trunk_girth: float
    limb_girth: float

    @classmethod
    def person(cls, rng: np.random.Generator) -> _Build:
        """Those of a person, or of a child with a large head."""
        head = rng.uniform(0.14, 0.3)
        leg = (1 - head) * rng.uniform(0.45, 0.58)
        return cls(head, 1 - head - leg, leg, rng.uniform(0.3, 0.45), rng.uniform(0.07, 0.12), rng.uniform(0.025, 0.05))

    @classmethod
    def bear(cls, rng: np.random.Generator) -> _Build:
        """Those of a stuffed animal: a large head, a round belly, short limbs."""
        head = rng.uniform(0.28, 0.42)
        leg = (1 - head) * rng.uniform(0.3, 0.45)
        return cls(head, 1 - head - leg, leg, rng.uniform(0.22, 0.4), rng.uniform(0.12, 0.2), rng.uniform(0.05, 0.09))


def make_doll(rng: np.random.Generator) -> FurnitureModel:
    """Make a doll or stuffed animal that sits, stands or lies on its back."""
    solids = Solids()
    high, is_bear = rng.uniform(*HEIGHT_M), rng.random() < 0.6
    build = _Build.bear(rng) if is_bear else _Build.person(rng)
    posture = str(rng.choice(["sits", "stands", "lies"], p=[0.6, 0.25, 0.15]))
    up, front = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    if posture == "lies":
        up, front = front, up
    elif posture == "sits":  # leans back, or forward
        lean = rng.normal(-0.15, 0.15)
        up, front = np.cos(lean) * up + np.sin(lean) * front, np.cos(lean) * front - np.sin(lean) * up
    legs_along = front if posture == "sits" else -up
    side = np.cross(up, front)
    hips = up * build.trunk_girth
    neck = hips + up * (build.trunk - build.trunk_girth)
    _limb(solids, high, (hips, neck), (build.trunk_girth, build.trunk_girth * rng.uniform(0.6, 0.95)))
    _add_head(solids, high, build, neck + up * build.head / 2, (up, front, side), is_bear, rng)
    for left in (-1, 1):
        hip = hips + side * left * build.trunk_girth * 0.6
        spread = side * left * rng.uniform(0.05, 0.6)
        _limb(solids, high, (hip, hip + _unit(legs_along + spread) * build.leg), (build.limb_girth * 1.2,) * 2)
        shoulder = neck - up * build.limb_girth + side * left * build.trunk_girth * 0.7
        reach = -up * rng.uniform(-0.2, 1) + side * left * rng.uniform(0.2, 1) + front * rng.uniform(0, 0.8)
        hand = shoulder + _unit(reach) * build.arm
        _limb(solids, high, (shoulder, hand), (build.limb_girth, build.limb_girth * 0.8))
    return solids.model("Doll or stuffed animal", "doll")


def _add_head(
    solids: Solids,
    high_m: float,
    build: _Build,
    middle: np.ndarray,
    axes: tuple[np.ndarray, np.ndarray, np.ndarray],
    is_bear: bool,
    rng: np.random.Generator,
) -> None:
    """Add a round or long head; bears have a snout and ears."""
    up, front, side = axes
    radius = build.head / 2
    half = up * radius * rng.uniform(0.05, 0.25)
    _limb(solids, high_m, (middle - half, middle + half), (radius * 0.9, radius * 0.85))
    if not is_bear:
        return
    _limb(solids, high_m, (middle, middle + front * radius * rng.uniform(0.8, 1.6)), (radius * 0.5, radius * 0.3))
    ear = radius * rng.uniform(0.2, 1.1)  # up to those of a rabbit
    for left in (-1, 1):
        root = middle + up * radius * 0.75 + side * left * radius * 0.55
        _limb(solids, high_m, (root, root + up * ear), (radius * 0.3, radius * 0.2))


def _unit(direction: np.ndarray) -> np.ndarray:
    return direction / np.linalg.norm(direction)


def _limb(solids: Solids, high_m: float, ends: tuple[np.ndarray, np.ndarray], girths: tuple[float, float]) -> None:
    """Add a capsule given in shares of the doll's height."""
    start, end = (np.asarray(each, float) * high_m for each in ends)
    rings = capsule(start, end, (girths[0] * high_m, girths[1] * high_m))[:, ::2]
    triangles = ring_triangles(*rings.shape[:2])
    solids.part(rings.reshape(-1, 3), triangles, np.full(len(triangles), MATERIALS.index("cloth"), np.uint8))
