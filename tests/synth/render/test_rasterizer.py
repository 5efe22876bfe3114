"""The rasterizer: images small enough to check by eye, and what holds for all images."""

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from synth.render.rasterizer import paint, render_depth
from tests.synth.render.spheres import sphere

MILLIMETRE = 1e-3
SMALL = Intrinsics(50.0, 52.0, 31.5, 23.5)  #: of an image of 64 x 48
SIZE = (48, 64)


def _grid(rng, count=12):
    """A rough sheet that fills the image and more: every inner edge has a triangle on both sides."""
    rows, cols = np.mgrid[: count + 1, : count + 1]
    x, y = (cols / count - 0.5) * 6, (rows / count - 0.5) * 6
    points = np.stack([x, y, np.full_like(x, 2.0)], -1) + rng.uniform(-0.15, 0.15, (*x.shape, 3))
    here = (rows * (count + 1) + cols)[:-1, :-1].ravel()
    faces = [[here, here + 1, here + count + 2], [here, here + count + 2, here + count + 1]]
    return points.reshape(-1, 3).astype(np.float32), np.concatenate([np.stack(f, -1) for f in faces]).astype(np.int32)


def test_a_triangle_covers_the_pixels_one_sees_it_cover():
    camera = Intrinsics(1.0, 1.0, 0.0, 0.0)  # at a depth of 1 m a metre is a pixel
    corners = np.array([[1, 1, 1], [4, 1, 1], [1, 4, 1]], np.float32)
    depth_m, ids = render_depth(corners, [[0, 1, 2]], camera, 6, 6)
    expected = ["......", ".####.", ".###..", ".##...", ".#....", "......"]
    assert ["".join("#" if i == 0 else "." for i in row) for row in ids] == expected
    np.testing.assert_array_equal(depth_m, (ids == 0).astype(np.float32))


@pytest.mark.parametrize("turn", [[0, 1, 2], [1, 2, 0], [2, 1, 0]])
def test_winding_and_first_corner_change_nothing(turn):
    corners = np.array([[-0.5, -0.4, 1.2], [0.6, -0.3, 2.0], [0.1, 0.7, 1.5]], np.float32)
    depth_m, ids = render_depth(corners, [turn], SMALL, *SIZE)
    straight, _ = render_depth(corners, [[0, 1, 2]], SMALL, *SIZE)
    np.testing.assert_array_equal(ids == 0, straight > 0)
    np.testing.assert_allclose(depth_m, straight, atol=1e-6)  # float32: the last bit


def test_a_slanted_plane_has_exact_depth():
    camera = Intrinsics(285.6, 285.6, 159.5, 119.5)
    # z = 3 + 0.5 x - 0.1 y, over a square that fills the image
    xy = np.array([[-4, -3], [4, -3], [4, 3], [-4, 3]], float)
    corners = np.column_stack([xy, 3 + xy @ [0.5, -0.1]]).astype(np.float32)
    depth_m, _ = render_depth(corners, [[0, 1, 2], [0, 2, 3]], camera, 240, 320)
    rows, cols = np.indices(depth_m.shape)
    exact = 3 / (1 - 0.5 * (cols - camera.cx) / camera.fx + 0.1 * (rows - camera.cy) / camera.fy)
    assert np.abs(depth_m - exact).max() < 0.1 * MILLIMETRE


@pytest.mark.parametrize("seed", range(3))
def test_neighbouring_triangles_leave_no_gap(seed):
    vertices, triangles = _grid(np.random.default_rng(seed))
    _, ids = render_depth(vertices, triangles, Intrinsics(285.6, 285.6, 159.5, 119.5), 240, 320)
    assert (ids >= 0).all()


def test_edges_through_pixel_centres_leave_no_gap():
    camera = Intrinsics(10.0, 10.0, 0.0, 0.0)
    rows, cols = np.mgrid[:5, :5]
    points = np.stack([cols * 0.2, rows * 0.2, np.ones_like(rows)], -1).reshape(-1, 3).astype(np.float32)
    here = (rows * 5 + cols)[:-1, :-1].ravel()
    triangles = np.concatenate([np.stack([here, here + 1, here + 6], -1), np.stack([here, here + 6, here + 5], -1)])
    _, ids = render_depth(points, triangles, camera, 9, 9)
    assert (ids >= 0).all()


def test_a_sphere_is_a_disc_without_holes():
    vertices, triangles = sphere([0.1, -0.05, 2.0], 0.6, turns=200, rings=100)
    camera = Intrinsics(285.6, 285.6, 159.5, 119.5)
    depth_m, _ = render_depth(vertices, triangles, camera, 240, 320)
    for line in (*(depth_m > 0), *(depth_m > 0).T):
        covered = np.flatnonzero(line)
        assert len(covered) == 0 or len(covered) == covered[-1] - covered[0] + 1
    points = camera.deproject(depth_m)[depth_m > 0]
    away = np.linalg.norm(points - [0.1, -0.05, 2.0], axis=1)
    assert away.max() < 0.6 + 1e-5
    assert away.min() > 0.6 * np.cos(np.pi / 100) ** 2 - 1e-5  # the middle of a facet


def test_the_nearer_triangle_wins_in_either_order():
    square = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], np.float32)
    vertices = np.concatenate([square + np.float32([0, 0, z]) for z in (2, 3)])
    for triangles, nearer in (([[0, 1, 2], [3, 4, 5]], 0), ([[3, 4, 5], [0, 1, 2]], 1)):
        depth_m, ids = render_depth(vertices, triangles, SMALL, *SIZE)
        assert ids[20, 31] == nearer
        assert depth_m[20, 31] == 2


def test_what_lies_behind_the_camera_is_never_drawn():
    vertices, triangles = sphere([0, 0, -1.0], 0.5, turns=12, rings=6)
    depth_m, ids = render_depth(vertices, triangles, SMALL, *SIZE)
    assert not depth_m.any()
    assert (ids == -1).all()


def test_a_floor_from_behind_the_camera_is_clipped_at_near():
    floor = np.array([[-9, 1, -5], [9, 1, -5], [9, 1, 8], [-9, 1, 8]], np.float32)
    depth_m, ids = render_depth(floor, [[0, 1, 2], [0, 2, 3]], SMALL, *SIZE)
    rows = np.arange(SIZE[0])
    exact = np.where(rows > SMALL.cy, SMALL.fy / np.maximum(rows - SMALL.cy, 1e-9), 0)
    exact[exact > 8] = 0
    np.testing.assert_allclose(depth_m, np.repeat(exact[:, None], SIZE[1], 1), atol=0.1 * MILLIMETRE)
    np.testing.assert_array_equal(ids >= 0, depth_m > 0)


def _outwards(vertices, triangles):
    """The triangles of a closed convex body, counter-clockwise seen from outside."""
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = (normals * (corners.mean(axis=1) - vertices.mean(axis=0))).sum(axis=1) < 0
    return np.where(inwards[:, None], triangles[:, ::-1], triangles)


@pytest.mark.parametrize("z_m", [1.5, 0.5, 0.2])
def test_front_faces_of_a_closed_mesh_make_the_same_image(z_m):
    vertices, triangles = sphere([0.05, 0, z_m], 0.3)
    triangles = _outwards(vertices, triangles)
    both, _ = render_depth(vertices, triangles, SMALL, *SIZE)
    fronts, ids = render_depth(vertices, triangles, SMALL, *SIZE, n_closed=len(triangles))
    np.testing.assert_array_equal(fronts, both)
    if z_m == 1.5:
        backs = render_depth(vertices, triangles[:, ::-1], SMALL, *SIZE, n_closed=len(triangles))[0]
        assert (backs[fronts > 0] > fronts[fronts > 0]).mean() > 0.9  # seen into, like a bowl
        assert len(np.unique(ids)) < len(triangles) / 2 + 1


def test_two_meshes_share_one_picture():
    far, far_faces = sphere([0, 0, 3.0], 0.8, turns=20, rings=10)
    near, near_faces = sphere([0.3, 0, 2.0], 0.3, turns=12, rings=6)
    depth_m, ids = render_depth(far, far_faces, SMALL, *SIZE)
    again = render_depth(near, near_faces, SMALL, *SIZE, depth_m, ids, first_id=len(far_faces))
    assert again[0] is depth_m
    both = render_depth(np.concatenate([far, near]), np.concatenate([far_faces, near_faces + len(far)]), SMALL, *SIZE)
    np.testing.assert_array_equal(depth_m, both[0])
    np.testing.assert_array_equal(ids, both[1])


def test_paint_gives_each_pixel_the_label_of_its_triangle():
    ids = np.array([[-1, 0], [2, 1]], np.int32)
    np.testing.assert_array_equal(paint(ids, np.array([7, 8, 9], np.uint8)), np.array([[0, 7], [9, 8]], np.uint8))


def test_an_empty_mesh_is_an_empty_picture():
    depth_m, ids = render_depth(np.zeros((0, 3)), np.zeros((0, 3), np.int32), SMALL, *SIZE)
    assert not depth_m.any()
    assert (paint(ids, np.zeros(0, np.uint8)) == 0).all()


def test_arrays_that_are_no_mesh_are_refused():
    corners = np.ones((3, 3), np.float32)
    with pytest.raises(ValueError, match=r"outside 0\.\.2"):
        render_depth(corners, [[0, 1, 3]], SMALL, *SIZE)
    with pytest.raises(ValueError, match="finite"):
        render_depth(corners * np.nan, [[0, 1, 2]], SMALL, *SIZE)
    with pytest.raises(ValueError, match="both buffers"):
        render_depth(corners, [[0, 1, 2]], SMALL, *SIZE, np.zeros(SIZE, np.float32))
    with pytest.raises(ValueError, match="float32"):
        render_depth(corners, [[0, 1, 2]], SMALL, *SIZE, np.zeros(SIZE), np.full(SIZE, -1, np.int32))
