"""Depth frames: any input becomes metres or 0."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posepipe.camera import Intrinsics
from posepipe.frames import MAX_DEPTH_M, MIN_DEPTH_M, DepthFrame, LabelledFrame, clean_depth, window_of

CAMERA = Intrinsics(10.0, 10.0, 0.0, 0.0)


def test_metres_stay_and_everything_else_becomes_0():
    depth_m = np.array([[1.5, 0.0, -1.0, np.nan, np.inf, -np.inf, 0.05, 9.6, 1e6]])
    assert clean_depth(depth_m).tolist() == [[1.5, 0, 0, 0, 0, 0, 0, 0, 0]]


def test_millimetres_become_metres():
    depth_mm = np.array([[0, 99, 100, 1234, 9500, 9501, 65535]], np.uint16)
    np.testing.assert_allclose(clean_depth(depth_mm), [[0, 0, 0.1, 1.234, 9.5, 0, 0]], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floating_point_millimetres_are_warned_of(dtype):
    depth = np.array([[0, np.nan, 2100, 2200]], dtype)
    with pytest.warns(UserWarning, match="got a median of 2150 and no reading .* divide millimetres") as caught:
        assert not DepthFrame(depth, CAMERA).depth_m.any()
    assert caught[0].filename == __file__


def test_whole_metres_are_warned_of():
    with pytest.warns(UserWarning, match="uint16 depth is millimetres, got none above 4; give metres as floating"):
        DepthFrame(np.array([[4, 0, 2]], np.uint16), CAMERA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DepthFrame(np.array([[60, 0, 2]], np.uint16), CAMERA)  # a covered camera
        DepthFrame(np.zeros((1, 3), np.uint16), CAMERA)


@pytest.mark.parametrize("depth", [[[0, np.nan, np.inf]], [[30.0, 40.0, 50.0]], [[1000.0, 1000.0, 2.0]]])
def test_empty_and_distant_scenes_in_metres_are_not(depth):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DepthFrame(np.array(depth), CAMERA)


def test_intrinsics_of_another_type_are_refused():
    with pytest.raises(TypeError, match=r"Intrinsics\(fx, fy, cx, cy\), got \(525, 525, 319.5"):
        DepthFrame(np.ones((2, 2)), (525, 525, 319.5, 239.5))


def test_the_limits_themselves_are_kept():
    kept = clean_depth(np.array([[MIN_DEPTH_M, MAX_DEPTH_M]], np.float32))
    np.testing.assert_array_equal(kept, np.array([[MIN_DEPTH_M, MAX_DEPTH_M]], np.float32))


@given(
    hnp.arrays(
        st.sampled_from([np.float16, np.float32, np.float64]), hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)
    )
)
def test_any_floating_point_image_is_cleaned_without_a_warning(depth):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cleaned = clean_depth(depth)
    assert (cleaned.dtype, cleaned.shape) == (np.float32, depth.shape)
    assert ((cleaned == 0) | ((cleaned >= np.float32(MIN_DEPTH_M)) & (cleaned <= MAX_DEPTH_M))).all()
    readable = (depth > 0.11) & (depth < 9.4)
    np.testing.assert_allclose(cleaned[readable], depth[readable], rtol=1e-6)


@given(hnp.arrays(np.uint16, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)))
def test_cleaning_twice_is_cleaning_once(depth_mm):
    once = clean_depth(depth_mm)
    np.testing.assert_array_equal(clean_depth(once), once)


def test_cleaning_leaves_the_given_image_alone():
    depth_m = np.array([[np.nan, 2.0]], np.float32)
    clean_depth(depth_m)
    np.testing.assert_array_equal(depth_m, np.array([[np.nan, 2.0]], np.float32))


def test_one_pixel_is_an_image():
    assert clean_depth(np.array([[2.0]])).tolist() == [[2.0]]


@pytest.mark.parametrize("shape", [(), (5,), (1, 2, 3), (4, 4, 1), (0, 5), (5, 0), (0, 0)])
def test_another_number_of_axes_or_no_pixel_is_refused(shape):
    with pytest.raises(ValueError, match="two axes"):
        clean_depth(np.ones(shape))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.uint32, np.int64, bool, complex, object, "U3"])
def test_another_dtype_is_refused(dtype):
    with pytest.raises(ValueError, match="uint16 millimetres, got"):
        clean_depth(np.ones((2, 2)).astype(dtype))


def test_lists_and_views_are_images_too():
    depth_m = np.arange(1, 13, dtype=np.float64).reshape(3, 4) / 2
    np.testing.assert_array_equal(clean_depth(depth_m.tolist()), depth_m.astype(np.float32))
    np.testing.assert_array_equal(clean_depth(depth_m.T[::-1]), depth_m.T[::-1].astype(np.float32))
    big_endian = depth_m.astype(">f8")
    np.testing.assert_array_equal(clean_depth(big_endian), depth_m.astype(np.float32))


def test_the_byte_order_of_millimetres_does_not_matter():
    depth_mm = np.array([[0, 99, 1234, 9500]], np.uint16)
    for order in "<>":
        cleaned = clean_depth(depth_mm.astype(f"{order}u2"))
        np.testing.assert_array_equal(cleaned, clean_depth(depth_mm))
        assert cleaned.dtype == np.dtype("float32")


def test_a_rotated_image_becomes_row_major_for_kernels():
    # a kernel is compiled once more for every other layout
    assert clean_depth(np.rot90(np.ones((3, 4), np.float32))).flags.c_contiguous


def test_a_frame_is_cleaned_on_construction():
    frame = DepthFrame(np.array([[2000, 0, 65535]], np.uint16), CAMERA, timestamp_s=1.5, index=7)
    assert frame.depth_m.dtype == np.float32
    np.testing.assert_allclose(frame.depth_m, [[2, 0, 0]])
    assert (frame.timestamp_s, frame.index) == (1.5, 7)


def test_a_frame_without_an_image_is_refused():
    with pytest.raises(ValueError):
        DepthFrame(np.zeros((2, 2, 2), np.float32), CAMERA)


@pytest.mark.parametrize(
    ("field", "array", "message"),
    [
        ("parts", np.zeros((3, 2), np.uint8), r"parts: wanted uint8 \(2, 3\), as depth, got uint8 \(3, 2\)"),
        ("people", np.zeros((2, 3), int), r"people: wanted uint8 \(2, 3\), as depth, got int64"),
        (
            "joints_m",
            np.zeros((4, 3), np.float32),
            r"joints_m: wanted floating point \(P, J, 3\), got float32 \(4, 3\)",
        ),
        ("joints_m", np.zeros((1, 4, 3), int), "joints_m: wanted floating point"),
        ("visible", np.ones(4, bool), r"visible: wanted bool \(1, 4\), got bool \(4,\)"),
        ("visible", np.ones((1, 4), np.uint8), r"visible: wanted bool \(1, 4\), got uint8"),
    ],
)
def test_a_truth_that_does_not_fit_its_frame_is_refused(field, array, message):
    labels = np.zeros((2, 3), np.uint8)
    truth = {"parts": labels, "people": labels, "joints_m": np.zeros((1, 4, 3)), "visible": np.ones((1, 4), bool)}
    depth = DepthFrame(np.ones((2, 3), np.float32), CAMERA)
    LabelledFrame(depth, **truth)
    with pytest.raises(ValueError, match=message):
        LabelledFrame(depth, **truth | {field: array})


def test_a_window_is_the_bounding_box_of_a_mask():
    mask = np.zeros((9, 12), bool)
    mask[2, 5] = mask[6, 3] = True
    assert window_of(mask) == (slice(2, 7), slice(3, 6))
    for other in (np.uint8, np.int32, np.int64):
        assert window_of(mask.astype(other)) == window_of(mask)
    assert mask[window_of(np.zeros((4, 5), bool))].size == 0
