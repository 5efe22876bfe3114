"""Kernel: the outward normal at every vertex of a mesh."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import njit


@njit(cache=True)
def vertex_normals(vertices, triangles):
    """Return area-weighted unit normals: float32 (V, 3) of vertices (V, 3), triangles int32 (T, 3).

    References
    ----------
    Naive twin: tests/reference/synth/geometry/vertex_normals.py
    """
    normals = np.zeros_like(vertices)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
        ex, ey, ez = vertices[b, 0] - ax, vertices[b, 1] - ay, vertices[b, 2] - az
        fx, fy, fz = vertices[c, 0] - ax, vertices[c, 1] - ay, vertices[c, 2] - az
        nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
        for v in (a, b, c):
            normals[v, 0] += nx
            normals[v, 1] += ny
            normals[v, 2] += nz
    for v in range(len(normals)):
        x, y, z = normals[v, 0], normals[v, 1], normals[v, 2]
        length = math.sqrt(x * x + y * y + z * z)
        scale = 1 / length if length > 0 else length  # a zero vector stays 0
        normals[v, 0], normals[v, 1], normals[v, 2] = x * scale, y * scale, z * scale
    return normals
