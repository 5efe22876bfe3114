"""The camera's pose in the scene: above the floor, smoothed, and its heading."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Extrinsics, Plane
from posepipe.viewer.scene.camera_placement import LEVEL_CAMERA, CameraPlacement, heading


def floor(height_m, tilt_deg=0.0):
    """Pose of a camera at this height and tilt."""
    tilt = np.radians(tilt_deg)
    return Extrinsics.above_floor(Plane((0.0, -float(np.cos(tilt)), -float(np.sin(tilt))), height_m))


def test_the_floor_is_at_zero_and_is_kept_while_out_of_view():
    placement = CameraPlacement()
    assert placement.update(None) is LEVEL_CAMERA
    assert not placement.has_floor
    world = placement.update(floor(1.2, 10))
    feet = np.array([0, 1.2 / np.cos(np.radians(10)), 0])  # below the camera, on the floor
    assert abs(world.world_points(feet)[2]) < 1e-9
    assert placement.update(None) is world
    assert placement.has_floor


def test_the_accelerometer_levels_a_scene_without_floor():
    placement = CameraPlacement()
    up = (0.0, -0.8, -0.6)
    world = placement.update(None, up)
    np.testing.assert_allclose(world.world_points(np.array(up)), [0, 0, 1], atol=1e-12)
    assert not placement.has_floor
    found = placement.update(floor(1.2, 10), up)
    assert placement.update(None, up) is found


def test_the_floor_does_not_jitter_but_follows_a_moved_camera():
    placement = CameraPlacement()
    placement.update(floor(1.2))
    heights = [placement.update(floor(1.2 + 0.02 * (-1) ** k)).translation_m[2] for k in range(50)]
    assert np.ptp(heights) < 0.005
    assert placement.update(floor(1.6)).translation_m[2] == 1.6
    np.testing.assert_array_equal(placement.update(floor(1.6, 20)).rotation, floor(1.6, 20).rotation)
    steadied = placement.update(floor(1.6, 21)).rotation
    np.testing.assert_allclose(steadied @ steadied.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("turn_deg", [0, 90, 200])
def test_the_heading_is_the_direction_of_the_camera(turn_deg):
    turn = np.radians(turn_deg)
    about_z = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    for tilt_deg in (0, 30, -30):
        level = floor(1.5, tilt_deg)
        ahead = heading(Extrinsics(about_z @ level.rotation, level.translation_m))
        np.testing.assert_allclose(ahead, [-np.sin(turn), np.cos(turn)], atol=1e-9)


def test_the_heading_of_a_camera_pointing_down_is_the_image_top():
    down = Extrinsics.above_floor(Plane((0.0, 0.0, -1.0), 2.5))
    np.testing.assert_allclose(heading(down), [0, 1], atol=1e-9)
