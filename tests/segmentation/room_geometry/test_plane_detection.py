"""Planes of a room: found where they are, and people in front of them are kept."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics, Plane
from posepipe.segmentation.room_geometry.plane_detection import before_planes, find_planes, floor_of, plane_tolerance_m
from tests.support.rooms import CAMERA, HEIGHT_M, SHAPE, WALL_M, empty_room, plane_depth, room_normals, with_box


def noisy(depth_m: np.ndarray, seed: int = 0) -> np.ndarray:
    """Noise of a Kinect v1, 1.4 cm at 3 m (Nguyen et al. 2012: constant in disparity)."""
    noise = np.random.default_rng(seed).normal(size=depth_m.shape) * 0.0016 * depth_m**2
    return np.where(depth_m > 0, depth_m + noise, 0).astype(np.float32)


@pytest.mark.parametrize("pitch_deg", [0, 10, 20, 40])
@pytest.mark.parametrize("blur", [False, True])
def test_floor_and_wall_are_found_to_a_degree_and_2_cm(pitch_deg, blur):
    depth_m = empty_room(pitch_deg)
    planes = find_planes(noisy(depth_m) if blur else depth_m, CAMERA)
    floor = floor_of(planes)
    assert floor is not None
    for normal, distance_m in zip(room_normals(pitch_deg), (HEIGHT_M, WALL_M), strict=True):
        if not np.isclose(depth_m, plane_depth(normal, distance_m), atol=1e-3).mean() > 0.05:
            continue  # hardly in view
        nearest = max(planes, key=lambda plane: np.dot(plane.normal, normal))
        assert np.dot(nearest.normal, normal) > np.cos(np.radians(1))
        assert abs(nearest.distance_m - distance_m) < 0.02
    assert np.dot(floor.normal, room_normals(pitch_deg)[0]) > np.cos(np.radians(1))


def test_twice_the_resolution_gives_the_same_planes():
    depth_m = empty_room(15)
    twice = CAMERA.scaled(2)
    walls = [plane_depth(n, d, twice, (480, 640)) for n, d in zip(room_normals(15), (HEIGHT_M, WALL_M), strict=True)]
    large = np.minimum(*walls)
    for small, big in zip(find_planes(depth_m, CAMERA), find_planes(large.astype(np.float32), twice), strict=True):
        np.testing.assert_allclose(small.normal, big.normal, atol=0.01)
        assert abs(small.distance_m - big.distance_m) < 0.01


def test_a_portrait_image_gives_the_planes_of_the_landscape():
    upright = Intrinsics(CAMERA.fy, CAMERA.fx, SHAPE[0] - 1 - CAMERA.cy, CAMERA.cx)  # turned by a quarter
    turned = np.ascontiguousarray(np.rot90(noisy(empty_room(15)), -1))
    for wide, high in zip(find_planes(noisy(empty_room(15)), CAMERA), find_planes(turned, upright), strict=True):
        x, y, z = wide.normal
        np.testing.assert_allclose(high.normal, (-y, x, z), atol=1e-6)
        assert abs(wide.distance_m - high.distance_m) < 1e-6


def test_a_table_is_no_floor():
    floor, _ = room_normals(20)
    table = plane_depth(floor, 0.5)
    rows, cols = np.indices(SHAPE)
    on_table = (rows > 150) & (cols > 30) & (cols < 290) & (table < 3)
    depth_m = np.where(on_table, np.minimum(table, empty_room(20)), empty_room(20)).astype(np.float32)
    found = floor_of(find_planes(depth_m, CAMERA))
    assert found is not None
    assert abs(found.distance_m - HEIGHT_M) < 0.02


@pytest.mark.parametrize("order", [1, -1])
def test_of_level_planes_the_lowest_is_the_floor(order):
    level, wall = (tuple(normal) for normal in room_normals(20))
    table, floor, front = Plane(level, 0.5), Plane(level, HEIGHT_M), Plane(wall, WALL_M)
    assert floor_of((table, floor, front)[::order]) == floor


@pytest.mark.parametrize("turn_deg", [-90, 90])
def test_a_camera_on_its_side_finds_its_floor_if_it_knows_up(turn_deg):
    turn = np.radians(turn_deg)
    roll = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    floor, wall = (
        Plane(tuple(roll @ normal), distance_m)
        for normal, distance_m in zip(room_normals(20), (HEIGHT_M, WALL_M), strict=True)
    )
    assert floor_of((floor, wall)) is None
    assert floor_of((floor, wall), tuple(roll @ room_normals(25)[0])) == floor
    assert floor_of((floor, wall), tuple(roll @ room_normals(40)[0])) is None  # another ground than gravity's


def test_people_side_by_side_are_no_wall():
    depth_m = np.zeros(SHAPE, np.float32)
    rows, cols = np.indices(SHAPE)
    for centre in (60, 160, 260):  # three upright cylinders, 2 m away, 17 cm in radius
        x = (cols - centre) / CAMERA.fx * 2.0
        inside = (abs(x) < 0.17) & (rows > 20) & (rows < 220)
        depth_m[inside] = (2.0 + 0.17 - np.sqrt(np.maximum(0.17**2 - x**2, 0)))[inside]
    assert find_planes(depth_m, CAMERA) == ()


@pytest.mark.parametrize("depth_m", [np.zeros(SHAPE), np.zeros((1, 1)), np.full((1, 1), 2), np.full((2, 500), 2)])
def test_a_frame_that_shows_no_room_has_no_planes(depth_m):
    assert find_planes(depth_m.astype(np.float32), CAMERA) == ()


def test_readings_before_the_wall_are_kept_and_the_wall_is_not():
    depth_m = with_box(empty_room(), (0, 0, 2.5), (0.5, 1.4))
    mask = before_planes(depth_m, CAMERA, find_planes(depth_m, CAMERA))
    np.testing.assert_array_equal(mask, depth_m == 2.5)


@pytest.mark.parametrize("front", [((-0.6, 0, 2.2), (1.2, 1.7)), ((-0.7, 0, 2.6), (1.2, 1.8))])
def test_what_is_beside_a_cupboard_is_kept(front):
    """A person farther away than its front is no part of a wall; its own readings go."""
    room = with_box(with_box(empty_room(), (0.6, 0, 3.0), (0.5, 1.4)), *front)
    planes = find_planes(room, CAMERA)
    assert any(abs(plane.distance_m - front[0][2]) < 0.02 for plane in planes)
    np.testing.assert_array_equal(before_planes(room, CAMERA, planes), room == 3.0)


def test_little_behind_a_wall_is_noise_of_the_wall():
    depth_m = empty_room()
    wall = depth_m[20, 20]
    depth_m[15:45:2, 20:80:3] = 1.5 * wall
    assert not before_planes(depth_m, CAMERA, find_planes(depth_m, CAMERA)).any()


def test_without_planes_every_reading_is_kept():
    depth_m = with_box(np.zeros(SHAPE, np.float32), (0, 0, 2.5), (0.5, 1.4))
    np.testing.assert_array_equal(before_planes(depth_m, CAMERA, ()), depth_m > 0)


def test_height_is_measured_from_the_plane_to_the_camera():
    floor = Plane((0.0, -1.0, 0.0), 1.2)
    np.testing.assert_allclose(floor.height_m(np.array([[0.3, 1.2, 2], [0, 0.2, 1], [0, 0, 0]])), [0, 1.0, 1.2])


def test_tolerance_is_5_cm_at_3_m():
    assert plane_tolerance_m(np.float32(3)) == pytest.approx(0.0515, abs=1e-4)
