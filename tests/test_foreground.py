"""The foreground of cut-out frames: the person stays, specks go."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.foreground import CutOutForeground
from posepipe.frames import DepthFrame

CAMERA = Intrinsics(100.0, 100.0, 31.5, 23.5)  #: at 2 m a pixel is 4 square centimetres


def mask_of(depth_m: np.ndarray, camera: Intrinsics = CAMERA, **options) -> np.ndarray:
    return CutOutForeground(**options).update(DepthFrame(depth_m, camera))


def person() -> np.ndarray:
    depth_m = np.zeros((48, 64), np.float32)
    depth_m[10:40, 20:40] = 2
    return depth_m


def test_everything_that_reads_is_the_person():
    depth_m = person()
    mask = mask_of(depth_m)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, depth_m > 0)


def test_holes_in_the_person_stay_holes():
    depth_m = person()
    depth_m[20:25, 25:30] = 0
    np.testing.assert_array_equal(mask_of(depth_m), depth_m > 0)


def test_a_speck_is_dropped_and_a_limb_apart_stays():
    # 2 pixels are 8 square centimetres; 6 are 24, more than the 20 of the least piece
    depth_m = person()
    depth_m[3, 3:5] = 2
    depth_m[43:46, 50:52] = 2
    mask = mask_of(depth_m)
    assert not mask[3, 3:5].any()
    assert mask[43:46, 50:52].all()


@pytest.mark.parametrize("kept", [True, False])
def test_a_speck_is_measured_in_metres_not_in_pixels(kept):
    # five pixels: 20 square centimetres at 2 m and 45 at 3 m, 5 at 1 m
    depth_m = np.zeros((48, 64), np.float32)
    depth_m[5, 5:10] = 3 if kept else 1
    assert mask_of(depth_m).any() == kept


def test_the_same_limb_stays_at_any_resolution():
    for factor in (1, 2, 4):
        depth_m = np.zeros((48 * factor, 64 * factor), np.float32)
        depth_m[5 * factor : 8 * factor, 5 * factor : 7 * factor] = 2
        assert mask_of(depth_m, CAMERA.scaled(factor)).sum() == 6 * factor**2


def test_pixels_that_touch_at_a_corner_belong_together():
    depth_m = np.zeros((48, 64), np.float32)
    for k in range(8):
        depth_m[5 + k, 5 + k] = 2
    assert mask_of(depth_m).sum() == 8


def test_nobody_in_view_is_an_empty_mask():
    mask = mask_of(np.zeros((48, 64), np.float32))
    assert mask.shape == (48, 64)
    assert not mask.any()


def test_a_full_image_is_kept_whole():
    assert mask_of(np.full((48, 64), 2, np.float32)).all()


def test_the_least_piece_may_be_chosen():
    depth_m = person()
    depth_m[3, 3:5] = 2
    assert mask_of(depth_m, min_area_m2=0.0)[3, 3:5].all()
    assert not mask_of(depth_m, min_area_m2=1.0).any()


def test_frames_know_nothing_of_each_other():
    foreground = CutOutForeground()
    first = foreground.update(DepthFrame(person(), CAMERA))
    foreground.update(DepthFrame(np.zeros((48, 64), np.float32), CAMERA))
    np.testing.assert_array_equal(foreground.update(DepthFrame(person(), CAMERA)), first)
