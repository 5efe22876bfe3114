"""Person segmentation: where it classifies, how it averages, and what follows for candidates."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.parts import PartProbabilities
from posepipe.segmentation.foreground import RoomForeground
from posepipe.segmentation.person_segmentation import (
    GRID_PX,
    SEGMENTS,
    STRIDE,
    PersonSegmentation,
    on_segmentation_grid,
)
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.stage import Stateless
from tests.support.rooms import CAMERA, SHAPE, empty_room, frame_of, with_box


class NearIsPerson(Stateless):
    """A classifier that calls every pixel nearer than ``limit_m`` a person."""

    body = SEGMENTS

    def __init__(self, limit_m: float = 3.0) -> None:
        self.limit_m = limit_m
        self.seen: list[tuple[tuple[int, int], Intrinsics]] = []

    def predict(self, depth_m, mask, intrinsics, stride=(1, 1)):
        self.seen.append((depth_m.shape, intrinsics))
        pixels = pixels_of(mask, stride)
        person = depth_m[tuple(pixels.T)] < self.limit_m
        return PartProbabilities(pixels, np.stack([0 * person, person, ~person], axis=1).astype(np.float32), stride)


def mask_of(classifier: NearIsPerson, depth_m: np.ndarray) -> np.ndarray:
    """Pixels of people by a classifier."""
    return PersonSegmentation(classifier).segment(depth_m, CAMERA)


@pytest.mark.parametrize(("focal", "step"), [(100, 1), (210, 2), (285, 2), (525, 4), (1050, 8)])
def test_finer_cameras_are_subsampled_more(focal, step):
    assert Intrinsics(focal, focal, 0, 0).step_to(GRID_PX) == step


def test_a_point_stays_where_it_is_on_the_grid():
    depth_m = np.arange(240 * 320, dtype=np.float32).reshape(SHAPE)
    coarse_m, coarse = on_segmentation_grid(depth_m, CAMERA)
    assert coarse_m[30, 50] == depth_m[60, 100]
    point = CAMERA.deproject_pixels(np.array([60]), np.array([100]), np.array([2.0]))
    np.testing.assert_allclose(coarse.deproject_pixels(np.array([30]), np.array([50]), np.array([2.0])), point)


def test_a_mask_holds_readings_alone():
    depth_m = with_box(empty_room(), (0, 0.2, 2.0), (0.5, 1.6))
    depth_m[100:104, 150:160] = 0
    found = mask_of(NearIsPerson(2.5), depth_m)
    assert found.dtype == bool
    assert not found[depth_m == 0].any()
    inside = depth_m == 2.0
    assert found[inside].mean() > 0.9  # a border of half a cell is shared
    far = (depth_m > 3.0) & ~_grown(inside, 8)
    assert not found[far].any()


def test_a_person_close_to_the_camera_is_found():
    depth_m = with_box(empty_room(), (0, 0, 0.8), (0.4, 0.5))
    assert mask_of(NearIsPerson(2.5), depth_m)[depth_m == np.float32(0.8)].mean() > 0.9


@pytest.mark.parametrize(("width", "focal"), [(320, 285.0), (317, 285.0), (1280, 1140.0), (1275, 1140.0)])
def test_an_outline_is_halfway_between_classified_pixels(width, focal):
    camera = Intrinsics(focal, focal, width / 2, 20)
    apart = camera.step_to(GRID_PX) * STRIDE[1]
    inside = width // 2 // apart * apart  # the last classified column that shows a person
    depth_m = np.full((40 * apart, width), 4.0, np.float32)
    depth_m[:, : inside + 1] = 2.0
    found = PersonSegmentation(NearIsPerson(), min_probability=0.5).segment(depth_m, camera)[20 * apart]
    assert np.count_nonzero(found) == pytest.approx(inside + apart / 2, abs=1)


def _grown(mask: np.ndarray, pixels: int) -> np.ndarray:
    rows, cols = np.nonzero(mask)
    grown = np.zeros_like(mask)
    grown[max(0, rows.min() - pixels) : rows.max() + pixels, max(0, cols.min() - pixels) : cols.max() + pixels] = True
    return grown


def test_a_single_wrong_pixel_is_outvoted_by_its_neighbours():
    depth_m = np.full(SHAPE, 4.0, np.float32)
    depth_m[::2, ::2][60:61, 80:81] = 1.0
    assert not mask_of(NearIsPerson(), depth_m).any()


def test_an_image_without_readings_shows_no_person():
    assert not mask_of(NearIsPerson(), np.zeros(SHAPE, np.float32)).any()


def test_every_second_pixel_of_the_grid_is_classified():
    classifier = NearIsPerson()
    probability = PersonSegmentation(classifier).person_probability(empty_room(), CAMERA)
    assert classifier.seen == [((120, 160), Intrinsics(142.5, 142.5, 79.75, 59.75))]
    assert probability.shape == (120 // STRIDE[0], 160 // STRIDE[1])


def test_what_it_leaves_of_a_candidate_is_grouped_again():
    depth_m = with_box(empty_room(), (0.0, 0.4, 2.2), (0.5, 1.4))
    depth_m = with_box(depth_m, (0.4, 0.7, 2.3), (0.6, 0.8))  # both touch
    foreground, frame = RoomForeground(), frame_of(depth_m)
    together = foreground.update(frame)
    assert together.numbers.max() == 1
    nearer = mask_of(NearIsPerson(2.25), depth_m) & (together.numbers > 0)
    alone = foreground.group(frame, nearer, together.floor)
    assert alone.numbers.max() == 1
    assert (depth_m[alone.numbers == 1] < 2.25).mean() > 0.95  # but for the edge between the two
    assert alone.floor == together.floor
