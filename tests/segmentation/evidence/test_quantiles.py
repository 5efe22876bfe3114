"""Quantiles of several samples at once."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.segmentation.evidence.quantiles import quantiles

SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_they_are_those_of_numpy(size):
    samples = np.random.default_rng(size).normal(size=(3, size)).astype(np.float32)
    np.testing.assert_allclose(quantiles(samples, SHARES), np.quantile(samples, SHARES, axis=1).T, rtol=1e-6)


def test_numbers_that_do_not_count_are_left_out():
    samples = np.array([[3, np.inf, 1, 2], [5, np.inf, np.inf, np.inf], [4, 3, 2, 1]], np.float32)
    found = quantiles(samples, SHARES, np.array([3, 1, 4]))
    for row, own in zip(found, ([1, 2, 3], [5], [1, 2, 3, 4]), strict=True):
        np.testing.assert_allclose(row, np.quantile(own, SHARES))
