"""A still background: learned from frames of an empty scene with noise and holes, and known from the first frame."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.segmentation.foreground import RoomForeground
from posepipe.segmentation.room_geometry.background_model import BEHIND_SHARE, STANDS_FRAMES, BackgroundModel
from posepipe.segmentation.room_geometry.plane_detection import plane_tolerance_m
from posepipe.segmentation.room_geometry.still_background import StillBackground, learn_still_background
from tests.support.empty_rooms import lens, room_depth
from tests.support.rooms import with_box

FOCAL = 285.6
ROOM = room_depth(FOCAL)
CUPBOARD = with_box(ROOM, (-0.8, 0.2, 3.0), (0.6, 1.4), lens(FOCAL))
LEANING = with_box(CUPBOARD, (-0.5, -0.1, 2.8), (0.5, 1.2), lens(FOCAL))
PERSON = np.isclose(LEANING, 2.8)


def frames_of(depth_m: np.ndarray, count: int = 20, flicker: float = 0.0) -> list[DepthFrame]:
    """Frames with the noise of a Kinect and readings that are missing at random."""
    rng = np.random.default_rng(5)
    noisy = [depth_m + rng.normal(0, 0.0015, depth_m.shape) * depth_m**2 for _ in range(count)]
    return [frame_of(np.where(rng.random(depth_m.shape) < flicker, 0, each)) for each in noisy]


def frame_of(depth_m: np.ndarray) -> DepthFrame:
    return DepthFrame(depth_m.astype(np.float32), lens(FOCAL))


def foreground_of(background: StillBackground, learning: bool = True) -> RoomForeground:
    return RoomForeground(BackgroundModel(background.depth_m, learning), still=background)


def test_noise_and_flicker_leave_the_depth_of_the_room():
    background = learn_still_background(frames_of(ROOM, flicker=0.6))
    known = (ROOM > 0) & (ROOM < 5)
    error_m = background.depth_m[known] - ROOM[known]
    assert (background.depth_m[known] > 0).mean() > 0.9999
    assert abs(error_m).max() < 0.1
    assert abs(error_m.mean()) < 0.002


def test_narrow_gaps_are_filled_and_windows_stay_unknown():
    depth_m = ROOM.copy()
    depth_m[100, :], depth_m[:, 60:64], depth_m[20:60, 200:260] = 0, 0, 0
    background = learn_still_background([frame_of(depth_m)])
    filled = background.depth_m > 0
    assert filled[100].all()
    assert filled[:20, 60:64].all()
    assert not filled[25:55, 205:255].any()
    np.testing.assert_allclose(background.depth_m[depth_m > 0], depth_m[depth_m > 0], atol=6e-4)


@pytest.mark.parametrize(("gap_px", "filled"), [(6, True), (7, False)])
def test_a_gap_of_six_pixels_is_filled_and_a_wider_one_is_not(gap_px, filled):
    depth_m = ROOM.copy()
    depth_m[:, 100 : 100 + gap_px] = 0
    background = learn_still_background([frame_of(depth_m)])
    assert (background.depth_m[50:, 100 : 100 + gap_px] > 0).all() == filled


def test_what_stands_close_to_the_camera_is_known():
    depth_m = with_box(ROOM, (0, 0, 0.7), (0.012, 0.3), lens(FOCAL))  # as narrow as gaps that are filled
    post = np.isclose(depth_m, 0.7)
    assert post.any()
    np.testing.assert_allclose(learn_still_background([frame_of(depth_m)]).depth_m[post], 0.7, atol=6e-4)


def test_edges_that_flicker_take_the_nearer_surface():
    cupboard = np.isclose(CUPBOARD, 3)
    inside = cv2.erode(cupboard.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0  # all but an edge of 4 pixels
    frames = [frame_of(np.where(inside | (number % 3 == 0), CUPBOARD, ROOM)) for number in range(12)]
    background = learn_still_background(frames)
    np.testing.assert_allclose(background.depth_m[cupboard], 3, atol=0.08)


@pytest.mark.parametrize("seen", [(7,), range(3, 15), (1, 4, 5, 9, 12, 16)])
def test_somebody_who_crosses_the_recording_leaves_no_trace(seen):
    frames = [frame_of(LEANING if number in seen else CUPBOARD) for number in range(20)]
    np.testing.assert_allclose(learn_still_background(frames).depth_m, CUPBOARD, atol=0.1)  # feet touch the floor


def test_wide_noise_of_a_stereo_camera_is_nobody_who_passes():
    errors_m = np.linspace(-0.7, 0.7, 20) * 2 * plane_tolerance_m(np.float32(4))
    background = learn_still_background([frame_of(np.full(ROOM.shape, 4 + error_m)) for error_m in errors_m])
    np.testing.assert_allclose(background.depth_m, 3.98, atol=0.01)  # and none of its near readings are lost


def test_somebody_who_crosses_a_window_leaves_no_trace():
    window = np.where(PERSON, 0, CUPBOARD)
    frames = [frame_of(LEANING if 5 <= number < 14 else window) for number in range(20)]
    background = learn_still_background(frames)
    assert not background.depth_m[cv2.erode(PERSON.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0].any()


def test_a_known_cupboard_is_no_candidate_in_the_first_frame():
    background = learn_still_background(frames_of(CUPBOARD, flicker=0.2))
    frame = frames_of(CUPBOARD, 1)[0]
    assert RoomForeground().update(frame).numbers.any()
    assert not foreground_of(background).update(frame).numbers.any()


@pytest.mark.parametrize("learning", [True, False])
def test_a_person_is_cut_from_what_is_known(learning):
    background = learn_still_background(frames_of(CUPBOARD, flicker=0.2))
    labels = foreground_of(background, learning).update(frames_of(LEANING, 1)[0]).numbers
    assert (labels[PERSON] == 1).mean() > 0.99
    assert (labels[~PERSON] > 0).mean() < 0.001


def test_a_frame_does_not_depend_on_others_without_learning():
    background = learn_still_background([frame_of(CUPBOARD)])
    foreground, nobody = foreground_of(background, learning=False), np.zeros(ROOM.shape, bool)
    first = foreground.update(frame_of(LEANING))
    for _ in range(STANDS_FRAMES + 1):
        foreground.learn(frame_of(LEANING), first, nobody)
    foreground.update(frame_of(np.where(CUPBOARD > 0, np.float32(9), 0)))  # the camera was moved, and put back
    np.testing.assert_array_equal(foreground.update(frame_of(LEANING)).numbers, first.numbers)


def test_somebody_near_the_camera_does_not_erase_the_background():
    near = with_box(CUPBOARD, (0.2, 0, 0.6), (0.5, 2), lens(FOCAL))
    assert (near != CUPBOARD).mean() > 0.5
    near[::4, ::12] = 9  # noise that reads behind the room is no sign that the camera was moved
    foreground = foreground_of(learn_still_background([frame_of(CUPBOARD)]))
    foreground.update(frame_of(near))
    assert not foreground.update(frame_of(CUPBOARD)).numbers.any()


def test_a_moved_camera_gives_the_background_up_and_says_so(caplog):
    moved = np.where(np.arange(320) < 160, ROOM + 0.6, ROOM - 0.4).astype(np.float32)
    background = BackgroundModel(ROOM)
    assert np.mean(moved > ROOM + 0.3) > BEHIND_SHARE
    assert background.before(moved).all()
    assert not background.depth_m.any()
    background.before(moved)
    assert [record.message[:45] for record in caplog.records] == ["the scene is not that of the given background"]


def test_a_reset_returns_to_a_background_that_was_given_up(caplog):
    """The live view resets where a recording is played again."""
    background = BackgroundModel(ROOM)
    for _ in range(2):
        background.before(ROOM + np.float32(0.6))
        assert not background.depth_m.any()
        background.reset()
        np.testing.assert_array_equal(background.depth_m, ROOM)
    assert len(caplog.records) == 2


def test_a_reset_returns_to_the_given_background():
    background = BackgroundModel(ROOM)
    nobody = np.zeros(ROOM.shape, bool)
    for _ in range(STANDS_FRAMES):
        background.learn(LEANING, nobody, nobody)
    assert not np.array_equal(background.depth_m, ROOM)
    background.reset()
    np.testing.assert_array_equal(background.depth_m, ROOM)


def test_a_background_of_another_camera_is_refused():
    background = learn_still_background([frame_of(ROOM)], "--background empty.npz")
    foreground = foreground_of(background)
    with pytest.raises(SourceError, match=r"^--background empty.npz: wanted .* 160x120 .*, got 320x240 with fx 285.6"):
        foreground.update(DepthFrame(ROOM[::2, ::2].copy(), lens(FOCAL)))
    with pytest.raises(SourceError, match=r"wanted .* fx 300.0, .*, got .* fx 285.6, .*; record the empty scene"):
        foreground.update(DepthFrame(ROOM, Intrinsics(300, 300, 159.5, 119.5)))


@pytest.mark.parametrize("others", [[], [DepthFrame(np.zeros((4, 6), np.float32), lens(FOCAL))]])
def test_a_recording_without_readings_is_refused(others):
    with pytest.raises(SourceError, match="got no reading in any frame"):
        learn_still_background(others)


def test_a_recording_of_several_cameras_is_refused():
    with pytest.raises(SourceError, match="wanted one camera in all frames"):
        learn_still_background([frame_of(ROOM), DepthFrame(ROOM, lens(400))])


def test_a_recording_in_which_nothing_stays_is_refused():
    nothing = np.zeros_like(ROOM)
    frames = [frame_of(nothing) for _ in range(20)]
    frames[7:14] = [frame_of(np.full_like(ROOM, 2.0))] * 7
    with pytest.raises(SourceError, match="got readings that come and go at every pixel"):
        learn_still_background(frames)
