"""Curvature of a candidate's surface."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.segmentation.evidence.surface_curvature import curvature_names, surface_curvature
from posepipe.segmentation.pixel_grid import pixels_of

CAMERA = Intrinsics(300.0, 300.0, 79.5, 59.5)
SHAPE = (120, 160)


def curvature(depth_m: np.ndarray, mask: np.ndarray) -> dict[str, float]:
    numbers = surface_curvature(depth_m.astype(np.float32), mask, pixels_of(mask), CAMERA)
    return dict(zip(curvature_names(), numbers, strict=True))


def upright_cylinder(radius_m: float, axis_m: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Depth and mask of a cylinder with a vertical axis, by the rays of a pinhole camera."""
    cols = np.arange(SHAPE[1])
    slope = (cols - CAMERA.cx) / CAMERA.fx  # x / z of a ray
    a, b, c = 1 + slope**2, -2 * axis_m, axis_m**2 - radius_m**2
    inside = b**2 - 4 * a * c
    row_m = np.where(inside > 0, (-b - np.sqrt(np.maximum(inside, 0))) / (2 * a), 0)
    depth_m = np.tile(row_m, (SHAPE[0], 1))
    return depth_m, depth_m > 0


def test_a_wall_is_flat():
    depth_m = np.full(SHAPE, 2.0)
    found = curvature(depth_m, np.ones(SHAPE, bool))
    assert found["curvature across 0.04 m mean"] == found["curvature along 0.1 m 0.9"] == 0
    assert found["curvature across 0.1 m flat"] == found["curvature along 0.04 m flat"] == 1
    assert 0.7 < found["curvature across 0.1 m measured"] < 1  # the image ends


def test_an_inclined_board_is_flat_too():
    depth_m = 2.0 / (1 - 0.5 * (np.arange(SHAPE[1]) - CAMERA.cx) / CAMERA.fx)  # z = 2 + x / 2
    found = curvature(np.tile(depth_m, (SHAPE[0], 1)), np.ones(SHAPE, bool))
    assert abs(found["curvature across 0.04 m 0.5"]) < 1e-3
    assert found["curvature across 0.04 m flat"] > 0.99


@pytest.mark.parametrize("radius_m", [0.12, 0.2])
def test_a_cylinder_has_squared_distance_over_its_radius(radius_m):
    depth_m, mask = upright_cylinder(radius_m)
    mask &= np.abs(np.arange(SHAPE[1]) - CAMERA.cx) < 4  # its line nearest to the camera
    whole = depth_m.copy()
    pixels = pixels_of(mask)
    numbers = surface_curvature(whole.astype(np.float32), whole > 0, pixels, CAMERA)
    found = dict(zip(curvature_names(), numbers, strict=True))
    step_m = round(0.04 * CAMERA.fx / (2 - radius_m)) * (2 - radius_m) / CAMERA.fx
    assert found["curvature across 0.04 m 0.5"] == pytest.approx(step_m**2 / radius_m, rel=0.15)
    assert found["curvature along 0.04 m 0.5"] == pytest.approx(0, abs=1e-6)


def test_neighbours_on_another_surface_do_not_count():
    depth_m, mask = np.full(SHAPE, 4.0), np.zeros(SHAPE, bool)
    mask[20:100, 78:83] = True  # 3 cm wide
    depth_m[mask] = 2.0
    found = curvature(depth_m, mask)
    assert found["curvature across 0.04 m measured"] == 0
    assert found["curvature across 0.04 m flat"] == -1
    assert found["curvature along 0.04 m measured"] > 0.8
    depth_m[60:, 78:83] = 3.0  # two things, one above the other
    assert curvature(depth_m, mask)["curvature along 0.1 m 0.9"] == 0
