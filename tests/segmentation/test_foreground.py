"""Foreground: of cut-out people specks are dropped; a room is divided into candidates."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.segmentation.candidates import Candidates
from posepipe.segmentation.foreground import MAX_COMPONENTS, CutOutForeground, RoomForeground, join_near
from posepipe.segmentation.room_geometry.connected_components import find_components
from tests.support.rooms import CAMERA as ROOM_CAMERA
from tests.support.rooms import HEIGHT_M, SHAPE, empty_room, frame_of, with_box

CAMERA = Intrinsics(100.0, 100.0, 31.5, 23.5)  #: at 2 m a pixel is 4 square centimetres


def mask_of(depth_m: np.ndarray, camera: Intrinsics = CAMERA, **options) -> np.ndarray:
    labels = CutOutForeground(**options).update(DepthFrame(depth_m, camera)).numbers
    assert labels.dtype == np.uint8
    assert labels.max(initial=0) <= 1
    return labels.astype(bool)


def person() -> np.ndarray:
    depth_m = np.zeros((48, 64), np.float32)
    depth_m[10:40, 20:40] = 2
    return depth_m


def test_everything_that_reads_is_the_person():
    depth_m = person()
    mask = mask_of(depth_m)
    np.testing.assert_array_equal(mask, depth_m > 0)


def test_a_pixel_without_a_reading_is_in_no_candidate():
    depth_m = person()
    depth_m[20:25, 25:30] = 0
    np.testing.assert_array_equal(mask_of(depth_m, min_area_m2=0), depth_m > 0)


def test_holes_in_the_person_stay_holes():
    depth_m = person()
    depth_m[20:25, 25:30] = 0
    np.testing.assert_array_equal(mask_of(depth_m), depth_m > 0)


def test_a_speck_is_dropped_and_a_separate_limb_stays():
    # 2 pixels are 8 square centimetres; 6 are 24, more than the 20 of the smallest component
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


def test_pixels_that_touch_at_a_corner_are_connected():
    depth_m = np.zeros((48, 64), np.float32)
    for k in range(8):
        depth_m[5 + k, 5 + k] = 2
    assert mask_of(depth_m).sum() == 8


def test_an_empty_image_has_no_candidate():
    mask = mask_of(np.zeros((48, 64), np.float32))
    assert mask.shape == (48, 64)
    assert not mask.any()


def test_a_full_image_is_kept_whole():
    assert mask_of(np.full((48, 64), 2, np.float32)).all()


def test_the_minimum_component_may_be_chosen():
    depth_m = person()
    depth_m[3, 3:5] = 2
    assert mask_of(depth_m, min_area_m2=0.0)[3, 3:5].all()
    assert not mask_of(depth_m, min_area_m2=1.0).any()


def test_a_cut_out_frame_is_judged_by_itself():
    foreground = CutOutForeground()
    first = foreground.update(DepthFrame(person(), CAMERA)).numbers
    foreground.update(DepthFrame(np.zeros((48, 64), np.float32), CAMERA))
    np.testing.assert_array_equal(foreground.update(DepthFrame(person(), CAMERA)).numbers, first)


def test_candidates_give_their_masks_in_order():
    labels = np.array([[0, 2, 2], [1, 0, 3]], np.uint8)
    masks = list(Candidates(labels, labels > 0).masks())
    assert [mask.dtype for mask in masks] == [bool] * 3
    np.testing.assert_array_equal(masks, [labels == 1, labels == 2, labels == 3])


def test_small_pieces_are_foreground_though_no_candidates():
    depth_m = with_box(empty_room(15), (-0.7, -0.2, 2.5), (0.15, 0.15))
    found = RoomForeground().update(frame_of(depth_m))
    assert not found.numbers.any()
    changed = depth_m != empty_room(15)
    assert found.foreground[changed].mean() > 0.9


def test_no_candidates_have_no_masks():
    assert list(Candidates(np.zeros((2, 3), np.uint8), np.zeros((2, 3), bool)).masks()) == []


@pytest.mark.parametrize("finer", [1, 3])
@pytest.mark.parametrize("minimum", ["min_area_m2", "speck_m2"])
def test_without_a_minimum_only_surfaces_are_candidates(minimum, finer):
    depth_m = with_box(empty_room(), (0.0, 0.2, 2.0), (0.5, 1.6))
    mask = depth_m == 2
    mask[2::40, 2::40] = True  # specks of the wall, and of the floor
    depth_m, mask = (image.repeat(finer, axis=0).repeat(finer, axis=1) for image in (depth_m, mask))
    frame = frame_of(depth_m, ROOM_CAMERA.scaled(finer))
    found = list(RoomForeground(**{minimum: 0.0}).group(frame, mask).masks())
    np.testing.assert_array_equal(found, list(RoomForeground().group(frame, mask).masks()))
    assert len(found) == 1


def test_candidates_of_a_room_come_with_its_floor():
    depth_m = with_box(empty_room(15), (-0.7, -0.2, 2.5), (0.4, 1.2))
    floor = RoomForeground().update(frame_of(depth_m)).floor
    assert floor is not None
    assert floor.distance_m == pytest.approx(HEIGHT_M, abs=0.02)
    assert CutOutForeground().update(frame_of(depth_m)).floor is None


def test_only_candidates_no_wider_than_a_person_are_person_sized():
    wide = with_box(np.zeros(SHAPE, np.float32), (0, 0.6, 3.0), (3.1, 0.6))
    both = RoomForeground().update(frame_of(with_box(wide, (0, -0.6, 2.0), (0.4, 0.6))))
    assert both.numbers.max() == 2
    np.testing.assert_array_equal(both.person_sized, both.numbers == both.numbers[40, 160])


def candidates_of(depth_m: np.ndarray, **options) -> np.ndarray:
    labels = RoomForeground(**options).update(frame_of(depth_m)).numbers
    assert labels.dtype == np.uint8
    return labels


def test_an_empty_room_has_no_candidates():
    assert not candidates_of(empty_room(15)).any()


@pytest.mark.parametrize("room", [empty_room(), empty_room(15), np.zeros(SHAPE, np.float32)])
def test_two_people_are_two_candidates_the_larger_first(room):
    depth_m = with_box(with_box(room, (-0.7, -0.2, 2.5), (0.4, 1.2)), (0.6, -0.2, 2.2), (0.5, 1.0))
    candidates = candidates_of(depth_m)
    np.testing.assert_array_equal(candidates == 2, depth_m == np.float32(2.5))
    np.testing.assert_array_equal(candidates == 1, depth_m == np.float32(2.2))


def test_a_person_before_another_is_a_candidate():
    depth_m = with_box(with_box(empty_room(), (0, -0.1, 2.9), (0.9, 1.2)), (0.3, -0.1, 2.0), (0.4, 1.0))
    assert candidates_of(depth_m).max() == 2


def test_a_hand_that_noise_cuts_off_stays_with_its_person():
    depth_m = with_box(with_box(empty_room(), (0, -0.2, 2.5), (0.5, 1.2)), (0.36, -0.2, 2.5), (0.12, 0.12))
    assert (depth_m == 2.5).any()
    assert candidates_of(depth_m).max() == 1
    np.testing.assert_array_equal(candidates_of(depth_m) == 1, depth_m == 2.5)


def test_a_ball_far_from_people_is_in_no_candidate():
    depth_m = with_box(with_box(empty_room(), (0, -0.2, 2.5), (0.5, 1.2)), (0.9, -0.2, 2.5), (0.2, 0.2))
    candidates = candidates_of(depth_m)
    assert candidates.max() == 1
    assert not candidates[:, 240:].any()


def test_a_person_connected_to_something_wide_is_a_candidate():
    depth_m = with_box(with_box(empty_room(), (0, 0.6, 3.0), (3.1, 0.6)), (0.2, -0.2, 3.0), (0.5, 1.2))
    assert (candidates_of(depth_m)[depth_m == 3.0] == 1).all()


@pytest.mark.parametrize(("max_extent_m", "count"), [(2.8, 2), (3.2, 1)])
def test_components_never_join_beyond_the_extent_of_a_person(max_extent_m, count):
    depth_m = with_box(with_box(empty_room(), (-0.8, 0, 2.5), (1.6, 0.8)), (0.85, 0, 2.7), (1.7, 0.8))  # 2.9 m in view
    assert candidates_of(depth_m, max_extent_m=max_extent_m).max() == count


def test_an_arm_towards_the_camera_stays_with_its_person():
    depth_m = with_box(with_box(empty_room(), (0, -0.2, 2.5), (0.5, 1.2)), (0, -0.3, 1.95), (0.25, 0.4))
    candidates = candidates_of(depth_m)
    assert (candidates > 0).sum() == ((depth_m == 2.5) | (depth_m == np.float32(1.95))).sum()
    assert candidates.max() == 1


def test_a_loose_hand_stays_with_a_person_whose_arm_has_joined():
    depth_m = with_box(with_box(empty_room(), (0, -0.2, 2.5), (0.5, 1.2)), (0, -0.3, 1.95), (0.25, 0.4))
    depth_m = with_box(depth_m, (0.36, -0.2, 2.5), (0.12, 0.12))
    candidates = candidates_of(depth_m)
    np.testing.assert_array_equal(candidates == 1, (depth_m == 2.5) | (depth_m == np.float32(1.95)))


def grouped(*boxes: tuple[int, int, float], **options) -> list[int]:
    """Candidate of each box, from its first column to its last, metres away, all of one height and in no room."""
    depth_m = np.zeros(SHAPE, np.float32)
    for first, last, away_m in boxes:
        depth_m[100:160, first : last + 1] = away_m
    numbers = RoomForeground(**options).group(frame_of(depth_m), depth_m > 0).numbers
    return [int(numbers[130, first]) for first, _, _ in boxes]


@pytest.mark.parametrize(("gap_px", "candidates"), [(6, [1, 1]), (7, [1, 2])])
def test_components_touch_across_the_shadow_of_a_camera(gap_px, candidates):
    assert grouped((40, 120, 2.5), (120 + gap_px, 190, 2.5)) == candidates


@pytest.mark.parametrize(("limb_m2", "candidates"), [(0.12, [1, 2]), (0.05, [1, 1])])
def test_two_limbs_may_be_those_of_two_people(limb_m2, candidates):
    assert grouped((100, 117, 2.5), (121, 137, 2.5), limb_m2=limb_m2) == candidates  # 0.08 m² each


def test_three_components_join_only_to_the_size_of_a_person():
    left, middle, right = grouped((10, 90, 4.0), (94, 190, 4.0), (194, 274, 4.0))  # 1.1, 1.4 and 1.1 m wide
    assert left == middle != right


def test_a_component_between_two_others_joins_the_nearer():
    left, middle, right = grouped((10, 90, 4.0), (94, 190, 4.2), (194, 274, 4.2))
    assert left != middle == right


def test_small_components_join_by_distance_in_space():
    components = np.zeros((40, 60), np.int32)
    components[5:35, 5:25], components[10:15, 32:36], components[20:25, 32:36], components[2:5, 27:29] = 1, 2, 3, 4
    metres = np.array([0, 2.0, 2.0, 3.5, 2.6], np.float32)
    joined = join_near(
        components, np.array([False, True, False, False, False]), frame_of(metres[components]).depth_m, CAMERA, 0.2
    )
    np.testing.assert_array_equal(joined, np.array([0, 1, 1, 3, 4])[components])


def test_a_body_that_an_arm_cuts_in_two_is_one():
    upper = with_box(empty_room(), (0, -0.5, 2.5), (0.5, 0.6))
    depth_m = with_box(with_box(upper, (0, 0.3, 2.55), (0.5, 0.9)), (0, -0.15, 2.3), (0.6, 0.12))
    assert candidates_of(depth_m).max() == 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 320), (240, 1), (3, 3)])
def test_a_frame_of_few_pixels_has_no_candidates(shape):
    assert not candidates_of(np.full(shape, 2, np.float32)).any()


def test_a_person_beside_a_long_table_stays_one_candidate():
    table = with_box(empty_room(), (0, 0.6, 2.5), (2.6, 0.5))
    depth_m = with_box(table, (0.9, -0.3, 2.75), (0.5, 1.3))
    candidates = candidates_of(depth_m)
    person = depth_m == 2.75
    assert candidates.max() >= 1
    assert (candidates[person] == candidates[person][0]).all()
    assert candidates[person][0] > 0


@pytest.mark.parametrize("finer", [2, 3])
def test_a_finer_image_has_the_same_candidates(finer):
    depth_m = np.zeros((60, 80), np.float32)
    depth_m[8:50, 5:30], depth_m[30:57, 50:68] = 1.5, 2.5
    depth_m[30:33, 30:38] = 1.4  # an arm of the first, before nothing
    camera = Intrinsics(280.0 / 4, 280.0 / 4, 39.5, 29.5)
    coarse = RoomForeground().update(DepthFrame(depth_m, camera)).numbers
    assert coarse.max() == 2
    fine_m, factor = depth_m.repeat(4 * finer, axis=0).repeat(4 * finer, axis=1), 4 * finer
    fine = RoomForeground().update(DepthFrame(fine_m, camera.scaled(factor))).numbers
    np.testing.assert_array_equal(fine, coarse.repeat(factor, axis=0).repeat(factor, axis=1))


# hostile frames and lenses


def far_noise() -> np.ndarray:
    """Readings of 5 to 9.5 m at random, half of them missing: nearly as many components as pixels."""
    rng = np.random.default_rng(1)
    depth_m = rng.uniform(5, 9.5, SHAPE).astype(np.float32)
    depth_m[rng.random(SHAPE) < 0.5] = 0
    return depth_m


@pytest.mark.parametrize("focal", [0.9, 32.0, 80.0, 160.0, 6400.0, 1e9])
def test_no_lens_and_no_noise_takes_more_memory_than_the_image(focal):
    depth_m = far_noise()
    RoomForeground().update(DepthFrame(depth_m, CAMERA))
    tracemalloc.start()
    try:
        RoomForeground().update(DepthFrame(depth_m, Intrinsics(focal, focal, 159.5, 119.5)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 100 * depth_m.size  # bytes: arrays of the image's size, none of the lens or of all components


def test_a_person_in_the_noise_of_many_components_is_the_largest():
    depth_m = far_noise()
    depth_m[60:220, 130:190] = 2
    depth_m[55:60] = depth_m[220:225] = 0
    depth_m[55:225, 120:130] = depth_m[55:225, 190:200] = 0
    camera = Intrinsics(160.0, 160.0, 159.5, 119.5)
    assert find_components(depth_m, depth_m > 0)[1] > 2 * MAX_COMPONENTS
    labels = RoomForeground().update(DepthFrame(depth_m, camera)).numbers
    assert (labels[depth_m == 2] == labels[100, 160]).all()
    assert labels[100, 160] == 1
