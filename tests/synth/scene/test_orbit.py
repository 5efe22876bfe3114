"""A second camera before the same scene: everything is where it was, seen from another side."""

from __future__ import annotations

import math

import numpy as np
import pytest

from synth.geometry.mesh import BACKGROUND, box
from synth.scene.orbit import Orbit
from synth.scene.placement import Placement

CAMERA = Placement(0.0, 2.5, 0.0, 1.6, 0.25, 0.1)
SUBJECT = Placement(0.4, 3.1, -0.7, 1.6, 0.25, 0.1)
BODY_M = np.array([[0.0, 0.0, 0.0], [0.2, 1.7, 0.1], [-0.3, 0.9, -0.2]])


def world_m(orbit, view, points_m):
    """Points of a body in world axes, as the camera on an orbit sees them."""
    return orbit.extrinsics(CAMERA).world_points(view.camera_points(points_m).astype(float))


@pytest.mark.parametrize("angle_deg", [0, 35, 90, -120, 180])
def test_people_and_rooms_stay_in_place(angle_deg):
    still, orbit = Orbit(0.0, 2.5), Orbit(math.radians(angle_deg), 2.5)
    before = world_m(still, SUBJECT.view(np.zeros(3), 0.0), BODY_M)
    after = world_m(orbit, orbit.place(SUBJECT).view(np.zeros(3), 0.0), BODY_M)
    np.testing.assert_allclose(after, before, atol=1e-5)
    room = box((-1, 0, -3), (1, 2, -2), BACKGROUND)
    corners = world_m(orbit, CAMERA.world_view(), orbit.mesh(room).vertices_m)
    np.testing.assert_allclose(corners, world_m(still, CAMERA.world_view(), room.vertices_m), atol=1e-5)


def test_a_quarter_turn_moves_the_camera_to_its_right():
    pose = Orbit(math.pi / 2, 2.5).extrinsics(CAMERA)
    np.testing.assert_allclose(pose.translation_m, [2.5, 2.5, 1.6], atol=1e-9)
    ahead = pose.rotation @ [0, 0, 1]
    assert ahead[0] < -0.9
    assert abs(ahead[1]) < 1e-9


def test_the_first_camera_is_above_the_origin_and_looks_along_y():
    pose = Orbit(0.0, 2.5).extrinsics(CAMERA)
    np.testing.assert_allclose(pose.translation_m, [0, 0, 1.6], atol=1e-9)
    np.testing.assert_allclose(pose.rotation @ [0, 0, 1], [0, math.cos(0.25), -math.sin(0.25)], atol=1e-9)


def test_cameras_stand_on_a_circle_through_the_first():
    places = np.array(Orbit(0.0, 2.0).stands_m())
    np.testing.assert_allclose(np.linalg.norm(places - [0, -2.0], axis=1), 2.0)
    assert np.linalg.norm(places, axis=1).min() < 1e-9
