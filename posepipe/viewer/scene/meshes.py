"""Meshes of the two shapes that skeletons are drawn with: a sphere and a cylinder of size 1."""

from __future__ import annotations

import numpy as np

SIDES, RINGS = 16, 10
"""Number of facets around a shape, and from pole to pole of a sphere."""


def sphere() -> tuple[np.ndarray, np.ndarray]:
    """Sphere of radius 1 about the origin: vertices float32 (V, 3), triangles int32 (F, 3)."""
    polar = np.linspace(0, np.pi, RINGS + 1)
    return _surface_of_revolution(np.sin(polar), -np.cos(polar))


def cylinder() -> tuple[np.ndarray, np.ndarray]:
    """Cylinder of radius 1 along z from 0 to 1, without end caps, because its ends lie inside joints."""
    return _surface_of_revolution(np.ones(2), np.array([0.0, 1.0]))


def _surface_of_revolution(radii: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A surface about the z axis, facing outwards, from rings of vertices, the lowest first."""
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    x, y = radii[:, None] * np.cos(angles), radii[:, None] * np.sin(angles)
    vertices = np.stack([x, y, np.broadcast_to(heights[:, None], x.shape)], axis=-1).reshape(-1, 3)
    ring, side = (index.ravel() for index in np.indices((len(radii) - 1, SIDES)))
    here, beside = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
    low, high = np.stack([here, beside, here + SIDES], axis=1), np.stack([beside, beside + SIDES, here + SIDES], axis=1)
    return vertices.astype(np.float32), np.concatenate([low, high]).astype(np.int32)
