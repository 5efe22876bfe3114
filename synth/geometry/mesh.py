"""Meshes of boxes, sheets and capsules, and the labels of triangles that are no body part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

AROUND, ALONG, CAP_RINGS = 14, 8, 4
"""Corners of a capsule's cross-section, rings along it, and rings of each rounded end."""
HELD = 255
"""Label of held objects while a frame is rendered: they belong to a person and are no part."""
BACKGROUND = 254
"""Label of rooms and furniture while a frame is rendered: they belong to no person."""

_BOX_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
_BOX_QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
_BOX_TRIANGLES = np.array([t for a, b, c, d in _BOX_QUADS for t in ((a, b, c), (a, c, d))], np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Labelled triangles."""

    vertices_m: np.ndarray  #: float (V, 3), metres
    triangles: np.ndarray  #: int32 (T, 3)
    labels: np.ndarray  #: uint8 (T,), part codes, HELD or BACKGROUND
    n_closed: int = 0  #: number of triangles at the beginning that make a closed surface, see `render_depth`
    materials: np.ndarray | None = None  #: uint8 (T,), class of each surface; None = unknown, as 0 is
    objects: np.ndarray | None = None  #: uint16 (T,), number of the thing that each is of, from 1; None = of one thing
    two_sided: bool = False  #: whether triangles have either winding, as those of models; see `facing`

    @staticmethod
    def join(meshes: Sequence[Mesh]) -> Mesh:
        """Return several meshes as one."""
        first = np.cumsum([0, *(len(m.vertices_m) for m in meshes)])
        return Mesh(
            np.concatenate([m.vertices_m for m in meshes]),
            np.concatenate([m.triangles + offset for m, offset in zip(meshes, first[:-1], strict=True)]).astype(
                np.int32
            ),
            np.concatenate([m.labels for m in meshes]),
            meshes[0].n_closed,
            _joined_materials(meshes),
            two_sided=any(m.two_sided for m in meshes),
        )

    def facing(self, eye_m: np.ndarray) -> Mesh:
        """Return the triangles that face a point (3,), metres, of closed surfaces, counter-clockwise from outside.

        Of a mesh with two sides, all triangles are returned.
        """
        if self.two_sided:
            return self
        a, b, c = np.moveaxis(self.vertices_m[self.triangles], 1, 0)
        facing = (np.cross(b - a, c - a) * (eye_m - a)).sum(axis=1) > 0
        return Mesh(self.vertices_m, self.triangles[facing], self.labels[facing])


def _joined_materials(meshes: Sequence[Mesh]) -> np.ndarray | None:
    if all(mesh.materials is None for mesh in meshes):
        return None
    return np.concatenate(
        [np.zeros(len(m.triangles), np.uint8) if m.materials is None else m.materials for m in meshes]
    )


def box(min_m: Sequence[float], max_m: Sequence[float], label: int) -> Mesh:
    """Return an upright box between its corners of min and max coordinates."""
    corner = np.asarray(min_m, float)
    vertices = corner + _BOX_CORNERS * (np.asarray(max_m, float) - corner)
    return Mesh(vertices, _BOX_TRIANGLES, np.full(len(_BOX_TRIANGLES), label, np.uint8))


def rings_mesh(rings_m: np.ndarray, labels: np.ndarray) -> Mesh:
    """Return a surface through closed rings of corners, float (R, A, 3); ``labels`` uint8 (R - 1, A) are of quads."""
    n_rings, around = rings_m.shape[:2]
    return Mesh(rings_m.reshape(-1, 3), ring_triangles(n_rings, around), np.repeat(labels.reshape(-1), 2))


def ring_triangles(n_rings: int, around: int) -> np.ndarray:
    """Return the triangles between neighbouring rings of corners, quad by quad: int32 (2 (n_rings - 1) around, 3)."""
    ring, corner = np.mgrid[: n_rings - 1, :around]
    a, b = ring * around + corner, ring * around + (corner + 1) % around
    return np.stack([a, b, a + around, b, b + around, a + around], axis=-1).reshape(-1, 3).astype(np.int32)


def capsule(start_m: np.ndarray, end_m: np.ndarray, radius_m: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the rings of a capsule tapered from one radius to another: float64 (2 CAP_RINGS + ALONG, AROUND, 3)."""
    axis = end_m - start_m
    length = float(np.linalg.norm(axis))
    axis = axis / length if length > 0 else np.array([0.0, 1.0, 0.0])
    across = np.cross(axis, [1.0, 0, 0] if abs(axis[0]) < 0.9 else [0, 1.0, 0])
    across /= np.linalg.norm(across)
    along, wide = _profile(radius_m, length)
    turn = np.arange(AROUND) * 2 * np.pi / AROUND
    ring = np.cos(turn)[:, None] * across + np.sin(turn)[:, None] * np.cross(axis, across)
    return start_m + along[:, None, None] * axis + wide[:, None, None] * ring


def _profile(radius_m: Sequence[float] | np.ndarray, length_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions along a capsule and the radius at each, from pole to pole: (R,) each."""
    angle = np.linspace(0, np.pi / 2, CAP_RINGS + 1)
    share = np.linspace(0, 1, ALONG)
    first = -radius_m[0] * np.cos(angle[:-1]), radius_m[0] * np.sin(angle[:-1])
    middle = share * length_m, radius_m[0] + (radius_m[1] - radius_m[0]) * share
    last = length_m + radius_m[1] * np.sin(angle[1:]), radius_m[1] * np.cos(angle[1:])
    along, wide = (np.concatenate(parts) for parts in zip(first, middle, last, strict=True))
    return along, wide
