"""Which joints show: against the rule written out."""

import numpy as np

from posepipe.body import HUMAN
from synth.recipe import Recipe
from synth.visibility import visible_joints
from tests.reference import visibility as naive
from tests.rendered_people import renderer_of


def test_visible_joints_follow_the_rule():
    renderer = renderer_of(Recipe(seed=2))
    for index in range(6):
        frame = renderer.render(index)
        arguments = frame.depth.depth_m, frame.parts, frame.joints_m[0], frame.depth.intrinsics, HUMAN
        np.testing.assert_array_equal(visible_joints(*arguments), naive.visible_joints(*arguments))


def test_nobody_shows_no_joint():
    frame = np.zeros((24, 32), np.float32)
    camera = renderer_of(Recipe()).recipe.sensor.intrinsics
    assert not visible_joints(frame, frame.astype(np.uint8), np.ones((20, 3)), camera, HUMAN).any()
