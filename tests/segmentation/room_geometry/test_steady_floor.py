"""The floor of a still camera stays while people hide it, and that of a camera that moves follows every frame."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.segmentation.foreground import RoomForeground
from posepipe.segmentation.room_geometry.background_model import BackgroundModel
from posepipe.segmentation.room_geometry.plane_detection import find_planes, floor_of
from posepipe.segmentation.room_geometry.steady_floor import RENEWED_FRAMES, SteadyFloor
from tests.support.rooms import CAMERA, HEIGHT_M, empty_room, frame_of, room_normals, with_box

PITCH_DEG = 15.0
HIDING = (0.0, 0.5, 1.2), (1.3, 2.0)  #: centre and size of somebody who hides the floor
UNKNOWN_M = np.zeros_like(empty_room())


def own_floor(depth_m):
    return floor_of(find_planes(depth_m, CAMERA))


def noisy(seed):
    depth_m = empty_room(PITCH_DEG)
    noise = np.random.default_rng(seed).normal(size=depth_m.shape) * 0.004 * depth_m**2
    return np.where(depth_m > 0, depth_m + noise, 0).astype(np.float32)


def steady():
    """A floor that was found in the background."""
    floor = SteadyFloor()
    depth_m = empty_room(PITCH_DEG)
    floor.update(frame_of(depth_m), depth_m, own_floor(depth_m))
    return floor


def seen_by(foreground, depth_m):
    """Floor of the next frame, which the background model learns from."""
    found = foreground.update(frame_of(depth_m))
    foreground.learn(frame_of(depth_m), found, np.zeros(depth_m.shape, bool))
    return found.floor


def test_somebody_who_hides_the_floor_does_not_take_it_away():
    hidden = with_box(empty_room(PITCH_DEG), *HIDING)
    assert own_floor(hidden) is None
    floor = steady().update(frame_of(hidden), empty_room(PITCH_DEG), None)
    assert floor is not None
    assert np.dot(floor.normal, room_normals(PITCH_DEG)[0]) > np.cos(np.radians(0.1))
    assert abs(floor.distance_m - HEIGHT_M) < 0.002


def test_the_floor_does_not_sway_with_the_noise_of_frames():
    floor, heights_m, own_heights_m = steady(), [], []
    for seed in range(RENEWED_FRAMES + 5):
        own = own_floor(noisy(seed))
        own_heights_m.append(own.distance_m)
        heights_m.append(floor.update(frame_of(noisy(seed)), empty_room(PITCH_DEG), own).distance_m)
    assert np.ptp(own_heights_m) > 0.001
    assert np.ptp(heights_m) == 0


@pytest.mark.parametrize("turn_deg", [-3.0, 3.0])
def test_a_camera_that_tilts_has_the_floor_of_the_frame(turn_deg):
    tilted = empty_room(PITCH_DEG + turn_deg)
    own = own_floor(tilted)
    assert steady().update(frame_of(tilted), empty_room(PITCH_DEG), own) is own


@pytest.mark.parametrize("lift_m", [-0.2, 0.2])
def test_a_camera_that_is_lifted_has_the_floor_of_the_frame(lift_m):
    lifted = empty_room(PITCH_DEG) * np.float32(1 + lift_m / HEIGHT_M)
    own = own_floor(lifted)
    assert steady().update(frame_of(lifted), empty_room(PITCH_DEG), own) is own


def test_without_a_floor_in_the_background_the_frame_gives_it():
    floor, depth_m = SteadyFloor(), empty_room(PITCH_DEG)
    own = own_floor(depth_m)
    assert floor.update(frame_of(depth_m), UNKNOWN_M, own) is own
    assert floor.update(frame_of(depth_m), UNKNOWN_M, None) is None


def test_the_background_is_asked_again_after_some_frames():
    floor, depth_m = SteadyFloor(), empty_room(PITCH_DEG)
    found = [floor.update(frame_of(depth_m), UNKNOWN_M if k == 0 else depth_m, None) for k in range(RENEWED_FRAMES + 1)]
    assert found[:-1] == [None] * RENEWED_FRAMES
    assert found[-1] is not None


def test_images_of_another_size_have_a_floor_of_their_own():
    floor, small = steady(), np.ascontiguousarray(empty_room(PITCH_DEG)[:120])
    assert floor.update(frame_of(small), np.zeros_like(small), None) is None


def test_a_reset_floor_is_that_of_the_frame():
    floor, depth_m = steady(), empty_room(PITCH_DEG)
    floor.reset()
    assert floor.update(frame_of(depth_m), UNKNOWN_M, None) is None


def test_a_floor_that_reads_nothing_is_kept():
    floor = steady()
    assert floor.update(frame_of(UNKNOWN_M), empty_room(PITCH_DEG), None) is not None


def test_a_learned_background_shows_the_floor_that_people_hide():
    hidden = with_box(empty_room(PITCH_DEG), *HIDING)
    foreground = RoomForeground(BackgroundModel())
    for _ in range(RENEWED_FRAMES + 1):
        seen_by(foreground, empty_room(PITCH_DEG))
    assert seen_by(RoomForeground(), hidden) is None
    assert abs(seen_by(foreground, hidden).distance_m - HEIGHT_M) < 0.01
    foreground.reset()
    assert seen_by(foreground, hidden) is None


@pytest.mark.parametrize("deg_per_frame", [0.015, 0.07, 0.3])
def test_a_tilting_camera_has_its_floor_to_a_degree(deg_per_frame):
    foreground = RoomForeground(BackgroundModel())
    still = [PITCH_DEG] * 2 * RENEWED_FRAMES
    for pitch_deg in still + [PITCH_DEG + deg_per_frame * k for k in range(3 * RENEWED_FRAMES)]:
        floor = seen_by(foreground, empty_room(pitch_deg))
        assert np.dot(floor.normal, room_normals(pitch_deg)[0]) > np.cos(np.radians(1))
