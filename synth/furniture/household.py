"""Household things made by code: shelves with things on them, bedding, vases, piles, cables and bags."""

from __future__ import annotations

import itertools

import numpy as np

from synth.furniture.model_bank import FurnitureModel
from synth.furniture.solids import Solids


def make_filled_shelf(rng: np.random.Generator) -> FurnitureModel:
    """Make an open shelf with rows of books, boxes, bottles and gaps."""
    solids = Solids()
    width, height, deep = rng.uniform(0.5, 1.6), rng.uniform(0.7, 2.1), rng.uniform(0.22, 0.42)
    board = 0.022
    for x in (-width / 2, width / 2 - board):
        solids.box((x, 0, -deep / 2), (x + board, height, deep / 2), "wood")
    if rng.random() < 0.6:
        solids.box((-width / 2, 0, -deep / 2), (width / 2, height, -deep / 2 + 0.008), "wood")
    floors = np.linspace(0.04, height - board, int(height / rng.uniform(0.28, 0.42)) + 1)
    for y in floors:
        solids.box((-width / 2, y, -deep / 2), (width / 2, y + board, deep / 2), "wood")
    filled = rng.uniform(0.2, 1.0)
    for low, high in itertools.pairwise(floors):
        _fill_row(solids, (-width / 2 + 0.03, width / 2 - 0.03), low + board, high - low - board, deep, filled, rng)
    return solids.model("Filled shelf", "shelf", top_m=height)


def _fill_row(
    solids: Solids,
    x_m: tuple[float, float],
    bottom_m: float,
    room_m: float,
    deep_m: float,
    filled: float,
    rng: np.random.Generator,
) -> None:
    """Put things side by side on one board, with gaps."""
    x = x_m[0]
    while x < x_m[1] - 0.05:
        kind = rng.random()
        wide = rng.uniform(0.04, 0.3) if kind < 0.7 else rng.uniform(0.06, 0.12)
        wide = min(wide, x_m[1] - x)
        if rng.random() < filled:
            high, front = room_m * rng.uniform(0.35, 0.95), deep_m * rng.uniform(0.1, 0.5)
            if kind < 0.7:  # books stand as one block, boxes as well
                solids.box((x, bottom_m, -deep_m / 2 + 0.01), (x + wide - 0.005, bottom_m + high, front), "other")
            else:
                radius = wide * 0.45
                profile = [
                    (0, 0),
                    (radius, 0),
                    (radius, 0.6 * high),
                    (0.4 * radius, 0.8 * high),
                    (0.4 * radius, high),
                    (0, high),
                ]
                solids.turned((x + wide / 2, bottom_m, 0), profile, "glass" if rng.random() < 0.3 else "other", 8)
        x += wide


def make_bedding(rng: np.random.Generator) -> FurnitureModel:
    """Make a crumpled blanket or a heap of pillows and clothes, for beds and sofas."""
    solids = Solids()
    width, deep, high = rng.uniform(0.4, 1.2), rng.uniform(0.3, 0.9), rng.uniform(0.08, 0.3)
    across, along = np.meshgrid(np.linspace(-1, 1, 13), np.linspace(-1, 1, 11))
    height = np.zeros(across.shape)
    for _ in range(int(rng.integers(3, 8))):
        x, z, spread = rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6), rng.uniform(0.2, 0.6)
        height += rng.uniform(0.3, 1.0) * np.exp(-((across - x) ** 2 + (along - z) ** 2) / spread**2)
    edge = np.clip(4 * (1 - np.maximum(abs(across), abs(along))), 0, 1)
    y = high * edge * (0.15 + height / height.max()) / 1.15
    wobble = 1 + 0.12 * np.sin(3 * np.arctan2(along, across) + rng.uniform(0, 6))
    points = np.stack([across * wobble * width / 2, y, along * wobble * deep / 2], axis=2)
    solids.sheet(points, "cloth")
    return solids.model("Bedding", "bedding")


def make_vase(rng: np.random.Generator) -> FurnitureModel:
    """Make a vase, jug or bottle of any turned shape, some with twigs."""
    solids = Solids()
    high, radius = rng.uniform(0.15, 0.7), rng.uniform(0.04, 0.16)
    heights = np.linspace(0, 1, 9)
    swell = 0.45 + 0.55 * np.sin(np.pi * np.clip(heights * rng.uniform(0.7, 1.1) + rng.uniform(0, 0.25), 0, 1))
    swell *= np.interp(heights, (0, 0.7, 0.9, 1), (1, 1, rng.uniform(0.3, 0.9), rng.uniform(0.4, 1.1)))
    profile = [(0.0, 0.0), *zip(radius * swell, high * heights, strict=True)]
    solids.turned((0, 0, 0), profile, "glass" if rng.random() < 0.2 else "other")
    for _ in range(int(rng.integers(0, 9)) if rng.random() < 0.5 else 0):
        lean = rng.normal(0, 0.25, 2)
        top = np.array([lean[0], 1.0, lean[1]]) * rng.uniform(0.2, 0.6)
        solids.rod(
            [(0, high * 0.9, 0), tuple(top * 0.5 + [0, high, 0]), tuple(top * [1.3, 1, 1.3] + [0, high, 0])],
            0.004,
            "plant",
        )
        solids.turned(tuple(top * [1.3, 1, 1.3] + [0, high, 0]), [(0, -0.02), (0.03, 0.01), (0, 0.04)], "plant", 6)
    return solids.model("Vase", "vase")


def make_pile(rng: np.random.Generator) -> FurnitureModel:
    """Make a pile of books, boxes or papers."""
    solids = Solids()
    y = 0.0
    wide, deep = rng.uniform(0.15, 0.45), rng.uniform(0.12, 0.35)
    for _ in range(int(rng.integers(1, 8))):
        high = rng.uniform(0.01, 0.12)
        shift, share = rng.normal(0, 0.015, 2), rng.uniform(0.7, 1.0)
        low = (shift[0] - wide * share / 2, y, shift[1] - deep * share / 2)
        solids.box(low, (low[0] + wide * share, y + high, low[2] + deep * share), "other")
        y += high
    return solids.model("Pile", "thing")


def make_carton(rng: np.random.Generator) -> FurnitureModel:
    """Make a carton, shut or with open flaps, or several on top of each other."""
    solids = Solids()
    y = 0.0
    for _ in range(int(rng.integers(1, 4))):
        half, high = rng.uniform([0.12, 0.12], [0.35, 0.28]), rng.uniform(0.15, 0.5)
        at = rng.normal(0, 0.03, 2)
        solids.box((at[0] - half[0], y, at[1] - half[1]), (at[0] + half[0], y + high, at[1] + half[1]), "other")
        y += high
    return solids.model("Cartons", "box", top_m=y)


def make_bag(rng: np.random.Generator) -> FurnitureModel:
    """Make a soft bag or backpack that stands or leans."""
    solids = Solids()
    wide, high, deep = rng.uniform([0.2, 0.2, 0.1], [0.5, 0.55, 0.28])
    turn = np.linspace(0, 2 * np.pi, 17)
    down = np.linspace(0, 1, 7)[:, None]
    swell = np.interp(down, (0, 0.15, 0.6, 1), (0.35, 0.75, 1.0, 0.8))
    shape = np.sign(np.cos(turn)) * np.abs(np.cos(turn)) ** 0.6, np.sign(np.sin(turn)) * np.abs(np.sin(turn)) ** 0.6
    lean = rng.normal(0, 0.08) * high * (1 - down)
    x, z = wide / 2 * swell * shape[0] + lean, deep / 2 * swell * shape[1]
    solids.sheet(
        np.stack([x, np.broadcast_to(high * (1 - down), x.shape), z], axis=2),
        "leather" if rng.random() < 0.4 else "cloth",
    )
    handle = np.linspace(0, np.pi, 7)
    points = np.stack([wide / 4 * np.cos(handle), high + 0.12 * np.sin(handle), np.zeros(7)], axis=1)
    solids.rod(points.tolist(), 0.01, "leather")
    return solids.model("Bag", "bag")


def make_cable(rng: np.random.Generator) -> FurnitureModel:
    """Make a cable that winds over the floor, with a plug strip at some."""
    solids = Solids()
    steps = rng.normal(0, 0.5, 14).cumsum()
    points = np.stack([np.cos(steps), np.zeros(14), np.sin(steps)], axis=1).cumsum(axis=0) * rng.uniform(0.04, 0.12)
    points[:, 1] = 0.008
    solids.rod(points.tolist(), rng.uniform(0.004, 0.01), "other")
    if rng.random() < 0.5:
        end = points[-1]
        solids.box((end[0] - 0.15, 0, end[2] - 0.03), (end[0] + 0.15, 0.045, end[2] + 0.03), "other")
    return solids.model("Cable", "cable")


def make_floor_lamp(rng: np.random.Generator) -> FurnitureModel:
    """Make a standing lamp: foot, pole and shade."""
    solids = Solids()
    high, foot, shade = rng.uniform(1.2, 1.9), rng.uniform(0.1, 0.18), rng.uniform(0.1, 0.26)
    solids.turned((0, 0, 0), [(0, 0), (foot, 0), (foot, 0.02), (0.012, 0.03), (0.012, high - 0.15)], "metal")
    low, top = high - rng.uniform(0.18, 0.4), high
    solids.turned((0, 0, 0), [(shade, low), (shade * rng.uniform(0.4, 1.0), top)], "cloth")
    return solids.model("Floor lamp", "lamp")
