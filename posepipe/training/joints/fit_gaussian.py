"""Fits a Gaussian to rows with missing values."""

from __future__ import annotations

import numpy as np

FLOOR_M = 0.005
"""Minimum standard deviation, metres."""
STEPS = 20
"""Number of iterations of expectation maximisation."""


def fit_gaussian(places_m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit a Gaussian to each axis by expectation maximisation.

    Parameters
    ----------
    places_m : float64 (P, K, 3), metres; a missing place is NaN along all axes

    Returns
    -------
    mean_m : float64 (3, K), metres
    covariance_m2 : float64 (3, K, K), square metres

    References
    ----------
    Dempster, Laird and Rubin 1977. Naive twin: tests/reference/joints/fit_gaussian.py
    """
    rows = places_m.transpose(0, 2, 1)
    known = np.isfinite(rows[:, 0])
    filled = np.where(known[:, None], rows, 0)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = filled.sum(axis=0) / counts
    spread = (np.where(known[:, None], filled - mean, 0) ** 2).sum(axis=0) / counts + FLOOR_M**2
    covariance = spread[..., None] * np.eye(len(counts))
    for _ in range(STEPS):
        complete, unexplained = _expect(filled, known, mean, covariance)
        mean = complete.mean(axis=0)
        centred = (complete - mean).transpose(1, 0, 2)
        covariance = (centred.transpose(0, 2, 1) @ centred + unexplained) / len(rows)
        covariance += np.eye(len(counts)) * FLOOR_M**2
    return mean, covariance


def _expect(
    filled: np.ndarray, known: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows with missing values replaced by their expectation, (P, 3, K), and the sum of its covariances, (3, K, K)."""
    complete, unexplained = filled.copy(), np.zeros_like(covariance)
    for row, present in zip(complete, known, strict=True):
        k, u = np.flatnonzero(present), np.flatnonzero(~present)
        if not len(u):
            continue
        across = covariance[:, k[:, None], u]
        gain = np.linalg.solve(covariance[:, k[:, None], k], across).transpose(0, 2, 1)
        row[:, u] = mean[:, u] + (gain @ (row[:, k] - mean[:, k])[..., None])[..., 0]
        unexplained[:, u[:, None], u] += covariance[:, u[:, None], u] - gain @ across
    return complete, unexplained
