"""Free space: holes are filled by what lies behind, surfaces inside of a body are found, floors have a height."""

import numpy as np
import pytest

from synth.backgrounds.background_view import BackgroundView
from synth.backgrounds.free_space import RoomSpace, fill_holes
from tests.support.empty_rooms import BED_M, CAMERA, lens, room_depth


@pytest.fixture(scope="module")
def space():
    depth_m = room_depth()
    return RoomSpace.of(BackgroundView(depth_m, np.ones(depth_m.shape, bool)), lens(285.6), CAMERA)


def test_a_hole_is_filled_with_the_farther_side():
    depth_m = np.array([[0, 1.0, 0, 0, 3.0, 0], [0, 0, 0, 0, 0, 0]], np.float32)
    filled_m = fill_holes(depth_m)
    np.testing.assert_allclose(filled_m[0], [1, 1, 3, 3, 3, 3])
    assert (filled_m[1] > 9).all()


def bone(start_m, end_m):
    """A bone between two points in world axes, in camera axes."""
    return CAMERA.world_view().camera_points(np.array([[start_m, end_m]]))


def test_a_bone_through_the_bed_crosses_it(space):
    assert space.crossed_m2(bone((0.7, 0.1, -2.5), (0.7, 1.0, -2.5)), [0.1]) > 0.01
    assert space.crossed_m2(bone((-0.7, 0.1, -2.3), (-0.7, 1.0, -2.3)), [0.1]) == 0


def test_the_floor_itself_is_never_crossed(space):
    assert space.crossed_m2(bone((-0.7, 0.0, -2.3), (-0.2, 0.0, -2.3)), [0.1]) == 0


def test_the_top_of_the_bed_is_a_surface(space):
    assert space.surface_m(np.array([0.7, -2.5]), 0.48, 0.06) == pytest.approx(BED_M, abs=0.01)
    assert space.surface_m(np.array([-0.7, -2.5]), 0.48, 0.06) is None


def test_the_floor_lies_at_its_height(space):
    assert space.floor_lift_m(np.array([-0.7, -2.5])) == pytest.approx(0, abs=0.01)
