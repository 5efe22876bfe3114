"""Shaded depth: near surfaces and those that face the light are bright, and sensor noise is smoothed."""

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.sinks.images.shading import TO_LIGHT, shade_depth, surface_normals

CAMERA = Intrinsics(200.0, 210.0, 49.5, 39.5)
ROWS, COLS = np.indices((80, 100))


def plane(normal, distance_m):
    """Depth of the points p with normal . p = -distance: float32 (80, 100), metres."""
    rays = np.stack([(COLS - CAMERA.cx) / CAMERA.fx, (ROWS - CAMERA.cy) / CAMERA.fy, np.ones(ROWS.shape)], axis=-1)
    return (-distance_m / (rays @ normal)).astype(np.float32)


@pytest.mark.parametrize("normal", [(0, 0, -1), (0.6, 0, -0.8), (0, -0.6, -0.8), (-0.36, 0.48, -0.8)])
def test_a_plane_has_its_own_normal_everywhere(normal):
    normals = surface_normals(plane(normal, 2.0), CAMERA)
    np.testing.assert_allclose(normals[1:-1, 1:-1], np.broadcast_to(normal, (78, 98, 3)), atol=0.02)


def test_surfaces_that_face_the_light_are_brighter():
    lit, away = (shade_depth(plane(TO_LIGHT * turn, 2.0), CAMERA).mean() for turn in ((1, 1, 1), (-1, -1, 1)))
    assert lit > 1.5 * away > 0


def test_near_is_brighter_than_far_and_no_reading_is_black():
    depth_m = np.full((80, 100), 1.0, np.float32)
    depth_m[:, 50:] = 3.0
    depth_m[:10] = 0
    shade = shade_depth(depth_m, CAMERA)
    assert shade[40, 20] > shade[40, 80] > 0
    assert not shade[:10].any()
    assert shade.dtype == np.float32
    assert shade.max() <= 1


def test_an_edge_is_no_slope():
    depth_m = np.full((80, 100), 1.0, np.float32)
    depth_m[:, 50:] = 3.0
    np.testing.assert_allclose(surface_normals(depth_m, CAMERA), np.broadcast_to((0, 0, -1), (80, 100, 3)), atol=1e-6)


def test_nothing_seen_is_black():
    assert not shade_depth(np.zeros((8, 8), np.float32), CAMERA).any()
