"""Label images and pixel grids, seen by eye."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.parts import PartProbabilities
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.pixel_grid import pixels_of, stride_for


def test_each_pixel_shows_its_most_probable_part():
    pixels = np.array([[0, 1], [1, 2]], np.int32)
    values = np.array([[0.1, 0.2, 0.7], [0.1, 0.5, 0.4]], np.float32)
    mask = np.array([[0, 1, 0, 0], [0, 0, 1, 0]], bool)
    image = draw_labels(PartProbabilities(pixels, values, stride=(1, 1)), mask)
    assert image.dtype == np.uint8
    assert image.tolist() == [[0, 2, 0, 0], [0, 0, 1, 0]]


def test_a_stride_fills_its_squares_and_stays_in_the_image():
    pixels = np.array([[0, 0], [2, 2]], np.int32)
    values = np.eye(3, dtype=np.float32)[[1, 2]]
    mask = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool)
    image = draw_labels(PartProbabilities(pixels, values, stride=(2, 2)), mask)
    assert image.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 2]]


def test_a_cell_at_an_outline_gets_the_nearest_label_around():
    """The pixel of the grid is missing there, and the person is not."""
    pixels = np.array([[0, 0], [0, 6]], np.int32)
    mask = np.ones((1, 10), bool)
    mask[0, 3] = False
    parts = PartProbabilities(pixels, np.eye(3, dtype=np.float32)[[1, 2]], stride=(3, 3))
    assert draw_labels(parts, mask).tolist() == [[1, 1, 1, 0, 2, 2, 2, 2, 2, 2]]


def test_what_no_cell_around_was_classified_has_no_label():
    parts = PartProbabilities(np.array([[0, 0]], np.int32), np.eye(2, dtype=np.float32)[[1]], stride=(1, 1))
    assert draw_labels(parts, np.ones((1, 4), bool)).tolist() == [[1, 1, 0, 0]]


def test_no_pixels_give_an_image_of_zeros():
    empty = PartProbabilities(np.zeros((0, 2), np.int32), np.zeros((0, 3), np.float32), (1, 1))
    assert not draw_labels(empty, np.ones((3, 4), bool)).any()


@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (2, 2), (3, 7)])
def test_pixels_of_a_mask_stand_on_the_grid_in_image_order(stride):
    mask = np.random.default_rng(stride[0]).random((11, 13)) < 0.6
    pixels = pixels_of(mask, stride)
    wanted = [[r, c] for r in range(0, 11, stride[0]) for c in range(0, 13, stride[1]) if mask[r, c]]
    assert pixels.dtype == np.int32
    assert pixels.tolist() == wanted


def test_an_empty_mask_has_no_pixels():
    assert pixels_of(np.zeros((3, 3), bool)).shape == (0, 2)


def test_filled_strides_stay_within_the_mask():
    mask = np.array([[1, 0, 1], [0, 0, 0]], bool)
    pixels = np.array([[0, 0], [0, 2]], np.int32)
    image = draw_labels(PartProbabilities(pixels, np.eye(3, dtype=np.float32)[[1, 2]], stride=(2, 2)), mask)
    assert image.tolist() == [[1, 0, 2], [0, 0, 0]]


@pytest.mark.parametrize(
    ("pixels", "stride"),
    [
        (0, (1, 1)),
        (1999, (1, 1)),
        (2000, (2, 1)),
        (3999, (2, 1)),
        (4000, (2, 2)),
        (6000, (3, 2)),
        (9000, (3, 3)),
        (36000, (6, 6)),
    ],
)
def test_the_grid_is_as_coarse_as_leaves_enough_pixels(pixels, stride):
    mask = np.zeros((200, 200), bool)
    mask.ravel()[:pixels] = True
    assert stride_for(mask) == stride


def test_no_coarser_grid_would_leave_enough_pixels():
    for pixels in range(1000, 40_000, 997):
        mask = np.zeros((200, 200), bool)
        mask.ravel()[:pixels] = True
        rows, cols = stride_for(mask)
        assert rows - cols in (0, 1)
        assert rows * cols <= pixels // 1000
        assert (cols + 1) * rows > pixels // 1000 if rows > cols else (rows + 1) * cols > pixels // 1000


def test_of_a_person_a_finer_camera_gives_about_as_many_pixels():
    mask = np.zeros((120, 160), bool)
    mask[20:100, 40:100] = True
    finer = np.kron(mask, np.ones((3, 3), bool))
    coarse, fine = (len(pixels_of(m, stride_for(m))) for m in (mask, finer))
    assert coarse == pytest.approx(fine, rel=0.2)
