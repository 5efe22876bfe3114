"""Distances from tapered capsules and between segments."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body_model.kernels.capsules import nearest_on_capsule, nearest_shares, set_axis
from tests.reference.body_model import capsules as naive


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


@pytest.mark.parametrize("seed", range(12))
def test_the_distance_agrees_with_its_naive_twin(seed):
    rng = np.random.default_rng(seed)
    ends_m, radii_m, point_m = rng.normal(0, 0.3, (2, 3)), rng.uniform(0.03, 0.15, 2), rng.normal(0, 0.5, 3)
    share, distance_m = _nearest(point_m, ends_m, radii_m)
    assert distance_m == pytest.approx(naive.distance(point_m, ends_m, radii_m), abs=1e-6)
    centre_m = ends_m[0] + share * (ends_m[1] - ends_m[0])
    radius_m = radii_m[0] + share * (radii_m[1] - radii_m[0])
    assert np.linalg.norm(point_m - centre_m) - radius_m == pytest.approx(distance_m, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_nearest_shares_agree_with_their_naive_twin(seed):
    rng = np.random.default_rng(seed)
    one_m, other_m = rng.normal(0, 0.3, (2, 3)), rng.normal(0, 0.3, (2, 3))
    s, t = nearest_shares(np.array([one_m, other_m]), 0, 1)
    at, other_at = one_m[0] + s * (one_m[1] - one_m[0]), other_m[0] + t * (other_m[1] - other_m[0])
    assert np.linalg.norm(at - other_at) == pytest.approx(naive.segment_distance(one_m, other_m), abs=2e-3)
