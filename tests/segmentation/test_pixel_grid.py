"""Grid cells enlarged to an image, at any stride."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.segmentation.pixel_grid import enlarged


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (6, 4), (1, 9)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 3), (4, 4), (7, 2), (50, 50)])
def test_every_pixel_gets_the_value_of_its_cell(shape, stride):
    cells = np.random.default_rng(1).random([-(-size // step) for size, step in zip(shape, stride, strict=True)])
    rows, cols = np.indices(shape)
    np.testing.assert_array_equal(enlarged(cells, stride, shape), cells[rows // stride[0], cols // stride[1]])


def test_a_stride_beyond_the_image_is_one_cell():
    np.testing.assert_array_equal(enlarged(np.array([[3]], np.uint8), (10**12, 10**12), (2, 3)), np.full((2, 3), 3))
