"""Fewer triangles for a mesh, with its silhouette kept: vertex clustering, then collapses of edges by quadric error."""

from __future__ import annotations

import numpy as np

CLUSTERED_TRIANGLES = 12_000
"""Larger meshes are clustered to about this size first."""
SHARE_A_ROUND = 0.3
"""Of the edges that are to go, those that may collapse in one round."""
SMALL_PART = 0.005
"""Share of the whole area below which a connected part counts as small."""
MOSTLY = 0.3
"""Share of the area in small parts from which on they are thinned out."""
PART_TRIANGLES = 4
"""Triangles that a small part needs in the result."""
MAX_ROUNDS = 1000
BORDER_WEIGHT = 4.0
"""Weight of the planes that keep open borders in place."""
FLAT = 1e-3
"""Weight of an edge's length beside its quadric error: flat regions lose their shortest edges first."""


def decimate(
    vertices: np.ndarray, triangles: np.ndarray, groups: np.ndarray, target: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reduce a mesh to about a number of triangles. Some may be turned round: depth images show both sides.

    Meshes of many separate parts, such as leaves, cannot be reduced by collapses alone. They then keep some parts, each
    grown about its middle, so that their total area stays.

    Parameters
    ----------
    vertices : float (V, 3)
    triangles : int (T, 3)
    groups : int (T,)
        A value of each triangle that is kept, such as its material.
    target : int
        Number of triangles.

    Returns
    -------
    vertices : float64 (V', 3)
    triangles : int32 (T', 3)
    groups : (T',)

    References
    ----------
    Garland and Heckbert, SIGGRAPH 1997 (quadric error); Cook et al., Stochastic Simplification of Aggregate Detail,
    Computer Graphics Forum 2007.
    """
    size = float(np.ptp(vertices, axis=0).max())
    mesh = _clustered(vertices, triangles, groups, size * 1e-4)
    cell = size / 150
    while len(mesh[1]) > CLUSTERED_TRIANGLES:
        mesh = _clustered(*mesh, cell)
        cell *= 1.3
    return _compact(*_collapsed(*_thinned(*mesh, target), target))


def _compact(
    vertices: np.ndarray, triangles: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Drop vertices without triangles."""
    used, rows = np.unique(triangles, return_inverse=True)
    return vertices[used], rows.reshape(-1, 3).astype(np.int32), groups


def _clustered(
    vertices: np.ndarray, triangles: np.ndarray, groups: np.ndarray, cell: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge the vertices of each cell of a grid into their mean."""
    keys = np.floor((vertices - vertices.min(axis=0)) / max(cell, 1e-12)).astype(np.int64)
    spans = keys.max(axis=0) + 1
    numbers = (keys[:, 0] * spans[1] + keys[:, 1]) * spans[2] + keys[:, 2]
    _, owner, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(owner, axis, len(counts)) for axis in vertices.T], axis=1) / counts[:, None]
    return means, *_without_degenerate(owner[triangles], groups)


def _without_degenerate(triangles: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop triangles with a repeated corner, and all but one of those with the same corners."""
    a, b, c = triangles.T
    proper = (a != b) & (b != c) & (a != c)
    triangles, groups = triangles[proper], groups[proper]
    corners, span = np.sort(triangles, axis=1).astype(np.int64), int(triangles.max(initial=0)) + 1
    _, first = np.unique((corners[:, 0] * span + corners[:, 1]) * span + corners[:, 2], return_index=True)
    first.sort()
    return triangles[first], groups[first]


def _collapsed(
    vertices: np.ndarray, triangles: np.ndarray, groups: np.ndarray, target: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Collapse edges in rounds, those of smallest error first, each vertex in at most one collapse a round."""
    vertices = vertices.copy()
    quadrics = _quadrics(vertices, triangles)
    size = float(np.ptp(vertices, axis=0).max())
    for _ in range(MAX_ROUNDS):
        if len(triangles) <= target:
            break
        edges = np.stack(np.divmod(np.unique(_edge_numbers(triangles, len(vertices))), len(vertices)), axis=1)
        merged, places, costs = _best_places(vertices, quadrics, edges)
        length = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        order = np.argsort(costs + (FLAT * size * length) ** 2, kind="stable")
        chosen = _independent(edges, order, len(vertices), _allowance(len(triangles), target))
        keep, gone = edges[chosen].T
        vertices[keep], quadrics[keep] = places[chosen], merged[chosen]
        owner = np.arange(len(vertices))
        owner[gone] = keep
        triangles, groups = _without_degenerate(owner[triangles], groups)
    return vertices, triangles, groups


def _edge_numbers(triangles: np.ndarray, n_vertices: int) -> np.ndarray:
    """A number for each side of each triangle, that of the same edge in any direction: int64 (3 T,)."""
    ends = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1).astype(np.int64)
    return ends[:, 0] * n_vertices + ends[:, 1]


def _allowance(count: int, target: int) -> int:
    """Number of collapses in a round; each takes about two triangles."""
    return max(1, int((count - target) / 2 * SHARE_A_ROUND), min(8, (count - target + 1) // 2))


def _quadrics(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Quadric of each vertex: squared distances from the planes of its triangles and open borders, (V, 4, 4)."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    double_area = np.linalg.norm(normals, axis=1)
    units = normals / np.maximum(double_area, 1e-300)[:, None]
    quadrics = np.zeros((len(vertices), 4, 4))
    _add_planes(quadrics, triangles, units, a, double_area / 2)
    halves = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    _, first, counts = np.unique(_edge_numbers(triangles, len(vertices)), return_index=True, return_counts=True)
    border = first[counts == 1]
    start, end = vertices[halves[border, 0]], vertices[halves[border, 1]]
    across = np.cross(end - start, units[border // 3])
    length = np.linalg.norm(across, axis=1)
    across /= np.maximum(length, 1e-300)[:, None]
    _add_planes(quadrics, halves[border], across, start, BORDER_WEIGHT * length**2)
    return quadrics


def _add_planes(
    quadrics: np.ndarray, rows: np.ndarray, units: np.ndarray, through: np.ndarray, weights: np.ndarray
) -> None:
    planes = np.concatenate([units, -(units * through).sum(axis=1, keepdims=True)], axis=1)
    outer = planes[:, :, None] * planes[:, None, :] * weights[:, None, None]
    for corner in rows.T:
        np.add.at(quadrics, corner, outer)


def _best_places(
    vertices: np.ndarray, quadrics: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum of quadrics, best of both ends and the middle, and its error, of each edge."""
    merged = quadrics[edges[:, 0]] + quadrics[edges[:, 1]]
    start, end = vertices[edges[:, 0]], vertices[edges[:, 1]]
    options = np.stack([start, end, (start + end) / 2], axis=1)
    homogeneous = np.concatenate([options, np.ones((*options.shape[:2], 1))], axis=2)
    errors = np.einsum("eoi,eij,eoj->eo", homogeneous, merged, homogeneous)
    best = errors.argmin(axis=1)
    rows = np.arange(len(edges))
    return merged, options[rows, best], np.maximum(errors[rows, best], 0)


def _independent(edges: np.ndarray, order: np.ndarray, n_vertices: int, count: int) -> np.ndarray:
    """Rows of edges that are the first in ``order`` at both of their ends, of the first ``count`` of all.

    Without the limit every small part would lose its cheapest edge in each round, however dear that is.
    """
    rank = np.empty(len(edges), np.int64)
    rank[order] = np.arange(len(edges))
    first = np.full(n_vertices, len(edges), np.int64)
    np.minimum.at(first, edges[:, 0], rank)
    np.minimum.at(first, edges[:, 1], rank)
    free = (first[edges[:, 0]] == rank) & (first[edges[:, 1]] == rank)
    return order[:count][free[order[:count]]]


def _sides(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return b - a, c - a


def _thinned(
    vertices: np.ndarray, triangles: np.ndarray, groups: np.ndarray, target: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keep every k-th small part of a mesh that is mostly small parts, grown so that their total area stays."""
    part = _connected_parts(len(vertices), triangles)[triangles[:, 0]]
    _, part, counts = np.unique(part, return_inverse=True, return_counts=True)
    part = part.reshape(-1)
    areas = np.bincount(part, np.linalg.norm(np.cross(*_sides(vertices, triangles)), axis=1))
    is_small = areas < SMALL_PART * areas.sum()
    small_parts = int(np.count_nonzero(is_small))
    every = -(-small_parts * PART_TRIANGLES // target)
    if every <= 1 or areas[is_small].sum() < MOSTLY * areas.sum():
        return vertices, triangles, groups
    kept_part = ~is_small | (np.cumsum(is_small) % every == 0)
    kept = kept_part[part]
    triangles, groups, part = triangles[kept], groups[kept], part[kept]
    apart = vertices[triangles]  # corners of each triangle, moved with its part
    sums = np.stack([np.bincount(part, axis, len(counts)) for axis in apart.mean(axis=1).T], axis=1)
    middles = sums / np.maximum(np.bincount(part, minlength=len(counts)), 1)[:, None]
    scale = np.where(is_small, np.sqrt(every), 1.0)[part][:, None, None]
    centre = middles[part][:, None]
    moved = centre + (apart - centre) * scale
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    corners = np.arange(len(triangles) * 3).reshape(-1, 3)
    return _clustered(np.clip(moved, low, high).reshape(-1, 3), corners, groups, float((high - low).max()) * 1e-4)


def _connected_parts(n_vertices: int, triangles: np.ndarray) -> np.ndarray:
    """Number of the part that each vertex belongs to: the smallest vertex of that part."""
    part = np.arange(n_vertices)
    while True:
        lowest = part[triangles].min(axis=1)
        lower = part.copy()
        for corner in triangles.T:
            np.minimum.at(lower, corner, lowest)
        lower = lower[lower]
        if (lower == part).all():
            return part
        part = lower
