"""Stereo cameras in rooms: speckled floors, wide shadows at the left, a smeared distance."""

from __future__ import annotations

import numpy as np
import pytest

from synth.sensors.defects.stereo_defects import FAR_M, SHADOW_PX, add_stereo_defects
from synth.sensors.sensor_presets import PRESETS
from tests.support.rendered_people import recipe_of, renderer_of
from tests.support.rooms import plane_depth

SENSOR = PRESETS["d435"]
SHAPE = SENSOR.height, SENSOR.width


def defects(depth_m, seed=0):
    return add_stereo_defects(
        depth_m, depth_m.copy(), SENSOR, np.random.default_rng(seed), np.random.default_rng(seed + 1)
    )


def floor_m():
    """A level floor 1 m below the camera, as far as 4 m, and a wall there."""
    depth = np.minimum(plane_depth((0, -1, 0), 1.0, SENSOR.intrinsics, SHAPE), 4.0)
    return depth.astype(np.float32)


def test_floors_are_speckled_more_where_seen_obliquely():
    depth_m, near, far, wall = floor_m(), [], [], []
    left = 40  # beside the band without readings
    for seed in range(6):
        lost = defects(depth_m, seed)[:, left:] == 0
        rest_m = depth_m[:, left:]
        near.append(lost[(rest_m > 1.5) & (rest_m < 1.8)].mean())
        far.append(lost[(rest_m > 3.0) & (rest_m < 3.8)].mean())
        wall.append(lost[: SHAPE[0] // 2].mean())
    assert np.mean(wall) == 0
    assert np.mean(near) < 0.03
    assert 0.02 < np.mean(far) < 0.35
    assert np.mean(far) > 3 * np.mean(near)


def test_shadows_lie_left_of_near_things_and_are_wide():
    depth_m = np.full(SHAPE, 3.0, np.float32)
    depth_m[:, 200:300] = 1.0
    for seed in range(4):
        lost = defects(depth_m, seed) == 0
        true_px = SENSOR.intrinsics.fx * SENSOR.baseline_m * (1 - 1 / 3)
        width = np.count_nonzero(lost[100, 100:200])
        scale = SENSOR.intrinsics.fx / SENSOR.matching_fx
        assert true_px + SHADOW_PX[0] * scale - 2 <= width <= true_px + SHADOW_PX[1] * scale + 2
        assert lost[100, 200 - width : 200].all()
        assert not lost[100, 200:].any()


def test_the_left_border_has_no_readings():
    depth_m = np.full(SHAPE, 1.5, np.float32)
    lost = defects(depth_m) == 0
    band = SENSOR.intrinsics.fx * SENSOR.baseline_m / 1.5
    assert np.flatnonzero(~lost[50])[0] == pytest.approx(band, abs=1)


def test_far_surfaces_are_smeared_and_near_ones_stay():
    depth_m = np.full(SHAPE, 2.0, np.float32)
    depth_m[:, 150:] = 6.0
    depth_m[:, 225:] = 7.0
    read_m = defects(depth_m)
    near = (read_m > 0) & (depth_m == 2)
    np.testing.assert_array_equal(read_m[near], 2)
    far_m = read_m[:, 220:230]
    assert ((far_m > 6.2) & (far_m < 6.8)).any()  # between the two walls
    assert np.std(read_m[:, 160:215]) > 0.02
    assert (read_m[read_m > 2.1] >= FAR_M[0]).all()


def test_only_stereo_cameras_have_them():
    rooms = {"room_share": 1.0, "seed": 2}
    for sensor, differs in (("d435", True), ("kinect-v1-320", False)):
        plain, other = (
            renderer_of(recipe_of(**rooms, sensor=sensor, **each)).render(0)
            for each in ({}, {"stereo_defects_share": 1.0})
        )
        assert np.array_equal(plain.depth.depth_m, other.depth.depth_m) != differs
        np.testing.assert_array_equal(plain.joints_m, other.joints_m)
