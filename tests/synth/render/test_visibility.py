"""Which joints a rendered frame shows."""

import numpy as np

from posepipe.body import HUMAN
from synth.recipe import Recipe
from synth.render.visibility import visible_joints
from tests.support.rendered_people import recipe_of, renderer_of


def test_a_rendered_frame_says_which_joints_show():
    renderer = renderer_of(recipe_of(seed=2, people=(1, 3), distance_m=(1.5, 3.0)))
    crowds = 0
    for index in range(6):
        frame = renderer.render(index)
        depth_m, lens = frame.depth.depth_m, frame.depth.intrinsics
        seen = visible_joints(depth_m, frame.parts, frame.people, frame.joints_m, lens, HUMAN)
        np.testing.assert_array_equal(frame.visible, seen)
        crowds += len(seen) > 1
    assert crowds > 1


def test_an_empty_frame_shows_no_joint():
    frame = np.zeros((24, 32), np.float32)
    empty = frame.astype(np.uint8)
    camera = renderer_of(Recipe()).recipe.sensor.intrinsics
    assert not visible_joints(frame, empty, empty, np.ones((1, 20, 3)), camera, HUMAN).any()
