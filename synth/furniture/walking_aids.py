"""Wheelchairs, crutches and walking frames."""

from __future__ import annotations

import numpy as np

from synth.furniture.model_bank import FurnitureModel
from synth.furniture.solids import Solids

SEAT_M = 0.48
"""Height of a wheelchair's seat."""
HUB_CORNERS = 20


def make_wheelchair(rng: np.random.Generator) -> FurnitureModel:
    """Make a wheelchair: seat and back of cloth, two large and two small wheels, arms, foot plates and grips."""
    solids = Solids()
    half, deep, back = rng.uniform(0.19, 0.24), rng.uniform(0.4, 0.46), rng.uniform(0.36, 0.46)
    wheel = rng.uniform(0.27, 0.31)
    rear, front = -deep / 2, deep / 2
    solids.box((-half, SEAT_M - 0.02, rear), (half, SEAT_M, front), "cloth")
    solids.box((-half, SEAT_M, rear - 0.02), (half, SEAT_M + back, rear), "cloth")
    for side in (-1, 1):
        x = side * half
        solids.rod(
            [(x, 0.1, front), (x, SEAT_M, front), (x, SEAT_M, rear), (x, SEAT_M + back + 0.08, rear - 0.02)], 0.012
        )
        solids.rod([(x, SEAT_M + back + 0.08, rear - 0.02), (x, SEAT_M + back + 0.09, rear - 0.15)], 0.016, "other")
        if rng.random() < 0.7:
            solids.box((x - 0.025, SEAT_M + 0.2, rear), (x + 0.025, SEAT_M + 0.23, front - 0.08), "other")
        _wheel(solids, side * (half + 0.05), (wheel, rear + 0.06), wheel)
        _wheel(solids, x, (0.08, front - 0.02), 0.08)
        solids.rod([(x, SEAT_M - 0.05, front), (x * 0.8, 0.12, front + 0.22)], 0.011)
        solids.box((x * 0.8 - 0.08, 0.11, front + 0.14), (x * 0.8 + 0.08, 0.12, front + 0.3), "other")
    return solids.model("Wheelchair", "wheelchair", top_m=SEAT_M)


def _wheel(solids: Solids, x_m: float, centre_m: tuple[float, float], radius_m: float) -> None:
    """Add a tyre and spokes, at a height and place along z."""
    turn = np.linspace(0, 2 * np.pi, HUB_CORNERS + 1)
    ring = np.stack(
        [np.full(len(turn), x_m), centre_m[0] + radius_m * np.sin(turn), centre_m[1] + radius_m * np.cos(turn)], 1
    )
    solids.rod((ring * [1, 0.96, 1] + [0, 0.04 * centre_m[0], 0]).tolist(), min(0.018, radius_m / 4), "other")
    for angle in np.arange(0, np.pi, np.pi / 4):
        arm = np.array([0, np.sin(angle), np.cos(angle)]) * radius_m * 0.94
        middle = np.array([x_m, *centre_m])
        solids.rod([tuple(middle - arm), tuple(middle + arm)], 0.004)


def make_walking_frame(rng: np.random.Generator) -> FurnitureModel:
    """Make a walking frame that is open towards the person (-z), with or without wheels."""
    solids = Solids()
    half, deep, high = rng.uniform(0.26, 0.32), rng.uniform(0.4, 0.5), rng.uniform(0.78, 0.95)
    for side in (-1, 1):
        x = side * half
        legs = [
            (x, 0.02, -deep / 2),
            (x * 0.94, high, -deep / 2 + 0.06),
            (x * 0.94, high, deep / 2 - 0.12),
            (x, 0.02, deep / 2),
        ]
        solids.rod(legs, 0.014)
        solids.rod([(x * 0.94, high, -deep / 2 + 0.04), (x * 0.94, high, -deep / 2 + 0.2)], 0.02, "other")
        solids.rod([(x, high * 0.4, -deep / 2 + 0.02), (x, high * 0.4, deep / 2 - 0.03)], 0.011)
        if rng.random() < 0.5:
            _wheel(solids, x, (0.08, deep / 2), 0.08)
    for share in (0.45, rng.uniform(0.75, 0.97)):
        z = deep / 2 - 0.03 - 0.08 * share
        solids.rod([(-half * 0.96, high * share, z), (half * 0.96, high * share, z)], 0.013)
    if rng.random() < 0.3:
        solids.box((-half * 0.8, high * 0.5, deep / 2 - 0.07), (half * 0.8, high * 0.75, deep / 2 + 0.12), "metal")
    return solids.model("Walking frame", "walking frame")


def make_crutch(rng: np.random.Generator) -> FurnitureModel:
    """Make a crutch: a pole, a grip and a cuff, or a stick."""
    solids = Solids()
    high = rng.uniform(0.85, 1.25)
    solids.rod([(0, 0, 0), (0, high * 0.75, 0), (0, high, -0.05)], 0.012)
    solids.rod([(0, high * 0.74, -0.01), (0, high * 0.75, 0.11)], 0.015, "other")
    if rng.random() < 0.7:
        turn = np.linspace(0.3, 2 * np.pi - 0.3, 9)
        cuff = np.stack([0.05 * np.sin(turn), np.full(9, high), -0.05 * np.cos(turn)], axis=1)
        solids.rod(cuff.tolist(), 0.016, "other")
    return solids.model("Crutch", "crutch")
