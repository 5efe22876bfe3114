"""Pieces of somebody behind furniture or another person are a candidate together."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.segmentation.regions.occluded_people import OccludedPeople

CAMERA = Intrinsics(50.0, 50.0, 39.5, 29.5)
SHAPE = (60, 80)
HEAD, LEGS = (10, 16, 30, 36), (40, 52, 28, 38)  # top, bottom, left, right: 1 m apart, above one another


def found(*boxes: tuple[int, ...], camera=CAMERA, up=(0.0, -1.0, 0.0), **options) -> list[np.ndarray]:
    """Groups of boxes 2 m away, or as far as a fifth number says."""
    depth_m = np.zeros(SHAPE, np.float32)
    for top, bottom, left, right, *distance_m in boxes:
        depth_m[top:bottom, left:right] = distance_m[0] if distance_m else 2.0
    return OccludedPeople(**options).masks(depth_m, depth_m > 0, camera, up)


def mask_of(*boxes: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros(SHAPE, bool)
    for top, bottom, left, right in boxes:
        mask[top:bottom, left:right] = True
    return mask


def test_pieces_above_one_another_are_of_one_person():
    (group,) = found(HEAD, LEGS)
    np.testing.assert_array_equal(group, mask_of(HEAD, LEGS))


@pytest.mark.parametrize(
    "piece",
    [
        (10, 16, 60, 66),  # a metre beside
        (10, 16, 30, 36, 2.6),  # farther away
        (14, 15, 30, 32),  # a speck
    ],
)
def test_pieces_of_others_are_not_joined(piece):
    assert found(LEGS, piece) == []


def test_a_piece_alone_was_a_candidate_before():
    assert found((10, 50, 28, 38)) == []


def test_pieces_that_fill_more_than_a_person_are_several():
    low, middle, high = (50, 58, 30, 38), (28, 36, 30, 38), (2, 10, 30, 38)
    (group,) = found(low, middle, high)  # 2.2 m of all three are too tall
    np.testing.assert_array_equal(group, mask_of(high, middle))
    row = [(20, 30, left, left + 12) for left in (4, 20, 36, 52)]
    assert [int(group.sum()) for group in found(*row)] == [240, 240]
    assert len(found(*row, max_width_m=3.0)) == 1


def test_a_group_has_enough_surface():
    small = (10, 14, 30, 34), (20, 24, 30, 34)  # 0.026 m² each
    assert found(*small) == []
    assert len(found(*small, min_area_m2=0.05)) == 1


def test_above_is_away_from_the_floor():
    beside = (28, 34, 12, 18), (28, 38, 50, 62)  # of somebody who stands in an image of a camera on its side
    assert found(*beside) == []
    (group,) = found(*beside, up=(1.0, 0.0, 0.0))
    np.testing.assert_array_equal(group, mask_of(*beside))


def test_groups_are_disjoint_and_begin_with_the_largest_piece():
    other_head, other_legs = (10, 16, 62, 68), (36, 56, 60, 72)
    first, second = found(HEAD, LEGS, other_head, other_legs)
    np.testing.assert_array_equal(first, mask_of(other_head, other_legs))
    np.testing.assert_array_equal(second, mask_of(HEAD, LEGS))
    (kept,) = found(HEAD, LEGS, other_head, other_legs, max_pieces=3)
    assert kept.sum() in {first.sum(), second.sum()}


def test_fine_images_are_grouped_as_coarse_ones():
    (coarse,) = found(HEAD, LEGS)
    depth_m = np.where(coarse, np.float32(2), np.float32(0)).repeat(16, axis=0).repeat(16, axis=1)
    fine = Intrinsics(800.0, 800.0, 639.5, 479.5)
    (group,) = OccludedPeople().masks(depth_m, depth_m > 0, fine)
    assert np.count_nonzero(group ^ (depth_m > 0)) < 0.001 * group.size


def test_an_empty_frame_has_no_pieces():
    assert found() == []


def test_without_a_minimum_every_piece_counts():
    speck = (30, 31, 32, 33)
    (group,) = found(HEAD, LEGS, speck, min_piece_m2=0.0)
    np.testing.assert_array_equal(group, mask_of(HEAD, LEGS, speck))
