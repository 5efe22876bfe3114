"""Planes: heights of points in any form."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Plane

FLOOR = Plane((0.0, -0.6, -0.8), 2.5)


@pytest.mark.parametrize("points_m", [(1, 0, 2), [1.0, 0.0, 2.0], np.array([1, 0, 2]), np.array([1, 0, 2], np.float32)])
def test_three_numbers_of_any_kind_have_a_height(points_m):
    assert FLOOR.height_m(points_m) == pytest.approx(0.9)


def test_heights_are_as_exact_as_the_points():
    for dtype in (np.float32, np.float64):
        assert FLOOR.height_m(np.zeros((4, 3), dtype)).dtype == dtype
