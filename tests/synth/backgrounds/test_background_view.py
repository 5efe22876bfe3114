"""A background through another lens is the same room: mirrored, scaled or turned, its points stay where they are."""

import numpy as np
import pytest

from synth.backgrounds.background_bank import Background
from synth.backgrounds.background_view import draw_view, resample
from synth.recipe import BackgroundRecipe
from synth.scene.placement import rotation_about
from synth.sensors.sensor_presets import PRESETS
from tests.support.empty_rooms import CAMERA, lens, room_depth

SENSOR = PRESETS["kinect-v1-320"]


def heights_m(depth_m, camera=CAMERA, turn=None):
    """Heights above the floor of all readings."""
    points_m = SENSOR.intrinsics.deproject(depth_m)[depth_m > 0]
    world = camera.world_view()
    points_m = points_m if turn is None else points_m @ turn.T
    return ((points_m - world.translation_m) @ world.rotation)[:, 1]


@pytest.mark.parametrize("focal", [180.0, 285.6, 500.0])
@pytest.mark.parametrize("turn_deg", [0.0, 8.0])
def test_points_stay_where_they_are_through_another_lens(focal, turn_deg):
    turn = rotation_about("y", np.radians(turn_deg))
    view = resample(room_depth(focal), lens(focal), SENSOR, turn)
    above_m = heights_m(view.depth_m, turn=turn)
    assert above_m.min() > -0.04  # a pixel is up to 4 cm wide here
    assert np.mean(np.abs(above_m) < 0.02) > 0.1  # the floor


def test_a_narrow_lens_covers_the_middle_alone():
    view = resample(room_depth(500.0), lens(500.0), SENSOR, np.eye(3))
    rows, cols = np.nonzero(view.covered)
    assert (rows.min(), cols.min()) > (40, 60)
    assert not view.depth_m[~view.covered].any()


def test_mirroring_twice_changes_nothing():
    recipe = BackgroundRecipe(mirrored_room_share=1.0)
    once = draw_view(_background(room_depth()), recipe, SENSOR, np.random.default_rng(0))
    twice = draw_view(_background(once.depth_m), recipe, SENSOR, np.random.default_rng(0))
    np.testing.assert_allclose(twice.depth_m, np.rint(room_depth() * 1000) / 1000, atol=1e-6)
    assert not np.array_equal(once.depth_m, twice.depth_m)


def test_scale_multiplies_depth():
    recipe = BackgroundRecipe(room_scale=(1.5, 1.5))
    view = draw_view(_background(room_depth()), recipe, SENSOR, np.random.default_rng(0))
    np.testing.assert_allclose(view.depth_m, 1.5 * np.rint(room_depth() * 1000) / 1000, rtol=1e-5)


def _background(depth_m):
    return Background(np.rint(depth_m * 1000).astype(np.uint16), lens(285.6))
