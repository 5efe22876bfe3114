"""Furniture made by code: boxes, rods, turned shapes and cloth, each of a material, joined to a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.furniture.kinds import MATERIALS
from synth.furniture.model_bank import FurnitureModel
from synth.geometry.mesh import BACKGROUND, box, ring_triangles

ROD_CORNERS = 8
"""Corners of the cross-section of rods and turned shapes."""


class Solids:
    """Collects the parts of one model. Lengths in metres, y up, the front towards +z."""

    def __init__(self) -> None:
        self._vertices: list[np.ndarray] = []
        self._triangles: list[np.ndarray] = []
        self._materials: list[np.ndarray] = []
        self._count = 0

    def box(self, low_m: Sequence[float], high_m: Sequence[float], material: str = "other") -> None:
        """Add an upright box between two corners."""
        mesh = box(low_m, high_m, BACKGROUND)
        self._add(mesh.vertices_m, mesh.triangles, material)

    def rod(self, points_m: Sequence[Sequence[float]], radius_m: float, material: str = "metal") -> None:
        """Add a bent tube through points."""
        points = np.asarray(points_m, float)
        along = np.gradient(points, axis=0) if len(points) > 2 else np.diff(points, axis=0).repeat(2, axis=0)
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        helper = np.where(np.abs(along[:, :1]) < 0.9, [[1.0, 0, 0]], [[0, 1.0, 0]])
        across = np.cross(along, helper)
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        turn = np.arange(ROD_CORNERS) * 2 * np.pi / ROD_CORNERS
        ring = (
            np.cos(turn)[None, :, None] * across[:, None]
            + np.sin(turn)[None, :, None] * np.cross(along, across)[:, None]
        )
        rings = points[:, None] + radius_m * ring
        self._add(rings.reshape(-1, 3), ring_triangles(len(points), ROD_CORNERS), material)

    def turned(
        self,
        centre_m: Sequence[float],
        profile_m: Sequence[Sequence[float]],
        material: str = "other",
        corners: int = 14,
    ) -> None:
        """Add a shape turned about the vertical; the profile has rows (radius, height above the centre)."""
        profile = np.asarray(profile_m, float)
        turn = np.arange(corners) * 2 * np.pi / corners
        ring = np.stack([np.cos(turn), np.zeros(corners), np.sin(turn)], axis=1)
        rings = np.asarray(centre_m) + profile[:, :1, None] * ring + profile[:, 1:, None] * np.array([0, 1.0, 0])
        self._add(rings.reshape(-1, 3), ring_triangles(len(profile), corners), material)

    def sheet(self, points_m: np.ndarray, material: str = "cloth") -> None:
        """Add a surface through a grid of points, float (R, C, 3)."""
        n_rows, n_columns = points_m.shape[:2]
        row, column = np.mgrid[: n_rows - 1, : n_columns - 1]
        a = row * n_columns + column
        quads = np.stack([a, a + 1, a + n_columns, a + 1, a + n_columns + 1, a + n_columns], axis=-1)
        self._add(points_m.reshape(-1, 3), quads.reshape(-1, 3), material)

    def part(self, vertices_m: np.ndarray, triangles: np.ndarray, materials: np.ndarray) -> None:
        """Add triangles with materials of their own, uint8 (T,)."""
        self._add(vertices_m, triangles, "other")
        self._materials[-1] = materials

    def model(self, name: str, kind: str, elevation_m: float = 0.0, top_m: float | None = None) -> FurnitureModel:
        """Return all parts as a model, its lowest point on the floor, its middle above the origin."""
        vertices = np.concatenate(self._vertices)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        centred = vertices - [(low[0] + high[0]) / 2, low[1], (low[2] + high[2]) / 2]
        triangles, materials = np.concatenate(self._triangles), np.concatenate(self._materials)
        size_m = np.maximum(high - low, 1e-3)
        return FurnitureModel(name, kind, size_m, centred, triangles, materials, elevation_m, top_m)

    def _add(self, vertices_m: np.ndarray, triangles: np.ndarray, material: str) -> None:
        self._vertices.append(vertices_m)
        self._triangles.append((triangles + self._count).astype(np.int32))
        self._materials.append(np.full(len(triangles), MATERIALS.index(material), np.uint8))
        self._count += len(vertices_m)


def folds(
    width_m: float, height_m: float, depth_m: float, rng: np.random.Generator, rows: int = 6, columns: int = 20
) -> np.ndarray:
    """Return hanging cloth in vertical folds: float (rows, columns, 3), its upper edge straight at y = height."""
    across = np.linspace(0, 1, columns)
    down = np.linspace(0, 1, rows)[:, None]
    waves = rng.uniform(0, 2 * np.pi) + across * 2 * np.pi * max(1.0, width_m * rng.uniform(3, 7))
    waves = waves + np.cumsum(rng.normal(0, 0.25, columns))
    z = depth_m * (0.25 + 0.75 * down) * 0.5 * np.sin(waves + 0.6 * down * rng.normal())
    x = np.broadcast_to((across - 0.5) * width_m, z.shape) * (1 - 0.08 * down * rng.random())
    y = np.broadcast_to(height_m * (1 - down), z.shape)
    return np.stack([x, y, z], axis=2)
