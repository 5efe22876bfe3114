"""Still furniture: people are told from things that have stood there since the camera started."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.segmentation.room_geometry.background_model import SEEN_FRAMES
from posepipe.segmentation.still_furniture import FoundPerson, StillFurniture

CAMERA = Intrinsics(140.0, 140.0, 79.5, 59.5)
OBLONG_PIXELS = Intrinsics(112.0, 175.0, 79.5, 59.5)  # pixels of the same area as those of CAMERA
SHAPE = (120, 160)
PLACE = np.s_[30:100, 60:90]


def frame_of(*boxes, box_m: float = 2.0, camera: Intrinsics = CAMERA) -> DepthFrame:
    """A wall at 4 m, and boxes before it."""
    depth_m = np.full(SHAPE, 4.0, np.float32)
    for box in boxes:
        depth_m[box] = box_m
    return DepthFrame(depth_m, camera)


def found(box, probability: float = 0.7, id: int = 1) -> FoundPerson:
    mask = np.zeros(SHAPE, bool)
    mask[box] = True
    return FoundPerson(id, mask, probability)


def after_seconds(*boxes, camera: Intrinsics = CAMERA) -> StillFurniture:
    """The stage after the scene has been seen for a while."""
    still = StillFurniture()
    for _ in range(SEEN_FRAMES + 1):
        still.update(frame_of(*boxes, camera=camera), [])
    return still


@pytest.mark.parametrize(("probability", "person"), [(0.5, False), (0.74, False), (0.75, True)])
def test_what_never_moved_needs_a_high_probability(probability, person):
    assert after_seconds(PLACE).update(frame_of(PLACE), [found(PLACE, probability)]) == [person]


def test_everybody_counts_before_the_scene_is_known():
    still = StillFurniture()
    for _ in range(SEEN_FRAMES):
        assert still.update(frame_of(PLACE), [found(PLACE, 0.5)]) == [True]
    assert still.update(frame_of(PLACE), [found(PLACE, 0.5)]) == [False]


def test_who_comes_in_counts_and_is_never_taken_for_furniture():
    still = after_seconds()
    for _ in range(10 * SEEN_FRAMES):
        assert still.update(frame_of(PLACE), [found(PLACE, 0.5)]) == [True]


def without_wall(*boxes) -> DepthFrame:
    """Boxes before a wall on the left, and before nothing that can be read on the right."""
    frame = frame_of(*boxes)
    depth_m = np.where(frame.depth_m == 4.0, 0, frame.depth_m)
    depth_m[:, :50] = 4.0
    return DepthFrame(depth_m, CAMERA)


def test_who_comes_in_before_what_cannot_be_read_counts():
    still = StillFurniture()
    for _ in range(SEEN_FRAMES):
        still.update(without_wall(), [])
    for id in range(1, 10 * SEEN_FRAMES):  # lost and found again
        assert still.update(without_wall(PLACE), [found(PLACE, 0.5, id)]) == [True]


def test_a_scene_seen_after_a_cover_is_taken_off_is_known():
    still, dark = StillFurniture(), DepthFrame(np.zeros(SHAPE, np.float32), CAMERA)
    for frame in [dark] * 2 * SEEN_FRAMES + [frame_of(PLACE)] * (SEEN_FRAMES + 1):
        still.update(frame, [])
    assert still.update(frame_of(PLACE), [found(PLACE)]) == [False]


def test_a_scene_without_readings_for_a_second_stays_known():
    still, dark = after_seconds(PLACE), DepthFrame(np.zeros(SHAPE, np.float32), CAMERA)
    for _ in range(30):
        still.update(dark, [])
    assert still.update(frame_of(PLACE), [found(PLACE)]) == [False]


def test_what_stays_in_view_of_a_covered_camera_is_known():
    still, dark = StillFurniture(), np.zeros(SHAPE, np.float32)
    partly = np.where(frame_of(PLACE).depth_m == 2.0, np.float32(2.0), dark)
    for depth_m in [dark] * 2 * SEEN_FRAMES + [frame_of(PLACE).depth_m] + [partly] * (SEEN_FRAMES + 1):
        still.update(DepthFrame(depth_m, CAMERA), [])
    assert still.update(DepthFrame(partly, CAMERA), [found(PLACE)]) == [False]


def test_a_thing_behind_what_could_not_be_read_is_known():
    still, hole = after_seconds(PLACE), frame_of(PLACE, box_m=0.0)
    for frame in [hole] * (SEEN_FRAMES + 1) + [frame_of(PLACE, box_m=3.0)] * SEEN_FRAMES:
        still.update(frame, [])
    assert still.update(frame_of(PLACE, box_m=3.0), [found(PLACE)]) == [False]


def test_who_moves_a_hand_counts_from_then_on():
    still, hand = after_seconds(PLACE), np.s_[60:70, 90:100]  # 14 x 14 cm at 2 m
    person = found(PLACE)
    person.mask[hand] = True
    assert still.update(frame_of(PLACE), [found(PLACE)]) == [False]
    assert still.update(frame_of(PLACE, hand), [person]) == [True]
    assert still.update(frame_of(PLACE), [found(PLACE)]) == [True]
    assert still.update(frame_of(PLACE), [found(PLACE, id=2)]) == [False]


@pytest.mark.parametrize("camera", [CAMERA, OBLONG_PIXELS])
@pytest.mark.parametrize(("side_px", "person"), [(6, False), (7, False), (8, True)])
def test_only_motion_of_the_size_of_a_hand_counts(side_px, person, camera):
    still, moved = (
        after_seconds(PLACE, camera=camera),
        np.s_[60 : 60 + side_px, 90 : 90 + side_px],
    )  # 7 x 7 pixels at 1.9 m: 90 cm²
    mover = found(PLACE)
    mover.mask[moved] = True
    frame = frame_of(PLACE, camera=camera)
    frame.depth_m[moved] = 1.9
    assert still.update(frame, [mover]) == [person]


def test_flicker_at_an_edge_is_no_motion():
    still, edge = after_seconds(PLACE), np.s_[30:100, 90:92]
    wider = found(PLACE)
    wider.mask[edge] = True
    assert still.update(frame_of(PLACE, edge), [wider]) == [False]


def test_a_thing_behind_somebody_who_leaves_is_furniture():
    still = after_seconds(PLACE)
    for _ in range(SEEN_FRAMES):  # a chair at 3 m, which the person at 2 m hid
        still.update(frame_of(PLACE, box_m=3.0), [])
    assert still.update(frame_of(PLACE, box_m=3.0), [found(PLACE)]) == [False]


def test_a_camera_that_moves_withholds_nobody():
    still = after_seconds(PLACE)
    for shift in range(1, 30):
        moved = np.s_[30:100, 60 + shift : 90 + shift]
        depth_m = frame_of(moved, box_m=2.0 + 0.2 * (shift % 2)).depth_m + np.float32(0.5 * (shift % 2))
        assert still.update(DepthFrame(depth_m, CAMERA), [found(moved, id=shift)]) == [True]


def test_reset_forgets_the_scene_and_who_has_moved():
    still = after_seconds()
    assert still.update(frame_of(PLACE), [found(PLACE)]) == [True]
    still.reset()
    for _ in range(SEEN_FRAMES + 1):
        still.update(frame_of(PLACE), [])
    assert still.update(frame_of(PLACE), [found(PLACE)]) == [False]


def test_who_is_thinner_than_the_grid_counts():
    still, thin = StillFurniture(), np.zeros((480, 640), bool)
    fine = DepthFrame(np.full((480, 640), 4, np.float32), CAMERA.scaled(4))
    thin[100:300, 301:303] = True
    for _ in range(SEEN_FRAMES + 1):
        still.update(fine, [])
    assert still.update(fine, [FoundPerson(1, thin, 0.5)]) == [True]


def test_finer_images_are_judged_on_the_same_grid():
    still = StillFurniture()
    fine = DepthFrame(np.repeat(np.repeat(frame_of(PLACE).depth_m, 4, 0), 4, 1), CAMERA.scaled(4))
    person = found(PLACE, 0.5)
    person = person._replace(mask=np.repeat(np.repeat(person.mask, 4, 0), 4, 1))
    for _ in range(SEEN_FRAMES + 1):
        still.update(fine, [])
    assert still.update(fine, [person]) == [False]
    assert still.update(fine, [person._replace(probability=0.95)]) == [True]
