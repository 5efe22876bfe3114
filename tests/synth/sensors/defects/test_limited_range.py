"""Frames of cameras with a limited range."""

from __future__ import annotations

import numpy as np

from synth.recipe.image_recipe import REACH_M
from tests.support.rendered_people import recipe_of, renderer_of

ROOMS = {"room_share": 1.0, "noise": False, "seed": 4, "distance_m": (2.0, 3.0)}


def test_readings_end_at_a_range():
    farthest_m = []
    for index in range(4):  # the next one is drawn anew, as nobody is left within the range
        plain, cut = (
            renderer_of(recipe_of(**ROOMS, **each)).render(index) for each in ({}, {"limited_range_share": 1.0})
        )
        plain_m, read = plain.depth.depth_m, cut.depth.depth_m > 0
        farthest_m.append(cut.depth.depth_m.max())
        np.testing.assert_array_equal(cut.depth.depth_m[read], plain_m[read])
        within = (plain_m > 0) & (plain_m < farthest_m[-1] - 0.001)  # the range is cut before whole millimetres
        assert read[within].all()
        assert not cut.parts[~read].any()
    assert REACH_M[0] <= min(farthest_m) < max(farthest_m) <= REACH_M[1]
    assert np.ptp(farthest_m) > 0.5
