"""Meshes made from formulas: boxes, capsules, and several joined."""

import numpy as np
import pytest

from synth.geometry.mesh import BACKGROUND, HELD, Mesh, box, capsule


def test_a_box_is_closed_and_as_large_as_asked():
    mesh = box((0, 1, 2), (3, 5, 9), BACKGROUND)
    assert (mesh.vertices_m.min(axis=0) == [0, 1, 2]).all()
    assert (mesh.vertices_m.max(axis=0) == [3, 5, 9]).all()
    t = mesh.triangles
    edges = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    corners = mesh.vertices_m[t]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    assert areas.sum() == pytest.approx(2 * (3 * 4 + 4 * 7 + 3 * 7))


def test_a_capsules_skin_lies_at_its_radius():
    start, end = np.array([0.0, 0, 0]), np.array([0.3, 0.4, 0])
    skin = capsule(start, end, (0.1, 0.1)).reshape(-1, 3)
    along = np.clip(skin @ (end - start) / 0.25, 0, 1)
    np.testing.assert_allclose(np.linalg.norm(skin - along[:, None] * end, axis=1), 0.1, atol=1e-9)


def test_joined_meshes_keep_their_triangles():
    one, two = box((0, 0, 0), (1, 1, 1), BACKGROUND), box((2, 0, 0), (3, 1, 1), HELD)
    both = Mesh.join([one, two])
    np.testing.assert_array_equal(both.vertices_m[both.triangles[12:]], two.vertices_m[two.triangles])
    assert both.labels.tolist() == [BACKGROUND] * 12 + [HELD] * 12
