"""What is easily taken for people: pillars of the wall, coat stands, chairs in jackets, drying racks, and cushions."""

from __future__ import annotations

import numpy as np

from synth.furniture.model_bank import FurnitureModel
from synth.furniture.solids import Solids, folds


def make_pillar(rng: np.random.Generator) -> FurnitureModel:
    """Make a pillar, chimney breast or pipe casing, 3.1 m high: it is fitted to the height of its room."""
    solids = Solids()
    half, deep, high = rng.uniform(0.08, 0.5), rng.uniform(0.08, 0.5), 3.1
    if rng.random() < 0.25:
        radius = min(half, deep)
        solids.turned((0, 0, 0), [(radius, 0), (radius, high)], corners=18)
    else:
        solids.box((-half, 0, -deep / 2), (half, high, deep / 2))
    return solids.model("Pillar", "pillar")


def make_coat_stand(rng: np.random.Generator) -> FurnitureModel:
    """Make a coat stand: a pole with hooks, coats that hang around it, and a hat on some."""
    solids = Solids()
    high, foot = rng.uniform(1.55, 1.9), rng.uniform(0.16, 0.24)
    solids.turned((0, 0, 0), [(0, 0), (foot, 0), (foot, 0.03), (0.018, 0.05), (0.018, high), (0, high)], "wood")
    for angle in rng.uniform(0, 2 * np.pi) + np.arange(4) * np.pi / 2:
        out = np.array([np.cos(angle), 0, np.sin(angle)])
        solids.rod([tuple(out * 0.015 + [0, high - 0.15, 0]), tuple(out * 0.13 + [0, high - 0.08, 0])], 0.009, "wood")
    for _ in range(int(rng.integers(0, 4))):
        _hang_coat(solids, high - 0.12, rng)
    if rng.random() < 0.4:
        brim, crown = rng.uniform(0.12, 0.18), rng.uniform(0.08, 0.1)
        profile = [(brim, high), (crown, high + 0.01), (crown * 0.9, high + 0.1), (0, high + 0.12)]
        solids.turned((0, 0, 0), profile, "cloth")
    return solids.model("Coat stand", "coat stand")


def _hang_coat(solids: Solids, top_m: float, rng: np.random.Generator) -> None:
    """Add a coat on one side of the pole, wide at the shoulders, in folds."""
    angle, length = rng.uniform(0, 2 * np.pi), rng.uniform(0.5, 1.1)
    half, deep = rng.uniform(0.14, 0.24), rng.uniform(0.06, 0.12)
    down, turn = np.linspace(0, 1, 8)[:, None], np.linspace(0, 2 * np.pi, 15)
    widths = half * np.interp(down, (0, 0.12, 0.4, 1), (0.2, 0.85, 0.8, rng.uniform(0.8, 1.2)))
    depths = deep * np.interp(down, (0, 0.12, 1), (0.3, 0.9, 1.0))
    ripple = 1 + 0.14 * np.sin(4 * turn[None] + rng.uniform(0, 6) + 2 * down)
    across, away = widths * np.cos(turn) * ripple, 0.1 + depths * np.sin(turn) * ripple
    x, z = np.cos(angle) * away - np.sin(angle) * across, np.sin(angle) * away + np.cos(angle) * across
    y = np.broadcast_to(top_m - down * length, x.shape)
    solids.sheet(np.stack([x, y, z], axis=2), "leather" if rng.random() < 0.15 else "cloth")


def make_draped_chair(rng: np.random.Generator) -> FurnitureModel:
    """Make a chair with a jacket over its back: shoulders, sleeves and collar."""
    solids = Solids()
    half, deep, seat = rng.uniform(0.19, 0.27), rng.uniform(0.38, 0.5), rng.uniform(0.41, 0.52)
    rear, top = -deep / 2, seat + rng.uniform(0.35, 0.65)
    if rng.random() < 0.5:
        for x in (-half, half):
            solids.rod([(x, 0, -rear), (x, seat, -rear)], 0.016, "metal")
            solids.rod([(x, 0, rear), (x, seat, rear), (x, top, rear - 0.06)], 0.016, "metal")
    else:
        solids.turned((0, 0, 0), [(0.3, 0.04), (0.05, 0.09), (0.03, 0.12), (0.03, seat)], "metal", 5)
    solids.box((-half, seat - 0.05, rear), (half, seat, -rear), "cloth")
    solids.box((-half, seat + 0.1, rear - 0.05), (half, top, rear), "cloth")
    _drape_jacket(solids, (half + rng.uniform(0, 0.05), top + 0.02, rear - 0.03), seat - rng.uniform(0.0, 0.3), rng)
    if rng.random() < 0.3:
        width, thick = rng.uniform(0.1, 0.2), rng.uniform(0.05, 0.2)
        solids.box((-width, seat, -0.1), (width, seat + thick, 0.15), "other")  # a bag or books on the seat
    return solids.model("Chair in a jacket", "draped chair")


def _drape_jacket(
    solids: Solids, shoulder_m: tuple[float, float, float], hem_m: float, rng: np.random.Generator
) -> None:
    """Add a jacket around the back of a chair, from the outer corner of its shoulder down to its hem."""
    half, top, z = shoulder_m
    down, turn = np.linspace(0, 1, 9)[:, None], np.linspace(0, 2 * np.pi, 21)
    widths = half * np.interp(down, (0, 0.04, 0.12, 1), (0.3, 0.85, 1.0, rng.uniform(0.95, 1.2)))
    before, behind = rng.uniform([0.03, 0.05], [0.08, 0.14])
    depths = np.where(np.sin(turn) > 0, before, behind) * np.interp(down, (0, 0.1, 1), (0.3, 0.8, 1.0))
    ripple = 1 + 0.12 * np.sin(rng.integers(3, 7) * turn[None] + rng.uniform(0, 6) + 3 * down)
    x, y = widths * np.cos(turn) * ripple, np.broadcast_to(top - down * (top - hem_m), (9, 21))
    material = "leather" if rng.random() < 0.15 else "cloth"
    solids.sheet(np.stack([x, y, z + depths * np.sin(turn) * ripple], axis=2), material)
    for side in (-1, 1):
        if rng.random() < 0.8:  # a sleeve, which swings a little to the front or the rear
            out, along = side * rng.uniform(0.0, 0.1), rng.uniform(-0.12, 0.12)
            elbow, length = rng.uniform(0.25, 0.35), rng.uniform(0.5, 0.65)
            points = [
                (side * half * 0.8, top - 0.06, z),
                (side * half * 1.1 + out, top - elbow, z + along / 2),
                (side * half * 1.1 + out, top - length, z + along),
            ]
            solids.rod(points, rng.uniform(0.04, 0.065), material)
    if rng.random() < 0.6:
        wide, high = rng.uniform([0.06, 0.03], [0.1, 0.08])
        solids.turned((0, top - 0.02, z), [(wide, 0), (wide * 0.9, high)], material)  # a collar


def make_drying_rack(rng: np.random.Generator) -> FurnitureModel:
    """Make a drying rack: two crossed frames, bars, and washing over some of them."""
    solids = Solids()
    half, high, deep = rng.uniform(0.45, 0.8), rng.uniform(0.8, 1.1), rng.uniform(0.22, 0.32)
    for x in (-half * 0.9, half * 0.9):
        solids.rod([(x, 0, -deep), (x, high, deep * 0.6)], 0.011)
        solids.rod([(x, 0, deep), (x, high, -deep * 0.6)], 0.011)
    for z in np.linspace(-deep, deep, int(rng.integers(5, 9))):
        solids.rod([(-half, high, z), (half, high, z)], 0.006)
        if rng.random() < 0.6:
            _hang_washing(solids, (half, high, float(z)), rng)
    return solids.model("Drying rack", "drying rack")


def _hang_washing(solids: Solids, bar_m: tuple[float, float, float], rng: np.random.Generator) -> None:
    """Add a cloth over a bar, that hangs on its front or on its back."""
    half, high, z = bar_m
    width, length = rng.uniform(0.3, 1.0) * half, rng.uniform(0.2, min(0.75, high - 0.05))
    points = folds(width, length, 0.03, rng, rows=5, columns=12)
    at = [rng.uniform(-1, 1) * (half - width / 2), high - length + 0.01, z + (0.01 if rng.random() < 0.5 else -0.01)]
    solids.sheet(points + at, "cloth")


def make_cushion(rng: np.random.Generator) -> FurnitureModel:
    """Make a cushion that lies, or leans upright."""
    solids = Solids()
    half, thick = rng.uniform([0.17, 0.17], [0.3, 0.26]), rng.uniform(0.05, 0.1)
    u, v = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9))
    swell = (1 - u**4) * (1 - v**4) * (0.85 + 0.15 * np.cos(rng.uniform(0, 6) + 2 * u + v))
    pinch = 1 - 0.08 * (1 - u**2) * v**2, 1 - 0.08 * (1 - v**2) * u**2  # corners stick out
    lean = 0.0 if rng.random() < 0.4 else rng.uniform(0.9, 1.3)
    turn = np.array([[1, 0, 0], [0, np.cos(lean), np.sin(lean)], [0, -np.sin(lean), np.cos(lean)]])
    for side in (1, -1):
        points = np.stack([half[0] * u * pinch[1], side * thick * swell, half[1] * v * pinch[0]], axis=2)
        solids.sheet(points @ turn.T, "cloth")
    return solids.model("Cushion", "cushion")
