"""A candidate is divided into the surfaces that it was joined from."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.segmentation.regions.connected_surfaces import ConnectedSurfaces

CAMERA = Intrinsics(50.0, 50.0, 39.5, 29.5)
OBLONG_PIXELS = Intrinsics(40.0, 62.5, 39.5, 29.5)  # pixels of the same area as those of CAMERA
SHAPE = (60, 80)
LEFT, RIGHT, SPECK = (10, 40, 5, 25, 2.0), (15, 35, 45, 60, 2.4), (50, 53, 70, 73, 2.0)
"""Top, bottom, left, right and depth in metres."""


def divided(*boxes, shape=SHAPE, camera=CAMERA, **options) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Surfaces of a candidate of boxes, and the boxes themselves."""
    depth_m, alone = np.zeros(shape, np.float32), []
    for top, bottom, left, right, z in boxes:
        depth_m[top:bottom, left:right] = z
        alone.append(np.zeros(shape, bool))
        alone[-1][top:bottom, left:right] = True
    return ConnectedSurfaces(**options).masks(depth_m, depth_m > 0, camera), alone


def test_every_surface_is_found_the_largest_first():
    found, (right, left) = divided(RIGHT, LEFT)
    np.testing.assert_array_equal(found, [left, right])


def test_surfaces_that_touch_in_the_image_differ_in_depth():
    found, boxes = divided((10, 40, 5, 25, 2.4), (10, 40, 25, 45, 2.0))
    np.testing.assert_array_equal(found, boxes)


@pytest.mark.parametrize("camera", [CAMERA, OBLONG_PIXELS])
def test_specks_are_no_surfaces(camera):
    found, (left, right, _) = divided(LEFT, RIGHT, SPECK, camera=camera)
    np.testing.assert_array_equal(found, [left, right])
    for min_area_m2, count in ((0.0142, 3), (0.0146, 2)):  # the speck has 9 pixels of 16 cm²: 144 cm²
        assert len(divided(LEFT, RIGHT, SPECK, camera=camera, min_area_m2=min_area_m2)[0]) == count


def test_without_a_minimum_every_surface_is_found_once():
    found, boxes = divided(LEFT, RIGHT, SPECK, min_area_m2=0.0)
    np.testing.assert_array_equal(found, boxes)


@pytest.mark.parametrize("boxes", [(LEFT,), (LEFT, SPECK), ()])
def test_a_surface_of_nearly_everything_is_not_looked_at_again(boxes):
    assert divided(*boxes)[0] == []


def test_a_surface_beside_nearly_everything_is_found():
    found, (_, right) = divided((0, 60, 0, 40, 2.0), RIGHT, max_share=0.8)
    np.testing.assert_array_equal(found, [right])


def test_pixels_outside_the_candidate_belong_to_no_surface():
    depth_m = np.full(SHAPE, 2.0, np.float32)
    mask = np.zeros(SHAPE, bool)
    mask[10:40, 5:25] = mask[10:40, 40:70] = True
    found = ConnectedSurfaces().masks(depth_m, mask, CAMERA)
    np.testing.assert_array_equal(np.logical_or.reduce(found), mask)
    assert [int(surface.sum()) for surface in found] == [30 * 30, 30 * 20]


@pytest.mark.parametrize("finer", [2, 8, 24])
def test_finer_images_have_the_same_surfaces(finer):
    fine = CAMERA.scaled(finer)
    boxes = [tuple(finer * side for side in box[:4]) + box[4:] for box in (LEFT, RIGHT, SPECK)]
    found, alone = divided(*boxes[:2], shape=tuple(finer * size for size in SHAPE), camera=fine)
    assert len(found) == 2
    assert len(divided(*boxes, shape=tuple(finer * size for size in SHAPE), camera=fine)[0]) == 2  # 144 cm² are few
    for surface, box in zip(found, alone, strict=True):
        assert np.count_nonzero(surface ^ box) <= 0.02 * np.count_nonzero(box)
    assert len(divided(*boxes[:2], shape=found[0].shape, camera=fine, min_area_m2=0.9)[0]) == 1  # of 0.96 and 0.69 m²
