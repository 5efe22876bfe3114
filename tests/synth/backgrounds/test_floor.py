"""The floor of a frame gives height, pitch and roll of its camera."""

import numpy as np
import pytest

from posepipe.camera import Plane
from synth.backgrounds.floor import camera_above, find_floor
from synth.scene.placement import Placement
from tests.support.empty_rooms import CAMERA, lens, room_depth


def test_the_camera_is_found_above_the_floor_that_it_sees():
    floor = find_floor(room_depth(), lens(285.6), np.random.default_rng(0))
    assert floor.seen
    assert floor.camera.camera_height_m == pytest.approx(CAMERA.camera_height_m, abs=0.02)
    assert floor.camera.pitch_rad == pytest.approx(CAMERA.pitch_rad, abs=0.01)
    assert floor.camera.roll_rad == pytest.approx(CAMERA.roll_rad, abs=0.01)


@pytest.mark.parametrize(("pitch", "roll"), [(0.0, 0.0), (0.6, -0.2), (-0.3, 0.4)])
def test_a_plane_gives_back_the_camera_that_sees_it(pitch, roll):
    camera = Placement(0.0, 0.0, 0.0, 1.2, pitch, roll)
    up = camera.world_view().rotation @ [0.0, 1.0, 0.0]
    found = camera_above(Plane(tuple(map(float, up)), 1.2))
    assert (found.pitch_rad, found.roll_rad) == pytest.approx((pitch, roll))


def test_a_bare_wall_has_a_floor_out_of_sight_at_right_angles():
    depth_m = np.full((240, 320), 3.0, np.float32)
    floor = find_floor(depth_m, lens(285.6), np.random.default_rng(0))
    assert not floor.seen
    assert abs(floor.camera.pitch_rad) < 0.01
