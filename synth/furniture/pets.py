"""Cats and dogs, made of capsules."""

from __future__ import annotations

import numpy as np

from synth.furniture.kinds import MATERIALS
from synth.furniture.model_bank import FurnitureModel
from synth.furniture.solids import Solids
from synth.geometry.mesh import capsule, ring_triangles


def make_pet(rng: np.random.Generator) -> FurnitureModel:
    """Make a cat or dog of any size that stands, sits or lies."""
    solids = Solids()
    length = rng.uniform(0.28, 0.75)
    girth = length * rng.uniform(0.16, 0.24)
    leg = length * rng.uniform(0.45, 0.75)
    posture = rng.choice(["stands", "sits", "lies"])
    rear = np.array([0, {"stands": leg, "sits": girth * 1.1, "lies": girth}[str(posture)], -length / 2])
    chest = np.array([0, leg if posture != "lies" else girth, length / 2])
    if posture == "sits":
        chest[2] = length * 0.1
    _limb(solids, rear, chest, (girth * 0.95, girth))
    head = chest + np.array([rng.normal(0, 0.15), rng.uniform(0.3, 0.9), rng.uniform(0.5, 0.9)]) * girth * 1.6
    _limb(solids, chest, head, (girth * 0.7, girth * 0.55))
    muzzle = head + np.array([0, -0.1, rng.uniform(0.5, 1.2)]) * girth
    _limb(solids, head, muzzle, (girth * 0.6, girth * 0.3))
    for side in (-1, 1):
        _limb(
            solids,
            head + [side * girth * 0.4, girth * 0.4, 0],
            head + [side * girth * 0.5, girth * 0.9, 0],
            (0.02, 0.01),
        )
        for end, is_front in ((chest, True), (rear, False)):
            hip = end + [side * girth * 0.6, 0, -0.02 if is_front else 0.02]
            foot = np.array([hip[0], 0.02, hip[2]])
            if posture == "lies" or (posture == "sits" and not is_front):
                foot[2] += length * 0.3
            _limb(solids, hip, foot, (girth * 0.4, girth * 0.18))
    tail = rear + np.array([rng.normal(0, 0.2), rng.uniform(-0.3, 0.9), -1]) * length * 0.35
    tail[1] = max(tail[1], 0.02)
    _limb(solids, rear, tail, (girth * 0.25, girth * 0.12))
    return solids.model("Cat or dog", "pet")


def _limb(solids: Solids, start_m: np.ndarray, end_m: np.ndarray, radius_m: tuple[float, float]) -> None:
    rings = capsule(np.asarray(start_m, float), np.asarray(end_m, float), radius_m)[:, ::2]
    triangles = ring_triangles(*rings.shape[:2])
    solids.part(rings.reshape(-1, 3), triangles, np.full(len(triangles), MATERIALS.index("cloth"), np.uint8))
