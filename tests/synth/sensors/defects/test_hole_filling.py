"""Images whose narrow holes were filled."""

from __future__ import annotations

import numpy as np
import pytest

from synth.sensors.defects.hole_filling import WINDOWS_PX, Filling, draw_filling, fill_holes
from tests.support.rendered_people import recipe_of, renderer_of

PLAIN = Filling(width_px=3, window_px=1)


def row(*depths_m):
    return np.array([depths_m], np.float32)


def test_a_narrow_hole_becomes_a_ramp_of_the_nearer_side():
    filled_m, source = fill_holes(row(2, 0, 0, 0, 4), PLAIN)
    np.testing.assert_allclose(filled_m[0], [2, 2.5, 3, 3.5, 4])
    assert source[0].tolist() == [0, 0, 0, 4, 4]


@pytest.mark.parametrize("hole", [(2, 0, 0, 0, 0, 4), (0, 0, 2, 4), (2, 4, 0), (0, 0)])
def test_wider_holes_and_those_at_the_border_stay(hole):
    filled_m, source = fill_holes(row(*hole), PLAIN)
    np.testing.assert_array_equal(filled_m, row(*hole))
    assert source[0].tolist() == list(range(len(hole)))


def test_smoothed_edges_lie_between_the_two_sides():
    depth_m = np.repeat(row(2, 2, 2, 4, 4, 4, 0, 0), 6, axis=0)
    filled_m, _ = fill_holes(depth_m, Filling(width_px=1, window_px=3))
    np.testing.assert_allclose(filled_m[2], [2, 2, 8 / 3, 10 / 3, 4, 4, 0, 0], rtol=1e-6)


def test_of_fillings_some_smooth_and_some_do_not():
    rng = np.random.default_rng(0)
    drawn = [draw_filling(320, rng) for _ in range(40)]
    assert {each.window_px for each in drawn} == set(WINDOWS_PX)
    assert min(each.width_px for each in drawn) < 8 < 20 < max(each.width_px for each in drawn)


def test_filled_rooms_have_fewer_holes_and_the_same_people():
    room = {"room_share": 1.0, "seed": 4, "distance_m": (2.0, 3.0)}
    plain, filled = (renderer_of(recipe_of(**room, filled_share=share)).render(1) for share in (0.0, 1.0))
    holes = [np.count_nonzero(each.depth.depth_m == 0) for each in (plain, filled)]
    assert holes[1] < 0.9 * holes[0]
    both = (plain.people > 0) & (filled.people > 0)
    assert both.sum() > 0.9 * (plain.people > 0).sum()
    assert not filled.parts[filled.depth.depth_m == 0].any()
