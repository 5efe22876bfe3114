"""Weighted points: a limb weighs its surface, whatever the camera."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.joints.weighted_points import weigh_points
from posepipe.parts import EVERY_PIXEL, PartProbabilities, Stride
from posepipe.segmentation.pixel_grid import pixels_of

CLASSES = np.array([[False, True, False], [False, False, True]])
CAMERA = Intrinsics(200.0, 200.0, 49.5, 49.5)


def wall(distance_m: float, camera: Intrinsics = CAMERA, size: int = 100, stride: Stride = EVERY_PIXEL):
    """A square of half a metre, seen face on, all of it class 1 with probability 0.8."""
    side = round(0.5 * camera.fx / distance_m)
    depth_m = np.zeros((size, size), np.float32)
    start = (size - side) // 2
    depth_m[start : start + side, start : start + side] = distance_m
    pixels = pixels_of(depth_m > 0, stride)
    values = np.tile(np.array([0.1, 0.8, 0.1], np.float32), (len(pixels), 1))
    return weigh_points(depth_m, camera, PartProbabilities(pixels, values, stride), CLASSES)


def test_a_surface_weighs_its_area_times_its_probability():
    assert wall(2.0).weights.sum(0) == pytest.approx([0.2, 0.025], rel=1e-4)


def test_moving_away_changes_no_weight():
    assert wall(4.0).weights.sum(0) == pytest.approx(wall(2.0).weights.sum(0), rel=1e-4)


def test_half_the_resolution_changes_no_weight():
    coarse = wall(2.0, CAMERA.scaled(0.5), size=50)
    assert len(coarse.points_m) == len(wall(2.0).points_m) / 4
    assert coarse.weights.sum(0) == pytest.approx(wall(2.0).weights.sum(0), rel=1e-4)


def test_a_stride_changes_no_weight():
    # 50 pixels from 25 on: 25 of the even ones
    assert wall(2.0, stride=(2, 2)).weights.sum(0) == pytest.approx(wall(2.0).weights.sum(0), rel=1e-4)


def test_pixels_twice_as_wide_as_high_weigh_the_same():
    camera = Intrinsics(100.0, 200.0, 24.5, 49.5)
    depth_m = np.zeros((100, 50), np.float32)
    depth_m[25:75, 12:37] = 2
    pixels = pixels_of(depth_m > 0)
    values = np.tile(np.array([0.1, 0.8, 0.1], np.float32), (len(pixels), 1))
    points = weigh_points(depth_m, camera, PartProbabilities(pixels, values, EVERY_PIXEL), CLASSES)
    assert points.weights.sum(0) == pytest.approx([0.2, 0.025], rel=1e-4)


def test_points_lie_where_the_camera_sees_them():
    depth_m = np.zeros((100, 100), np.float32)
    depth_m[59, 29] = 2
    parts = PartProbabilities(np.array([[59, 29]], np.int32), np.array([[0, 1, 0]], np.float32), EVERY_PIXEL)
    points = weigh_points(depth_m, CAMERA, parts, CLASSES)
    np.testing.assert_allclose(points.points_m, [[-0.205, 0.095, 2]], atol=1e-6)


def test_a_landmark_of_several_parts_sums_their_probabilities():
    depth_m = np.full((1, 1), 2, np.float32)
    parts = PartProbabilities(np.zeros((1, 2), np.int32), np.array([[0.5, 0.3, 0.2]], np.float32), EVERY_PIXEL)
    points = weigh_points(depth_m, CAMERA, parts, np.array([[False, True, True]]))
    assert points.landmark_probabilities.tolist() == [[pytest.approx(0.5)]]


def test_no_pixels_weigh_nothing():
    parts = PartProbabilities(np.zeros((0, 2), np.int32), np.zeros((0, 3), np.float32), EVERY_PIXEL)
    points = weigh_points(np.zeros((4, 4), np.float32), CAMERA, parts, CLASSES)
    assert points.points_m.shape == (0, 3)
    assert points.weights.shape == (0, 2)


def test_pixels_outside_the_image_and_other_classes_are_refused():
    values = np.full((1, CLASSES.shape[1]), 0.5, np.float32)
    for pixel in ([4, 0], [0, 4], [-1, 0]):
        with pytest.raises(ValueError, match="must lie in the image"):
            weigh_points(
                np.ones((4, 4), np.float32),
                CAMERA,
                PartProbabilities(np.array([pixel], np.int32), values, EVERY_PIXEL),
                CLASSES,
            )
    with pytest.raises(ValueError, match="classes"):
        weigh_points(
            np.ones((4, 4), np.float32),
            CAMERA,
            PartProbabilities(np.zeros((1, 2), np.int32), values[:, 1:], EVERY_PIXEL),
            CLASSES,
        )
