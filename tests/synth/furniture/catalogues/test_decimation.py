"""Decimated meshes: few triangles, the same shape."""

import numpy as np
import pytest

from synth.furniture.catalogues.decimation import decimate
from synth.geometry.mesh import BACKGROUND, Mesh, box, capsule, rings_mesh


def ball(radius_m=0.5):
    rings = capsule(np.zeros(3), np.array([0, 1e-3, 0]), (radius_m, radius_m))
    return rings_mesh(rings, np.zeros((len(rings) - 1, rings.shape[1]), np.uint8))


def dense_box(low, high, steps=8):
    """A box whose faces are grids."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    share = np.linspace(0, 1, steps)
    meshes = []
    for axis in range(3):
        for end in (0.0, 1.0):
            grid = np.empty((steps, steps, 3))
            grid[..., axis] = end
            grid[..., (axis + 1) % 3], grid[..., (axis + 2) % 3] = np.meshgrid(share, share)
            row, column = np.mgrid[: steps - 1, : steps - 1]
            a = (row * steps + column).ravel()
            quads = [np.stack([a, a + 1, a + steps], 1), np.stack([a + 1, a + steps + 1, a + steps], 1)]
            triangles = np.concatenate(quads).astype(np.int32)
            meshes.append(
                Mesh((low + grid * (high - low)).reshape(-1, 3), triangles, np.zeros(len(triangles), np.uint8))
            )
    return Mesh.join(meshes)


def area(vertices, triangles):
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def test_a_ball_stays_a_ball():
    mesh = ball()
    vertices, triangles, groups = decimate(mesh.vertices_m, mesh.triangles, mesh.labels, 100)
    assert len(triangles) == len(groups) <= 100
    radii = np.linalg.norm(vertices, axis=1)
    assert radii.min() > 0.4
    assert radii.max() < 0.55


def test_thin_legs_outlive_a_detailed_top():
    legs = [dense_box((x - 0.02, 0, z - 0.02), (x + 0.02, 0.7, z + 0.02)) for x in (-0.5, 0.5) for z in (-0.3, 0.3)]
    top = ball(0.4)
    top = Mesh(top.vertices_m * [1, 0.2, 1] + [0, 0.75, 0], top.triangles, top.labels)
    mesh = Mesh.join([*legs, top])
    vertices, triangles, _ = decimate(mesh.vertices_m, mesh.triangles, mesh.labels, 200)
    assert 100 < len(triangles) <= 200
    for x in (-0.5, 0.5):
        for z in (-0.3, 0.3):
            near = vertices[(np.abs(vertices[:, 0] - x) < 0.05) & (np.abs(vertices[:, 2] - z) < 0.05)]
            assert np.ptp(near[:, 1]) > 0.69


def test_groups_stay_with_their_surfaces():
    one, other = dense_box((0, 0, 0), (1, 1, 1)), dense_box((2, 0, 0), (3, 1, 1))
    mesh = Mesh.join([one, other])
    groups = np.repeat([3, 5], [len(one.triangles), len(other.triangles)])
    vertices, triangles, kept = decimate(mesh.vertices_m, mesh.triangles, groups, 60)
    sides = vertices[triangles][:, :, 0].mean(axis=1) > 1.5
    np.testing.assert_array_equal(kept, np.where(sides, 5, 3))


def test_many_leaves_become_fewer_and_larger():
    rng = np.random.default_rng(4)
    places = rng.uniform(-0.5, 0.5, (2000, 3))
    mesh = Mesh.join([box(at, at + [0.03, 0.001, 0.02], BACKGROUND) for at in places])
    vertices, triangles, _ = decimate(mesh.vertices_m, mesh.triangles, mesh.labels, 400)
    assert len(triangles) <= 400
    assert area(vertices, triangles) == pytest.approx(area(mesh.vertices_m, mesh.triangles), rel=0.6)
    np.testing.assert_allclose(np.ptp(vertices, axis=0), np.ptp(mesh.vertices_m, axis=0), atol=0.15)


def test_decimation_repeats_and_leaves_small_meshes_alone():
    mesh = ball()
    one, other = (decimate(mesh.vertices_m, mesh.triangles, mesh.labels, 150) for _ in range(2))
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)
    cube = box((0, 0, 0), (1, 1, 1), BACKGROUND)
    assert len(decimate(cube.vertices_m, cube.triangles, cube.labels, 100)[1]) == 12
