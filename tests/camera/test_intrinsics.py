"""The pinhole camera: projection and its inverse, and invalid intrinsics."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.camera import Extrinsics, Intrinsics, Plane, check_lens
from posepipe.camera.presets import CAMERA_PRESETS
from posepipe.results import Joint

CAMERAS = st.builds(
    Intrinsics,
    fx=st.floats(20, 2000),
    fy=st.floats(20, 2000),
    cx=st.floats(-100, 2000),
    cy=st.floats(-100, 2000),
)
PIXELS = st.tuples(st.floats(0, 1500), st.floats(0, 1500), st.floats(0.1, 10))


def test_the_pixel_of_the_optical_axis_deprojects_onto_it():
    camera = Intrinsics(100, 100, 2, 1)
    np.testing.assert_array_equal(camera.deproject(np.full((3, 4), 2.0))[1, 2], [0, 0, 2])


def test_a_lens_is_short_in_messages():
    assert str(Intrinsics(575.8158, 1000.0, 1 / 3, 239.5)) == "fx 575.816, fy 1000, cx 0.333333, cy 239.5"


def test_right_is_x_and_down_is_y():
    camera = Intrinsics(100, 50, 2, 1)
    points = camera.deproject(np.full((3, 4), 2.0, np.float32))
    np.testing.assert_allclose(points[1, 3], [0.02, 0, 2])
    np.testing.assert_allclose(points[2, 2], [0, 0.04, 2])
    assert (points.shape, points.dtype) == ((3, 4, 3), np.float32)


def test_a_joint_is_projected_as_it_is():
    joint = Joint("head", (0.5, 0.2, 2.0), 0.9)
    row, column = Intrinsics(100, 50, 2, 1).project(joint.xyz_m)
    assert (row, column) == (6, 27)


def test_a_pixel_without_a_reading_becomes_the_origin():
    np.testing.assert_array_equal(Intrinsics(100, 100, 0, 0).deproject(np.zeros((2, 3))), np.zeros((2, 3, 3)))


def test_every_second_pixel_sees_the_same_points():
    camera, depth_m = Intrinsics(100, 80, 5, 3), np.random.default_rng(2).uniform(1, 2, (6, 10))
    points_m = camera.deproject(depth_m)[::2, ::2]
    np.testing.assert_allclose(camera.subsampled(2).deproject(depth_m[::2, ::2]), points_m, atol=1e-6)


def test_a_window_and_a_mirror_image_see_the_same_points():
    camera, depth_m = Intrinsics(100, 80, 5, 3), np.random.default_rng(2).uniform(1, 2, (6, 10))
    points_m = camera.deproject(depth_m)
    np.testing.assert_allclose(camera.cropped(2, 3).deproject(depth_m[2:, 3:]), points_m[2:, 3:], atol=1e-6)
    mirrored_m = camera.mirrored(10).deproject(depth_m[:, ::-1])[:, ::-1]
    np.testing.assert_allclose(mirrored_m, points_m * [-1, 1, 1], atol=1e-6)


@given(CAMERAS, st.lists(PIXELS, min_size=1, max_size=20))
def test_projecting_what_was_deprojected_gives_the_pixel_back(camera, pixels):
    rows, cols, depth_m = np.array(pixels).T
    points = camera.deproject_pixels(rows, cols, depth_m)
    # float32 points: 1e-7 of the distance from the axis in pixels, and a little for the way through float64
    np.testing.assert_allclose(camera.project(points.astype(float)), np.stack([rows, cols], -1), atol=2e-3)


@given(CAMERAS, st.lists(st.tuples(*[st.floats(-3, 3)] * 2, st.floats(0.2, 10)), min_size=1, max_size=20))
def test_deprojecting_what_was_projected_gives_the_point_back(camera, points):
    points = np.array(points)
    pixels = camera.project(points)
    again = camera.deproject_pixels(pixels[:, 0], pixels[:, 1], points[:, 2])
    np.testing.assert_allclose(again, points, atol=1e-5)


def test_an_image_and_its_pixels_are_deprojected_alike():
    rng = np.random.default_rng(1)
    depth_m = rng.uniform(0.5, 4, (6, 9)).astype(np.float32)
    camera = Intrinsics(80.0, 90.0, 4.2, 3.1)
    rows, cols = np.indices(depth_m.shape, np.float32)
    np.testing.assert_array_equal(camera.deproject(depth_m), camera.deproject_pixels(rows, cols, depth_m))


@given(CAMERAS, st.sampled_from([0.25, 0.5, 2.0, 3.0]))
def test_scaling_keeps_the_edges_of_the_image_where_they_are(camera, factor):
    # the left edge of pixel 0 is column -0.5 at any resolution
    for row, col in ((-0.5, -0.5), (99.5, 199.5)):
        ray = camera.deproject_pixels(np.array(row), np.array(col), np.array(1.0))
        scaled = camera.scaled(factor).project(ray.astype(float))
        np.testing.assert_allclose(scaled, [(row + 0.5) * factor - 0.5, (col + 0.5) * factor - 0.5], atol=2e-3)


@given(CAMERAS, st.floats(0.1, 10))
def test_scaling_and_its_inverse_are_the_identity(camera, factor):
    again = camera.scaled(factor).scaled(1 / factor)
    for name in ("fx", "fy", "cx", "cy"):
        assert getattr(again, name) == pytest.approx(getattr(camera, name), abs=1e-6)


@pytest.mark.parametrize("name", ["fx", "fy", "cx", "cy"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        Intrinsics(**{"fx": 1.0, "fy": 1.0, "cx": 0.0, "cy": 0.0, name: value})


@pytest.mark.parametrize("focal", [0.0, -1.0, -0.0])
def test_focal_lengths_that_are_not_positive_are_refused(focal):
    for names in ({"fx": focal, "fy": 1.0}, {"fx": 1.0, "fy": focal}):
        with pytest.raises(ValueError, match="positive"):
            Intrinsics(**names, cx=0.0, cy=0.0)


# plausible lenses


@pytest.mark.parametrize("focal", [32.0, 6400.0])
def test_a_lens_of_a_tenth_to_20_picture_widths_is_accepted(focal):
    check_lens(Intrinsics(focal, focal, 0.0, 0.0), 320, 240)


@pytest.mark.parametrize("focal", [31.9, 6401.0, 0.9, 1e9, 1e-310])
def test_any_other_lens_is_refused_with_limits_and_values(focal):
    for fx, fy in ((focal, 285.0), (285.0, focal)):
        got = re.escape(f"got fx {fx:g}, fy {fy:g}")
        with pytest.raises(ValueError, match=rf"^wanted .* 32 to 6400 pixels .*, {got}$"):
            check_lens(Intrinsics(fx, fy, 0.0, 0.0), 320, 240)


@pytest.mark.parametrize(
    ("width", "centre"), [(320, (-320.0, -240.0)), (320, (640.0, 525.0)), (60, (-280.0, 300.0)), (320, (159.5, 119.5))]
)
def test_an_optical_axis_near_the_image_is_accepted(width, centre):
    check_lens(Intrinsics(285.0, 285.0, *centre), width, 240)


@pytest.mark.parametrize(("cx", "cy", "name"), [(-1e8, 119.5, "cx"), (641.0, 119.5, "cx"), (159.5, -286.0, "cy")])
def test_an_optical_axis_far_away_is_refused_by_name(cx, cy, name):
    with pytest.raises(ValueError, match=rf"within \d+ pixels of the image of 320x240, got {name} -?\d"):
        check_lens(Intrinsics(285.0, 285.0, cx, cy), 320, 240)


def test_every_preset_has_a_plausible_lens():
    for preset in CAMERA_PRESETS.values():
        check_lens(preset.intrinsics, preset.width, preset.height)


# extrinsics


@pytest.mark.parametrize("pitch_deg", [-20, 0, 30, 60])
@pytest.mark.parametrize("roll_deg", [-5, 0, 5])
def test_a_floor_gives_heights_and_a_right_handed_world(pitch_deg, roll_deg):
    c, s = np.cos(np.radians(pitch_deg)), np.sin(np.radians(pitch_deg))
    roll = np.radians(roll_deg)
    turn = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]])
    up = turn @ [0, -c, -s]
    world = Extrinsics.above_floor(Plane(tuple(up), 1.5))
    np.testing.assert_allclose(world.rotation @ world.rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(world.rotation) == pytest.approx(1)
    np.testing.assert_allclose(world.world_points(np.zeros(3)), [0, 0, 1.5])
    np.testing.assert_allclose(world.world_points(-1.5 * up), np.zeros(3), atol=1e-12)  # below the camera
    ahead = world.world_points(np.array([0.0, 0, 1]))
    assert ahead[0] == pytest.approx(0, abs=1e-12)
    assert ahead[1] > 0
    assert ahead[2] == pytest.approx(1.5 - s)


def test_the_world_has_x_to_the_right_of_the_picture_and_y_ahead():
    level = Extrinsics.above_floor(Plane((0, -1, 0), 1.0))
    np.testing.assert_allclose(level.world_points(np.array([0.3, 0.2, 2.0])), [0.3, 2.0, 0.8])


def test_straight_down_the_top_of_the_picture_is_ahead():
    ceiling = Extrinsics.above_floor(Plane((0, 0, -1), 2.5))
    np.testing.assert_allclose(ceiling.world_points(np.array([0.3, -0.4, 1.0])), [0.3, 0.4, 1.5])
