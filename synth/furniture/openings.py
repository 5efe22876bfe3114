"""What is on walls: doors, windows, curtains, screens, pictures, and clothes on hooks."""

from __future__ import annotations

import numpy as np

from synth.furniture.model_bank import FurnitureModel
from synth.furniture.solids import Solids, folds


def make_door(rng: np.random.Generator) -> FurnitureModel:
    """Make a door in its frame: shut, or open into the room by up to 110 degrees."""
    solids = Solids()
    width, height, frame = rng.uniform(0.72, 1.0), rng.uniform(1.95, 2.15), rng.uniform(0.05, 0.1)
    for x in (-width / 2 - frame, width / 2):
        solids.box((x, 0, 0), (x + frame, height + frame, 0.03), "wood")
    solids.box((-width / 2, height, 0), (width / 2, height + frame, 0.03), "wood")
    leaf = Solids()
    leaf.box((0, 0.01, 0.0), (width, height, 0.04), "wood")
    for low, high in ((0.15, 0.45), (0.52, 0.9)) if rng.random() < 0.5 else ():
        leaf.box(
            (0.12, low * height, 0.04), (width - 0.12, high * height, 0.052), "glass" if rng.random() < 0.2 else "wood"
        )
    leaf.rod([(width - 0.07, 1.0, 0.04), (width - 0.07, 1.0, 0.09), (width - 0.18, 1.0, 0.09)], 0.011)
    angle = 0.0 if rng.random() < 0.6 else rng.uniform(0.3, 1.9)
    mesh = leaf.model("leaf", "door")
    hinged = mesh.vertices_m + [width / 2, 0.01, mesh.size_m[2] / 2]
    turn = np.array([[np.cos(angle), 0, -np.sin(angle)], [0, 1.0, 0], [np.sin(angle), 0, np.cos(angle)]])
    moved = hinged @ turn.T * [1, 1, 1] - [width / 2, 0, 0]
    moved[:, 2] -= min(float(moved[:, 2].min()), 0.0)
    solids.part(moved, mesh.triangles, mesh.materials)
    return solids.model("Door", "door")


def make_window(rng: np.random.Generator) -> FurnitureModel:
    """Make a window with a sill: a pane, a frame and bars."""
    solids = Solids()
    width, height = rng.uniform(0.6, 2.2), rng.uniform(0.8, 1.6)
    frame, deep = rng.uniform(0.04, 0.08), rng.uniform(0.03, 0.07)
    solids.box((-width / 2, 0, 0), (width / 2, height, 0.008), "glass")
    bars = np.linspace(-width / 2, width / 2 - frame, 2 + int(width > 0.9) + int(width > 1.6))
    for x in bars:
        solids.box((x, 0, 0), (x + frame, height, deep), "other")
    for y in (0.0, height - frame):
        solids.box((-width / 2, y, 0), (width / 2, y + frame, deep), "other")
    if rng.random() < 0.7:
        out = rng.uniform(0.06, 0.25)
        solids.box((-width / 2 - 0.05, -0.03, 0), (width / 2 + 0.05, 0, out), "wood")
    if rng.random() < 0.25:  # a blind, let down in part
        share = rng.uniform(0.2, 1.0)
        for y in np.arange(height, height * (1 - share), -0.05):
            solids.box((-width / 2, y - 0.04, deep + 0.005), (width / 2, y - 0.02, deep + 0.03), "other")
    return solids.model("Window", "window", elevation_m=rng.uniform(0.75, 1.05))


def make_curtain(rng: np.random.Generator) -> FurnitureModel:
    """Make a curtain in folds that hangs from a rail."""
    solids = Solids()
    width, height, deep = rng.uniform(0.35, 1.4), rng.uniform(1.3, 2.3), rng.uniform(0.06, 0.16)
    solids.sheet(folds(width, height, deep, rng, columns=int(12 + 16 * width)), "cloth")
    solids.rod([(-width / 2 - 0.06, height + 0.02, 0), (width / 2 + 0.06, height + 0.02, 0)], 0.012)
    return solids.model("Curtain", "curtain", elevation_m=max(0.02, rng.uniform(2.0, 2.35) - height))


def make_screen(rng: np.random.Generator) -> FurnitureModel:
    """Make a flat screen: for a wall, or on a foot for furniture."""
    solids = Solids()
    on_wall = rng.random() < 0.5
    width = rng.uniform(0.8, 1.5) if on_wall else rng.uniform(0.4, 1.1)
    height, bottom = width * 9 / 16, 0.0 if on_wall else rng.uniform(0.06, 0.16)
    solids.box((-width / 2, bottom, 0), (width / 2, bottom + height, 0.035), "other")
    solids.box(
        (-width / 2 + 0.012, bottom + 0.012, 0.035), (width / 2 - 0.012, bottom + height - 0.012, 0.037), "screen"
    )
    if not on_wall:
        solids.box((-0.03, 0.01, -0.01), (0.03, bottom + 0.1, 0.01), "other")
        solids.box((-width / 5, 0, -0.09), (width / 5, 0.012, 0.1), "other")
    return solids.model("Screen", "screen", elevation_m=rng.uniform(0.8, 1.3) if on_wall else 0.0)


def make_picture(rng: np.random.Generator) -> FurnitureModel:
    """Make a framed picture, mirror or board."""
    solids = Solids()
    width, height, frame = rng.uniform(0.2, 1.2), rng.uniform(0.2, 1.0), rng.uniform(0.015, 0.05)
    solids.box((-width / 2, 0, 0), (width / 2, height, 0.012), "glass" if rng.random() < 0.3 else "other")
    for x in (-width / 2, width / 2 - frame):
        solids.box((x, 0, 0), (x + frame, height, 0.028), "wood")
    for y in (0.0, height - frame):
        solids.box((-width / 2, y, 0), (width / 2, y + frame, 0.028), "wood")
    return solids.model("Picture", "wall thing", elevation_m=rng.uniform(1.0, 1.6))


def make_hanging_clothes(rng: np.random.Generator) -> FurnitureModel:
    """Make a row of hooks with jackets, coats and scarves, which hang like people without heads."""
    solids = Solids()
    count = int(rng.integers(1, 5))
    pitch = rng.uniform(0.16, 0.34)
    solids.box((-pitch * count / 2, 1.55, 0), (pitch * count / 2, 1.65, 0.02), "wood")
    for k in range(count):
        x = (k + 0.5 - count / 2) * pitch
        solids.rod([(x, 1.6, 0.02), (x, 1.58, 0.07), (x, 1.62, 0.08)], 0.006)
        if rng.random() < 0.85:
            _garment(solids, x, rng)
    return solids.model("Clothes on hooks", "clothes", elevation_m=rng.uniform(0.05, 0.3))


def _garment(solids: Solids, x_m: float, rng: np.random.Generator) -> None:
    """Add a garment below a hook: wide at the shoulders, in folds, and as deep as cloth that hangs."""
    length, half, deep = rng.uniform(0.45, 1.25), rng.uniform(0.12, 0.26), rng.uniform(0.05, 0.13)
    down = np.linspace(0, 1, 9)
    widths = half * np.interp(down, (0, 0.1, 0.35, 1), (0.25, 0.8, 0.85, rng.uniform(0.8, 1.2)))
    depths = deep * np.interp(down, (0, 0.1, 1), (0.35, 0.8, 1.0))
    turn = np.linspace(0, 2 * np.pi, 15)
    ripple = 1 + 0.15 * np.sin(3 * turn[None] + rng.uniform(0, 6) + down[:, None])
    x = x_m + widths[:, None] * np.cos(turn) * ripple
    z = 0.04 + depths[:, None] * (1 + np.sin(turn)) * ripple
    y = np.broadcast_to(1.6 - down[:, None] * length, x.shape)
    solids.sheet(np.stack([x, y, z], axis=2), "leather" if rng.random() < 0.15 else "cloth")
    if rng.random() < 0.6:  # sleeves
        for side in (-1, 1):
            top = (x_m + side * half * 0.8, 1.6 - 0.12 * length, 0.04 + deep)
            end = (x_m + side * half * rng.uniform(0.8, 1.2), 1.6 - 0.12 * length - rng.uniform(0.35, 0.6), 0.05 + deep)
            solids.rod([top, end], rng.uniform(0.035, 0.055), "cloth")
