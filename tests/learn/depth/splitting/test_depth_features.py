"""Depth differences: probes seen by eye, and what swapping, moving and scaling may not change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.camera import Intrinsics
from posepipe.learn.depth.splitting.depth_features import BACKGROUND_M, bordered_depth, depth_differences
from tests.support import random_inputs

CAMERA = Intrinsics(2.0, 2.0, 1.5, 1.0)


def pair(u, v=(0, 0)):
    return np.array([[u, v]], np.float32)


def respond(depth_m, mask, pixel, u, v=(0, 0), intrinsics=CAMERA):
    out = depth_differences(
        np.array(depth_m, np.float32), np.array(mask, bool), np.array([pixel], np.int32), pair(u, v), intrinsics
    )
    return float(out[0, 0])


#: 2 m everywhere, with one pixel nearer and one without a reading; focal length 2, so a metre is a pixel
EIGHT = [[2, 2, 2, 2], [2, 2, 1.5, 0]]
ALL = np.ones((2, 4), bool)


def test_a_probe_one_metre_to_the_right_reads_the_next_pixel():
    assert respond(EIGHT, ALL, (1, 1), u=(0, 1)) == pytest.approx(-0.5)


def test_a_probe_of_zero_reads_the_pixel_itself():
    assert respond(EIGHT, ALL, (1, 2), u=(0, 0), v=(0, -1)) == pytest.approx(-0.5)


def test_rows_are_the_first_axis_of_an_offset():
    assert respond(EIGHT, ALL, (0, 2), u=(1, 0)) == pytest.approx(-0.5)


def test_half_a_pixel_is_rounded_up():
    near_in_the_middle = [[2, 1.5, 2]]
    assert respond(near_in_the_middle, [[1, 1, 1]], (0, 0), u=(0, 0.5)) == pytest.approx(-0.5)
    assert respond(near_in_the_middle, [[1, 1, 1]], (0, 2), u=(0, -0.5)) == 0


def test_a_pixel_twice_as_near_is_probed_twice_as_far():
    depth_m = [[1, 1, 1, 0.9]]
    assert respond(depth_m, [[1, 1, 1, 1]], (0, 1), u=(0, 1), intrinsics=Intrinsics(2, 2, 0, 0)) == pytest.approx(-0.1)


@pytest.mark.parametrize("u", [(0, 9), (0, -9), (9, 0), (-9, 0), (9, -9), (0, 2)])
def test_probes_without_a_reading_read_background(u):
    assert respond(EIGHT, ALL, (1, 1), u=u) == pytest.approx(BACKGROUND_M - 2)


def test_other_people_are_background():
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 1]], bool)
    assert respond(EIGHT, mask, (1, 1), u=(0, 1)) == pytest.approx(BACKGROUND_M - 2)


def test_rows_and_columns_have_their_own_focal_length():
    depth_m = np.full((7, 7), 2.0)
    depth_m[3, 5], depth_m[4, 3] = 1.5, 1.75
    tall = Intrinsics(4.0, 2.0, 3.0, 3.0)
    assert respond(depth_m, np.ones((7, 7)), (3, 3), u=(0, 1), intrinsics=tall) == pytest.approx(-0.5)
    assert respond(depth_m, np.ones((7, 7)), (3, 3), u=(1, 0), intrinsics=tall) == pytest.approx(-0.25)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_swapping_the_probes_flips_the_sign(seed):
    rng = np.random.default_rng(seed)
    depth_m, mask = random_inputs.depth_image(rng, 30, 40)
    pixels, offsets = random_inputs.readable_pixels(rng, depth_m, mask, 50), random_inputs.offset_pairs(rng, 6)
    camera = Intrinsics(40.0, 40.0, 19.5, 14.5)
    straight = depth_differences(depth_m, mask, pixels, offsets, camera)
    swapped = depth_differences(depth_m, mask, pixels, np.ascontiguousarray(offsets[:, ::-1]), camera)
    np.testing.assert_array_equal(swapped, -straight)


def test_moving_the_person_in_the_image_changes_no_response():
    rng = np.random.default_rng(3)
    depth_m, mask = random_inputs.depth_image(rng, 30, 40)
    offsets = random_inputs.offset_pairs(rng, 6)
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, 50)
    camera = Intrinsics(40.0, 40.0, 19.5, 14.5)
    moved = [np.pad(image, ((5, 9), (7, 2))) for image in (depth_m, mask)]
    np.testing.assert_array_equal(
        depth_differences(*moved, pixels + np.array([5, 7], np.int32), offsets, camera),
        depth_differences(depth_m, mask, pixels, offsets, camera),
    )


def test_what_lies_outside_the_mask_never_changes_a_response():
    rng = np.random.default_rng(4)
    depth_m, mask = random_inputs.depth_image(rng, 30, 40)
    offsets = random_inputs.offset_pairs(rng, 6)
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, 50)
    camera = Intrinsics(40.0, 40.0, 19.5, 14.5)
    other = np.where(mask, depth_m, rng.uniform(0, 9, depth_m.shape)).astype(np.float32)
    np.testing.assert_array_equal(
        depth_differences(other, mask, pixels, offsets, camera),
        depth_differences(depth_m, mask, pixels, offsets, camera),
    )


def test_no_pixels_or_no_features_make_an_empty_table():
    depth_m, mask = np.full((4, 4), 2, np.float32), np.ones((4, 4), bool)
    none, some = np.zeros((0, 2), np.int32), np.zeros((3, 2), np.int32)
    assert depth_differences(depth_m, mask, none, pair((0, 1)), CAMERA).shape == (0, 1)
    assert depth_differences(depth_m, mask, some, np.zeros((0, 2, 2), np.float32), CAMERA).shape == (3, 0)


def test_the_bordered_image_of_two_by_two_is_known():
    depth_m = np.array([[1.0, 0.0], [9.4996, 2.0004]], np.float32)
    image = bordered_depth(depth_m, np.array([[True, True], [True, False]]))
    far = 10_000
    assert image.dtype == np.int16
    assert image.tolist() == [
        [far, far, far, far],
        [far, 1000, far, far],
        [far, 9500, far, far],
        [far, far, far, far],
    ]
