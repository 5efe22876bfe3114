"""Axes of fitted joints start at the joints and turn with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.camera import Extrinsics
from posepipe.viewer.scene.joint_axes import AXIS_M, COLOURS, joint_axes
from tests.support.found_people import fitted, standing_m, track

WORLD = Extrinsics(Rotation.from_euler("xyz", [-100, 5, 30], degrees=True).as_matrix(), np.array([0.2, -1.0, 1.5]))


def test_axes_are_those_of_the_rotation_in_world_axes():
    person = fitted(track(1, standing_m()))
    ends_m, colours = joint_axes([person, track(2, standing_m(1.0))], WORLD)
    assert ends_m.shape == colours.shape == (60, 2, 3)
    np.testing.assert_allclose(ends_m[::3, 0], WORLD.world_points(person.fit.joints_m), atol=1e-6)
    for joint in (0, 7, 19):
        for axis in range(3):
            tip = person.fit.joints_m[joint] + AXIS_M * Rotation.from_quat(person.fit.rotations_xyzw[joint]).apply(
                np.eye(3)[axis]
            )
            np.testing.assert_allclose(ends_m[3 * joint + axis, 1], WORLD.world_points(tip[None])[0], atol=1e-6)
            np.testing.assert_array_equal(colours[3 * joint + axis], [COLOURS[axis]] * 2)


def test_people_without_a_body_have_none():
    ends_m, colours = joint_axes([replace(fitted(track(1, standing_m())), fit=None)], WORLD)
    assert len(ends_m) == len(colours) == 0
