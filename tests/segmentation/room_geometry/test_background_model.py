"""Background model: learned outside of people, never on them, and reset when the camera moves."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.segmentation.foreground import RoomForeground
from posepipe.segmentation.room_geometry.background_model import SEEN_FRAMES, STANDS_FRAMES, BackgroundModel
from tests.support.rooms import SHAPE, empty_room, frame_of, with_box

NO_PEOPLE = np.zeros((40, 60), bool)
WALL = np.full((40, 60), 3, np.float32)


def with_person(wall: np.ndarray = WALL, column: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Depth and mask of a person 8 pixels wide before a wall."""
    depth_m, mask = wall.copy(), NO_PEOPLE.copy()
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


def test_without_a_background_every_reading_is_in_front():
    depth_m = WALL.copy()
    depth_m[:5] = 0
    np.testing.assert_array_equal(BackgroundModel().before(depth_m), depth_m > 0)


def test_a_wall_is_background_after_half_a_second():
    assert watched((WALL, NO_PEOPLE, SEEN_FRAMES - 1)).before(WALL).all()
    background = watched((WALL, NO_PEOPLE, SEEN_FRAMES))
    assert not background.before(WALL).any()
    depth_m, mask = with_person()
    np.testing.assert_array_equal(background.before(depth_m), mask)


def test_noise_of_a_kinect_keeps_the_wall_background():
    rng = np.random.default_rng(1)
    noisy = [(WALL + rng.normal(0, 0.014, WALL.shape).astype(np.float32), NO_PEOPLE, 1) for _ in range(3 * SEEN_FRAMES)]
    background = watched(*noisy)
    np.testing.assert_allclose(background.depth_m, 3, atol=0.02)
    assert background.before(noisy[0][0]).mean() < 0.001


def test_the_background_follows_a_camera_that_warms_up():
    background = watched((WALL, NO_PEOPLE, SEEN_FRAMES))
    for k in range(400):  # half a millimetre a frame, 20 cm in all
        depth_m = WALL - np.float32(0.0005 * k)
        assert not background.before(depth_m).any()
        background.learn(depth_m, NO_PEOPLE, NO_PEOPLE)


def test_a_person_who_stands_still_is_never_background():
    depth_m, mask = with_person()
    background = watched((depth_m, mask, 3 * STANDS_FRAMES))
    np.testing.assert_array_equal(background.before(depth_m), mask)
    assert not background.depth_m[mask].any()


def test_a_wall_hidden_by_a_person_is_learned_when_they_leave():
    depth_m, mask = with_person()
    background = watched((depth_m, mask, SEEN_FRAMES), (WALL, NO_PEOPLE, SEEN_FRAMES))
    assert not background.before(WALL).any()


def test_a_new_chair_is_background_after_ten_seconds():
    depth_m, mask = with_person()
    before = watched((WALL, NO_PEOPLE, SEEN_FRAMES), (depth_m, NO_PEOPLE, STANDS_FRAMES - 1))
    np.testing.assert_array_equal(before.before(depth_m), mask)
    assert not watched((WALL, NO_PEOPLE, SEEN_FRAMES), (depth_m, NO_PEOPLE, STANDS_FRAMES)).before(depth_m).any()


def test_a_removed_chair_is_forgotten_after_half_a_second():
    chair, _ = with_person()
    background = watched((chair, NO_PEOPLE, SEEN_FRAMES), (WALL, NO_PEOPLE, SEEN_FRAMES))
    np.testing.assert_allclose(background.depth_m, WALL)


def test_person_sized_candidates_are_learned_slowly():
    depth_m, mask = with_person()
    for frames, known in ((STANDS_FRAMES - 1, False), (STANDS_FRAMES, True)):
        background = BackgroundModel()
        for _ in range(frames):
            background.before(depth_m)
            background.learn(depth_m, NO_PEOPLE, doubtful=mask)
        assert (background.depth_m[~mask] > 0).all()
        assert (background.depth_m[mask] > 0).all() == known


def test_a_camera_that_moves_resets_the_background():
    background = watched((WALL, NO_PEOPLE, SEEN_FRAMES))
    nearer = WALL - np.float32(0.5)
    assert background.before(nearer).all()
    assert not background.depth_m.any()


def test_another_image_size_resets_the_background():
    background = watched((WALL, NO_PEOPLE, SEEN_FRAMES))
    assert background.before(np.full((20, 30), 3, np.float32)).all()


def test_pixels_without_readings_are_not_learned():
    background = watched((np.zeros((40, 60), np.float32), NO_PEOPLE, 3 * SEEN_FRAMES))
    assert not background.depth_m.any()


@pytest.mark.parametrize("known", [False, True])
def test_a_known_cupboard_is_cut_from_the_person_leaning_on_it(known):
    cupboard = with_box(empty_room(), (-0.5, 0.2, 3.0), (0.6, 1.6))
    leaning = with_box(cupboard, (0.0, 0.2, 2.8), (0.5, 1.5))
    foreground = RoomForeground(BackgroundModel() if known else None)
    candidates = foreground.update(frame_of(cupboard))
    for _ in range(STANDS_FRAMES if known else 1):
        foreground.learn(frame_of(cupboard), candidates, np.zeros(SHAPE, bool))
    labels = foreground.update(frame_of(leaning)).numbers
    person = leaning == np.float32(2.8)
    assert (labels[person] == 1).all()
    assert (labels[~person] == 1).any() != known


def test_a_reset_forgets_the_background():
    foreground = RoomForeground(watched((WALL, NO_PEOPLE, SEEN_FRAMES)))
    foreground.reset()
    assert foreground.background.depth_m.shape == (0, 0)
    assert foreground.background.before(WALL).all()


def test_a_given_background_of_another_size_is_refused():
    background = BackgroundModel(np.full((20, 30), 3, np.float32))
    with pytest.raises(ValueError, match=r"\(20, 30\), and the frames have \(40, 60\)"):
        background.before(WALL)
    with pytest.raises(ValueError, match="given background"):
        background.learn(WALL, NO_PEOPLE, NO_PEOPLE)


def test_people_of_another_image_size_are_refused():
    with pytest.raises(ValueError, match="must have one shape"):
        BackgroundModel().learn(np.ones((4, 5), np.float32), np.zeros((4, 5), bool), np.zeros((0, 0), bool))


def test_candidates_wider_than_a_person_are_learned_quickly():
    wide, narrow = ((0, 0, 3.0), (3.1, 0.6)), ((0, -0.2, 3.0), (0.5, 1.2))
    left = []
    for box in (wide, narrow):
        frame, foreground = frame_of(with_box(empty_room(), *box)), RoomForeground(BackgroundModel())
        for _ in range(SEEN_FRAMES + 1):
            foreground.learn(frame, foreground.update(frame), np.zeros(SHAPE, bool))
        left.append(foreground.update(frame).numbers.any())
    assert left == [False, True]
