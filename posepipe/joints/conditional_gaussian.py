"""Kernel: what a Gaussian expects of some values, given others that were measured.

Other kernels call ``fill_...``; `condition` and `leave_one_out` do the same from Python, and are what is tested.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

NUGGET = 1e-6
"""Variance added to every measured value: keeps the covariance of those that are all but certain invertible."""


@njit(cache=True, inline="always")
def _subtract(factor, row, out):
    for k in range(len(row)):  # from 0: an index that might be negative keeps a loop from running in vectors
        out[k] -= factor * row[k]


@njit(cache=True)
def _eliminate(covariance, surprise, right, is_lower):
    """Cholesky factor U, covariance = U'U, in the upper triangle; surprise and ``right`` become U'^-1 times themselves.

    ``right`` (n, R); where it ``is_lower``, a lower triangle, it stays one. All in place, row by row.
    """
    for j in range(len(covariance)):
        scale = 1 / math.sqrt(max(covariance[j, j], 1e-12))
        width = j + 1 if is_lower else right.shape[1]
        covariance[j, j:] *= scale
        right[j, :width] *= scale
        surprise[j] *= scale
        for i in range(j + 1, len(covariance)):
            factor = covariance[j, i]
            _subtract(factor, covariance[j, i:], covariance[i, i:])
            _subtract(factor, right[j, :width], right[i, :width])
            surprise[i] -= factor * surprise[j]


@njit(cache=True)
def _measured(surprise, noise, covariance, axis, seen, shared):
    """Covariance (S, S) of the measured values, and a copy of their surprise (S,), of one axis."""
    known = np.empty((len(seen), len(seen)))
    own = np.empty(len(seen))
    for i in range(len(seen)):
        for k in range(len(seen)):
            known[i, k] = covariance[axis, seen[i], seen[k]] + shared
        known[i, i] += noise[seen[i]] + NUGGET
        own[i] = surprise[seen[i], axis]
    return known, own


@njit(cache=True, parallel=True)
def fill_condition(surprise, noise, covariance, seen, asked, shared, shift, variance):
    """`condition`, for kernels: into arrays of 0."""
    for axis in prange(len(covariance)):  # an axis owns its columns of the last two
        known, own = _measured(surprise, noise, covariance, axis, seen, shared)
        right = np.empty((len(seen), len(asked)))
        for i in range(len(seen)):
            for j in range(len(asked)):
                right[i, j] = covariance[axis, seen[i], asked[j]] + shared
        _eliminate(known, own, right, False)
        for j in range(len(asked)):
            variance[j, axis] = covariance[axis, asked[j], asked[j]] + shared
        expected, known_of = np.zeros(len(asked)), np.zeros(len(asked))
        for i in range(len(seen)):
            row = right[i]
            for j in range(len(asked)):
                expected[j] += row[j] * own[i]
                known_of[j] += row[j] * row[j]
        shift[:, axis] += expected
        variance[:, axis] -= known_of


@njit(cache=True, parallel=True)
def fill_leave_one_out(surprise, noise, covariance, seen, shared, shift, variance):
    """`leave_one_out`, for kernels: into arrays of 0."""
    for axis in prange(len(covariance)):  # an axis owns its columns of the last two
        known, own = _measured(surprise, noise, covariance, axis, seen, shared)
        inverse = np.eye(len(seen))
        _eliminate(known, own, inverse, True)
        precision, pull = np.zeros(len(seen)), np.zeros(len(seen))
        for i in range(len(seen)):
            for k in range(i + 1):
                precision[k] += inverse[i, k] * inverse[i, k]
                pull[k] += inverse[i, k] * own[i]
        for k in range(len(seen)):
            shift[seen[k], axis] = -pull[k] / precision[k]
            variance[seen[k], axis] = max(1 / precision[k] - noise[seen[k]], NUGGET)


def condition(
    surprise: np.ndarray,
    noise: np.ndarray,
    covariance: np.ndarray,
    seen: np.ndarray,
    asked: np.ndarray,
    shared: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Expect some values, given others, on several axes that know nothing of each other.

    Parameters
    ----------
    surprise : float64 (V, A), measured value less its mean; only rows ``seen`` are read
    noise : float64 (V,), variance of each measurement
    covariance : float (A, V, V)
    seen : int64 (S,), rows of the values that were measured
    asked : int64 (Q,), rows of those that are asked for
    shared : variance of one more Gaussian unknown that is added to all values of an axis

    Returns
    -------
    shift : float64 (Q, A), expected value less its mean
    variance : float64 (Q, A)

    References
    ----------
    Bishop 2006, eq. 2.81-2.82, by Cholesky factors: Rasmussen and Williams 2006, algorithm 2.1. Naive twin:
    tests/reference/joints/conditional_gaussian.py
    """
    shift, variance = np.zeros((len(asked), len(covariance))), np.zeros((len(asked), len(covariance)))
    fill_condition(surprise, noise, covariance, seen, asked, float(shared), shift, variance)
    return shift, variance


def leave_one_out(
    surprise: np.ndarray, noise: np.ndarray, covariance: np.ndarray, seen: np.ndarray, shared: float
) -> tuple[np.ndarray, np.ndarray]:
    """Expect each measured value, given all the others; parameters as for `condition`.

    Returns
    -------
    shift : float64 (V, A), expected value less the measured one; rows that are not ``seen`` are 0
    variance : float64 (V, A)

    References
    ----------
    From the precision matrix: Rasmussen and Williams 2006, eq. 5.12. Naive twin:
    tests/reference/joints/conditional_gaussian.py
    """
    shift, variance = np.zeros(surprise.shape), np.zeros(surprise.shape)
    fill_leave_one_out(surprise, noise, covariance, seen, float(shared), shift, variance)
    return shift, variance
