"""A still background: what is nobody's is learned, people never, and a camera that moves makes it all void."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.segmentation.background_model import SEEN_FRAMES, STANDS_FRAMES, BackgroundModel
from posepipe.segmentation.foreground import RoomForeground
from tests.support.rooms import empty_room, frame_of, with_box

NOBODY = np.zeros((40, 60), bool)
WALL = np.full((40, 60), 3, np.float32)


def someone(wall: np.ndarray = WALL, column: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Depth and mask of somebody 8 pixels wide before a wall."""
    depth_m, mask = wall.copy(), NOBODY.copy()
    depth_m[10:35, column : column + 8] = 2.5
    mask[10:35, column : column + 8] = True
    return depth_m, mask


def watched(*frames: tuple[np.ndarray, np.ndarray, int]) -> BackgroundModel:
    """After frames of (depth, people), each so many times."""
    background = BackgroundModel()
    for depth_m, people, times in frames:
        for _ in range(times):
            background.before(depth_m)
            background.learn(depth_m, people, doubtful=np.zeros(depth_m.shape, bool))
    return background


def test_before_anything_is_known_all_that_reads_may_be_somebody():
    depth_m = WALL.copy()
    depth_m[:5] = 0
    np.testing.assert_array_equal(BackgroundModel().before(depth_m), depth_m > 0)


def test_a_wall_is_background_after_half_a_second_and_somebody_before_it_is_not():
    assert watched((WALL, NOBODY, SEEN_FRAMES - 1)).before(WALL).all()
    background = watched((WALL, NOBODY, SEEN_FRAMES))
    assert not background.before(WALL).any()
    depth_m, mask = someone()
    np.testing.assert_array_equal(background.before(depth_m), mask)


def test_noise_of_a_kinect_does_not_bring_the_wall_back():
    rng = np.random.default_rng(1)
    noisy = [(WALL + rng.normal(0, 0.014, WALL.shape).astype(np.float32), NOBODY, 1) for _ in range(3 * SEEN_FRAMES)]
    background = watched(*noisy)
    np.testing.assert_allclose(background.depth_m, 3, atol=0.02)
    assert background.before(noisy[0][0]).mean() < 0.001


def test_a_person_is_never_background_however_still():
    depth_m, mask = someone()
    background = watched((depth_m, mask, 3 * STANDS_FRAMES))
    np.testing.assert_array_equal(background.before(depth_m), mask)
    assert not background.depth_m[mask].any()


def test_what_somebody_hid_is_learned_when_he_leaves():
    depth_m, mask = someone()
    background = watched((depth_m, mask, SEEN_FRAMES), (WALL, NOBODY, SEEN_FRAMES))
    assert not background.before(WALL).any()


def test_a_chair_that_is_put_down_is_background_after_ten_seconds():
    depth_m, mask = someone()
    before = watched((WALL, NOBODY, SEEN_FRAMES), (depth_m, NOBODY, STANDS_FRAMES - 1))
    np.testing.assert_array_equal(before.before(depth_m), mask)
    assert not watched((WALL, NOBODY, SEEN_FRAMES), (depth_m, NOBODY, STANDS_FRAMES)).before(depth_m).any()


def test_a_chair_that_is_taken_away_shows_what_was_behind_after_half_a_second():
    chair, _ = someone()
    background = watched((chair, NOBODY, SEEN_FRAMES), (WALL, NOBODY, SEEN_FRAMES))
    np.testing.assert_allclose(background.depth_m, WALL)


def test_what_could_be_somebody_is_not_learned_in_a_hurry():
    depth_m, mask = someone()
    for frames, known in ((STANDS_FRAMES - 1, False), (STANDS_FRAMES, True)):
        background = BackgroundModel()
        for _ in range(frames):
            background.before(depth_m)
            background.learn(depth_m, NOBODY, doubtful=mask)
        assert (background.depth_m[~mask] > 0).all()
        assert (background.depth_m[mask] > 0).all() == known


def test_a_camera_that_moves_forgets():
    background = watched((WALL, NOBODY, SEEN_FRAMES))
    nearer = WALL - np.float32(0.5)
    assert background.before(nearer).all()
    assert not background.depth_m.any()


def test_another_size_of_picture_starts_anew():
    background = watched((WALL, NOBODY, SEEN_FRAMES))
    assert background.before(np.full((20, 30), 3, np.float32)).all()


def test_holes_teach_nothing():
    background = watched((np.zeros((40, 60), np.float32), NOBODY, 3 * SEEN_FRAMES))
    assert not background.depth_m.any()


@pytest.mark.parametrize("remembers", [False, True])
def test_somebody_who_leans_on_a_cupboard_is_cut_from_it_by_memory(remembers):
    cupboard = with_box(empty_room(), (-0.5, 0.2, 3.0), (0.6, 1.6))
    leaning = with_box(cupboard, (0.0, 0.2, 2.8), (0.5, 1.5))
    foreground = RoomForeground(BackgroundModel() if remembers else None)
    for _ in range(STANDS_FRAMES if remembers else 1):
        candidates = foreground.update(frame_of(cupboard))
        foreground.learn(frame_of(cupboard), np.zeros(candidates.shape, bool))
    candidates = foreground.update(frame_of(leaning))
    person = leaning == np.float32(2.8)
    assert (candidates[person] == 1).all()
    assert (candidates[~person] == 1).any() != remembers


def test_people_of_another_picture_are_refused():
    with pytest.raises(ValueError, match="must have one shape"):
        BackgroundModel().learn(np.ones((4, 5), np.float32), np.zeros((4, 5), bool), np.zeros((0, 0), bool))


def test_what_is_wider_than_a_person_is_soon_known_and_what_could_be_somebody_is_not():
    wide, narrow = ((0, 0, 3.0), (3.1, 0.6)), ((0, -0.2, 3.0), (0.5, 1.2))
    left = []
    for box in (wide, narrow):
        frame, foreground = frame_of(with_box(empty_room(), *box)), RoomForeground(BackgroundModel())
        for _ in range(SEEN_FRAMES + 1):
            foreground.update(frame)
            foreground.learn(frame, np.zeros(frame.depth_m.shape, bool))
        left.append(foreground.update(frame).any())
    assert left == [False, True]
