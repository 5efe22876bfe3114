"""Naive twin of posepipe/training/joints/fit_gaussian.py.

Expectation maximisation row by row, axis by axis, value by value.
"""

from __future__ import annotations

import numpy as np


def fit_gaussian(places_m, floor_m, steps):
    """Mean (3, K) and covariance (3, K, K) of places (P, K, 3) some of which are NaN."""
    fits = [_fit_axis(places_m[:, :, axis], floor_m, steps) for axis in range(3)]
    return np.array([mean for mean, _ in fits]), np.array([covariance for _, covariance in fits])


def _fit_axis(rows, floor_m, steps):
    people, values = rows.shape
    mean = np.array([np.nanmean(column) if np.isfinite(column).any() else 0.0 for column in rows.T])
    covariance = np.zeros((values, values))
    for k in range(values):
        known = rows[np.isfinite(rows[:, k]), k]
        covariance[k, k] = (known.var() if len(known) else 0.0) + floor_m**2
    for _ in range(steps):
        first, second = np.zeros(values), np.zeros((values, values))
        for row in rows:
            k, u = np.flatnonzero(np.isfinite(row)), np.flatnonzero(np.isnan(row))
            expected, left_over = row.copy(), np.zeros((values, values))
            gain = covariance[np.ix_(u, k)] @ np.linalg.inv(covariance[np.ix_(k, k)])
            expected[u] = mean[u] + gain @ (row[k] - mean[k])
            left_over[np.ix_(u, u)] = covariance[np.ix_(u, u)] - gain @ covariance[np.ix_(k, u)]
            first += expected
            second += np.outer(expected, expected) + left_over
        mean = first / people
        covariance = second / people - np.outer(mean, mean) + floor_m**2 * np.eye(values)
    return mean, covariance
