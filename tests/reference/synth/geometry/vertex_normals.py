"""Naive twin of synth/geometry/vertex_normals.py: cross products of a vertex's triangles, summed and made unit."""

import numpy as np


def vertex_normals(vertices, triangles):
    normals = np.zeros(np.shape(vertices))
    for a, b, c in triangles:
        across = np.cross(np.subtract(vertices[b], vertices[a], dtype=float), np.subtract(vertices[c], vertices[a]))
        for corner in (a, b, c):
            normals[corner] += across  # twice the triangle's area long, so that large triangles count more
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
