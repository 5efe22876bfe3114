"""Meshes are closed surfaces whose triangles face outwards."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.viewer.scene.meshes import cylinder, sphere


@pytest.mark.parametrize("shape", [sphere, cylinder])
def test_triangles_face_outwards(shape):
    vertices, triangles = shape()
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    normal, middle = np.cross(b - a, c - a), (a + b + c) / 3
    outwards = middle * [1, 1, 0] if shape is cylinder else middle
    area = np.linalg.norm(normal, axis=1)
    assert (area > 1e-6).sum() >= 32
    assert ((normal * outwards).sum(axis=1)[area > 1e-6] > 0).all()
