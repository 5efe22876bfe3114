"""Spheres of triangles, to be drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def sphere(
    centre: np.ndarray | Sequence[float], radius: float, turns: int = 40, rings: int = 20
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices float32 and triangles of a closed sphere whose poles lie above and below."""
    polar = np.pi * np.arange(1, rings) / rings
    around = 2 * np.pi * np.arange(turns) / turns
    ring = np.stack(np.broadcast_arrays(np.cos(around), 0 * around, np.sin(around)), -1)
    bands = np.sin(polar)[:, None, None] * ring + np.cos(polar)[:, None, None] * [0, 1, 0]
    points = np.concatenate([bands.reshape(-1, 3), [[0, 1, 0], [0, -1, 0]]])
    here = np.arange((rings - 2) * turns).reshape(-1, turns)
    right = np.roll(here, -1, 1)
    first, last = np.arange(turns), np.arange(turns) + (rings - 2) * turns
    faces = [
        np.stack([here, right, right + turns], -1).reshape(-1, 3),
        np.stack([here, right + turns, here + turns], -1).reshape(-1, 3),
        np.stack([np.full(turns, len(points) - 2), np.roll(first, -1), first], -1),
        np.stack([np.full(turns, len(points) - 1), last, np.roll(last, -1)], -1),
    ]
    return (np.asarray(centre) + radius * points).astype(np.float32), np.concatenate(faces).astype(np.int32)
