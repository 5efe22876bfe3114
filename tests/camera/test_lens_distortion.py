"""A distorted image of a known scene is undistorted."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.lens_distortion import MODELS, LensDistortion, Undistortion

INTRINSICS = Intrinsics(200.0, 210.0, 99.5, 79.5)
SHAPE = (160, 200)
COEFFICIENTS = {
    "plumb_bob": (-0.2, 0.05, 0.001, -0.002, 0.0),
    "rational_polynomial": (0.3, 0.1, 0.001, -0.001, 0.02, 0.5, 0.1, 0.01),
    "equidistant": (0.05, 0.01, -0.01, 0.002),
}


def bent_pixels(points: np.ndarray, model: str) -> np.ndarray:
    """Project camera points (N, 3) with a distortion model, by OpenCV: (N, 2), column and row."""
    matrix = np.array([[INTRINSICS.fx, 0, INTRINSICS.cx], [0, INTRINSICS.fy, INTRINSICS.cy], [0, 0, 1.0]])
    coefficients = np.array(COEFFICIENTS[model])
    zero = np.zeros(3)
    if model == "equidistant":
        return cv2.fisheye.projectPoints(points[:, None], zero, zero, matrix, coefficients)[0][:, 0]
    return cv2.projectPoints(points[:, None], zero, zero, matrix, coefficients)[0][:, 0]


def test_every_distortion_model_is_tested():
    assert set(COEFFICIENTS) == set(MODELS)


@pytest.mark.parametrize("model", COEFFICIENTS)
def test_undistorted_discs_are_where_a_pinhole_shows_them(model):
    grid = np.stack(np.meshgrid(np.linspace(-0.3, 0.3, 7), np.linspace(-0.22, 0.22, 5)), axis=-1).reshape(-1, 2)
    points = np.column_stack([grid, np.ones(len(grid))])
    distorted = np.zeros(SHAPE, np.uint16)
    for i, (col, row) in enumerate(np.rint(bent_pixels(points, model)).astype(int)):
        cv2.circle(distorted, (int(col), int(row)), 4, 1000 + i, -1)
    undistorted = Undistortion(INTRINSICS, LensDistortion(model, COEFFICIENTS[model]), SHAPE).undistort(distorted)
    assert undistorted.dtype == np.uint16
    for i, pixel in enumerate(INTRINSICS.project(points)):
        centre = np.argwhere(undistorted == 1000 + i).mean(axis=0)
        np.testing.assert_allclose(centre, pixel, atol=1.0)
    assert set(np.unique(undistorted)) <= {0, *range(1000, 1000 + len(points))}  # nothing is blended


@pytest.mark.parametrize(
    ("model", "coefficients", "radius"),
    [
        ("plumb_bob", (-0.3, 0.0, 0.0, 0.0), 0.66),  # folds back at 1.05 focal lengths, the corner lies at 1.33
        ("rational_polynomial", (-0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.66),
        ("equidistant", (-0.5, 0.0, 0.0, 0.0), 0.535),
    ],
)
def test_nothing_is_shown_twice_where_a_model_folds_back(model, coefficients, radius):
    wide, shape = Intrinsics(300.0, 300.0, 319.5, 239.5), (480, 640)
    distorted = np.full(shape, 3000, np.uint16)
    cv2.circle(distorted, (round(319.5 + 240 * radius), round(239.5 + 180 * radius)), 5, 1000, -1)
    undistorted = Undistortion(wide, LensDistortion(model, coefficients), shape).undistort(distorted)
    assert cv2.connectedComponents((undistorted == 1000).astype(np.uint8))[0] == 2  # background and one disc
    assert undistorted[240, 320] == 3000
    assert undistorted[0, 0] == 0


def test_zero_distortion_changes_nothing():
    depth = np.random.default_rng(0).integers(0, 5000, SHAPE, dtype=np.uint16)
    none = LensDistortion("plumb_bob", (0.0,) * 5)
    np.testing.assert_array_equal(Undistortion(INTRINSICS, none, SHAPE).undistort(depth), depth)


@pytest.mark.parametrize(
    ("model", "numbers"), [("thin_prism", (0.0,) * 5), ("plumb_bob", (0.0,)), ("plumb_bob", (np.nan,) * 5)]
)
def test_an_unsupported_distortion_is_refused(model, numbers):
    with pytest.raises(ValueError, match="lens distortion"):
        LensDistortion(model, numbers)
