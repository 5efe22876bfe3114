"""Kernel: the outward direction at every vertex of a mesh."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def vertex_normals(vertices, triangles):
    """Area-weighted unit normals: float32 (V, 3) of vertices (V, 3), triangles int32 (T, 3)."""
    normals = np.zeros_like(vertices)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ex, ey, ez = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
        fx, fy, fz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
        nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
        for v in (a, b, c):
            normals[v, 0] += nx
            normals[v, 1] += ny
            normals[v, 2] += nz
    for v in range(len(normals)):
        length = math.sqrt(normals[v, 0] ** 2 + normals[v, 1] ** 2 + normals[v, 2] ** 2)
        if length > 0:
            for k in range(3):
                normals[v, k] /= length
    return normals
