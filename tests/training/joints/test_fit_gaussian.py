"""A Gaussian fitted to places of which some are missing."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.training.joints.fit_gaussian import FLOOR_M, STEPS, fit_gaussian
from tests.reference.joints import fit_gaussian as reference
from tests.support import random_inputs


def drawn(people: int, missing: float, seed: int = 0, values: int = 5):
    """Places of a known Gaussian, a share of them taken away: places, mean (3, K), covariance (3, K, K)."""
    rng = np.random.default_rng(seed)
    mean, covariance = rng.normal(0, 0.5, (3, values)), random_inputs.covariances(rng, values)
    axes = [rng.multivariate_normal(m, c, people) for m, c in zip(mean, covariance, strict=True)]
    places = np.stack(axes, axis=-1)
    places[rng.random(places.shape[:2]) < missing] = np.nan
    return places, mean, covariance


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
def test_the_fit_agrees_with_its_naive_twin(missing):
    places, _, _ = drawn(60, missing, seed=3)
    fitted, naive = fit_gaussian(places), reference.fit_gaussian(places, FLOOR_M, STEPS)
    np.testing.assert_allclose(fitted[0], naive[0], atol=1e-9)
    np.testing.assert_allclose(fitted[1], naive[1], atol=1e-9)


def test_a_known_gaussian_is_found_with_a_third_missing():
    places, mean, covariance = drawn(1500, 0.33)
    found_mean, found_covariance = fit_gaussian(places)
    spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2).max())
    np.testing.assert_allclose(found_mean, mean, atol=0.08 * spread)
    np.testing.assert_allclose(found_covariance, covariance, atol=0.15 * spread**2)


def test_empty_columns_and_rows_leave_the_fit_finite():
    places, _, _ = drawn(50, 0.2)
    places[:, 2], places[7] = np.nan, np.nan
    mean, covariance = fit_gaussian(places)
    assert np.isfinite(mean).all()
    assert (np.linalg.eigvalsh(covariance) > 0).all()
