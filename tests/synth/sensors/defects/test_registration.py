"""Registered images: black borders, hidden places without a reading or with that of what hides them."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from synth.sensors.defects.registration import BASELINES_M, ZOOMS, Registration, draw_registration, register
from tests.support.rendered_people import recipe_of, renderer_of

LENS = Intrinsics(285.6, 285.6, 159.5, 119.5)
NEAR = slice(80, 160), slice(120, 200)


def scene():
    """A near square before a far wall."""
    depth_m = np.full((240, 320), 4.0, np.float32)
    depth_m[NEAR] = 1.0
    return depth_m


def seen(baseline_m, doubled, zoom=1.0, shift=(0.0, 0.0)):
    return register(scene(), LENS, Registration(baseline_m, zoom, shift, doubled))


@pytest.mark.parametrize(("baseline_m", "hidden"), [(0.05, slice(200, 210)), (-0.05, slice(110, 120))])
def test_the_wall_beside_a_near_thing_is_hidden(baseline_m, hidden):
    """The square moves by 14 pixels, the wall by 4; a depth camera on the left misses what is right of the square."""
    registered_m, source = seen(baseline_m, doubled=False)
    lost = np.zeros((240, 320), bool)
    lost[80:160, hidden] = True
    inside = np.abs(np.arange(320) - 159.5) < 155  # the border is black
    np.testing.assert_array_equal((registered_m == 0)[:, inside], lost[:, inside])
    np.testing.assert_array_equal(source.ravel(), np.arange(240 * 320))


def test_without_a_depth_test_edges_show_twice():
    registered_m, source = seen(0.05, doubled=True)
    assert (registered_m[80:160, 200:210] == 1).all()
    np.testing.assert_array_equal(scene().ravel()[source][registered_m > 0], registered_m[registered_m > 0])
    assert (source[80:160, 200:210] % 320 < 200).all()


def test_the_border_is_black():
    registered_m, _ = seen(0.02, doubled=True, zoom=1.1, shift=(5.0, 0.0))
    read = registered_m > 0
    rows, cols = np.flatnonzero(read.any(axis=1)), np.flatnonzero(read.any(axis=0))
    assert read[100].sum() == pytest.approx(320 / 1.1, abs=3)
    assert (rows[0], rows[-1]) == (pytest.approx(125 - 120 / 1.1, abs=2), pytest.approx(125 + 120 / 1.1, abs=2))
    assert 0 < cols[0] < cols[-1] < 319


def test_one_camera_changes_nothing():
    registered_m, _ = seen(0.0, doubled=True)
    np.testing.assert_array_equal(registered_m, scene())


def test_an_image_without_readings_stays_empty():
    empty = np.zeros((4, 6), np.float32)
    registered_m, _ = register(empty, LENS, Registration(0.03, 1.1, (0.0, 0.0), True))
    assert not registered_m.any()


def test_drivers_are_of_all_kinds():
    drawn = [draw_registration(320, np.random.default_rng(seed)) for seed in range(200)]
    sizes = np.abs([each.baseline_m for each in drawn])
    assert BASELINES_M[0] <= sizes.min() < sizes.max() <= BASELINES_M[1]
    assert ZOOMS[0] <= min(each.zoom for each in drawn)
    assert 0.3 < np.mean([each.doubled for each in drawn]) < 0.7
    assert 0.3 < np.mean([each.baseline_m > 0 for each in drawn]) < 0.7


def test_registered_frames_keep_the_truth_of_their_surfaces():
    rooms = {"room_share": 1.0, "noise": False, "seed": 4, "distance_m": (1.2, 1.5)}
    changed = 0
    for index in range(3):
        plain, registered = (
            renderer_of(recipe_of(**rooms, **each)).render(index) for each in ({}, {"registered_share": 1.0})
        )
        np.testing.assert_array_equal(plain.joints_m, registered.joints_m)
        both = (registered.depth.depth_m > 0) & (registered.depth.depth_m == plain.depth.depth_m)
        np.testing.assert_array_equal(plain.parts[both], registered.parts[both])
        doubled = (registered.depth.depth_m > 0) & ~both
        assert (registered.depth.depth_m[doubled] < plain.depth.depth_m[doubled]).all()
        changed += np.count_nonzero(registered.people[doubled & (plain.people == 0)])
        assert (registered.parts[registered.depth.depth_m == 0] == 0).all()
    assert changed > 20


def test_people_who_are_cut_out_are_not_registered():
    plain, other = (renderer_of(recipe_of(seed=4, **each)).render(0) for each in ({}, {"registered_share": 1.0}))
    np.testing.assert_array_equal(plain.depth.depth_m, other.depth.depth_m)
