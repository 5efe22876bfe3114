"""Distances from tapered capsules."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body_model.kernels.capsules import nearest_on_capsule, set_axis


def _nearest(point_m, ends_m, radii_m):
    axes = np.empty((1, 5))
    set_axis(ends_m[None], radii_m[None], 0, axes)
    return nearest_on_capsule(point_m[None], 0, ends_m[None], radii_m[None], axes, 0)


def test_a_point_beside_a_cylinder_is_distance_less_radius():
    ends_m, radii_m = np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([0.1, 0.1])
    share, distance_m = _nearest(np.array([0.25, 0.3, 0.0]), ends_m, radii_m)
    assert (share, distance_m) == pytest.approx((0.25, 0.2))


def test_a_capsule_without_length_is_its_larger_sphere():
    ends_m = np.zeros((2, 3))
    for radii_m in (np.array([0.1, 0.2]), np.array([0.2, 0.1])):
        share, distance_m = _nearest(np.array([0.0, 0.0, 0.5]), ends_m, radii_m)
        assert distance_m == pytest.approx(0.3)
        assert radii_m[int(share)] == 0.2
