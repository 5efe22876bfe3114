"""Depth in whole millimetres, in memory as on disk."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posepipe.datasets.dataset import Dataset
from synth.recipe import Recipe
from synth.sensors.quantise_depth import quantise_depth
from tests.support.rendered_people import render_people, renderer_of


@given(st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=50), st.floats(-0.4, 0.4))
def test_depth_is_rounded_to_the_nearest_millimetre(millimetres, off_mm):
    exact_m = np.array([millimetres], np.float32) * np.float32(0.001)
    moved_m = ((np.array([millimetres]) + off_mm) / 1000).astype(np.float32)
    np.testing.assert_array_equal(quantise_depth(moved_m), exact_m)
    assert quantise_depth(moved_m).dtype == np.float32


def test_the_argument_is_left_as_it_is():
    depth_m = np.array([[1.23456, 0.0]], np.float32)
    quantise_depth(depth_m)
    np.testing.assert_array_equal(depth_m, np.array([[1.23456, 0.0]], np.float32))


def test_a_frame_in_memory_equals_the_one_read_back(tmp_path):
    recipe = Recipe(frames=2, seed=3)
    render_people(tmp_path, recipe)
    renderer = renderer_of(recipe)
    with Dataset.open(tmp_path) as dataset:
        for index, stored in enumerate(dataset):
            frame = renderer.render(index)
            np.testing.assert_array_equal(stored.depth.depth_m, frame.depth.depth_m)
            np.testing.assert_array_equal(stored.parts, frame.parts)
            np.testing.assert_array_equal(stored.people, frame.people)
            np.testing.assert_array_equal(stored.visible, frame.visible)
