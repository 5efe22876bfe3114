"""Kernel: conditional expectation of a Gaussian, given measured values.

Other kernels call ``fill_...``; `condition` and `leave_one_out` are the same functions for Python and for tests.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import njit, prange

NUGGET = 1e-6
"""Variance added to every measured value, to keep the covariance of nearly exact ones invertible."""


@njit(cache=True, inline="always")
def _subtract(factor, row, out):
    for k in range(len(row)):  # from 0: an index that may be negative prevents vectorisation
        out[k] -= factor * row[k]


@njit(cache=True)
def _eliminate(covariance, residuals, right, is_lower):
    """Cholesky elimination in place: covariance = U'U, and U'^-1 times residuals and ``right`` (n, R).

    U is stored in the upper triangle. With ``is_lower``, ``right`` is a lower triangle and stays one.
    """
    for j in range(len(covariance)):
        scale = 1 / math.sqrt(max(covariance[j, j], 1e-12))
        width = j + 1 if is_lower else right.shape[1]
        covariance[j, j:] *= scale
        right[j, :width] *= scale
        residuals[j] *= scale
        for i in range(j + 1, len(covariance)):
            factor = covariance[j, i]
            _subtract(factor, covariance[j, i:], covariance[i, i:])
            _subtract(factor, right[j, :width], right[i, :width])
            residuals[i] -= factor * residuals[j]


@njit(cache=True)
def _measured_values(residuals, noise, covariance, axis, measured, shared):
    """Covariance (S, S) of the measured values along one axis, and a copy of their residuals (S,)."""
    own_covariance = np.empty((len(measured), len(measured)))
    own_residuals = np.empty(len(measured))
    for i in range(len(measured)):
        for k in range(len(measured)):
            own_covariance[i, k] = covariance[axis, measured[i], measured[k]] + shared
        own_covariance[i, i] += noise[measured[i]] + NUGGET
        own_residuals[i] = residuals[measured[i], axis]
    return own_covariance, own_residuals


@njit(cache=True, parallel=True)
def fill_condition(residuals, noise, covariance, measured, wanted, shared, shift, variance):
    """`condition` for kernels; shift and variance start as 0."""
    for axis in prange(len(covariance)):  # an axis owns its columns of the last two
        own_covariance, own_residuals = _measured_values(residuals, noise, covariance, axis, measured, shared)
        right = np.empty((len(measured), len(wanted)))
        for i in range(len(measured)):
            for j in range(len(wanted)):
                right[i, j] = covariance[axis, measured[i], wanted[j]] + shared
        _eliminate(own_covariance, own_residuals, right, False)
        for j in range(len(wanted)):
            variance[j, axis] = covariance[axis, wanted[j], wanted[j]] + shared
        expected, explained = np.zeros(len(wanted)), np.zeros(len(wanted))
        for i in range(len(measured)):
            row = right[i]
            for j in range(len(wanted)):
                expected[j] += row[j] * own_residuals[i]
                explained[j] += row[j] * row[j]
        shift[:, axis] += expected
        variance[:, axis] -= explained


@njit(cache=True, parallel=True)
def fill_leave_one_out(residuals, noise, covariance, measured, shared, shift, variance):
    """`leave_one_out` for kernels; shift and variance start as 0."""
    for axis in prange(len(covariance)):  # an axis owns its columns of the last two
        own_covariance, own_residuals = _measured_values(residuals, noise, covariance, axis, measured, shared)
        inverse = np.eye(len(measured))
        _eliminate(own_covariance, own_residuals, inverse, True)
        precision, weighted = np.zeros(len(measured)), np.zeros(len(measured))
        for i in range(len(measured)):
            for k in range(i + 1):
                precision[k] += inverse[i, k] * inverse[i, k]
                weighted[k] += inverse[i, k] * own_residuals[i]
        for k in range(len(measured)):
            shift[measured[k], axis] = -weighted[k] / precision[k]
            variance[measured[k], axis] = max(1 / precision[k] - noise[measured[k]], NUGGET)


def condition(
    residuals: np.ndarray,
    noise: np.ndarray,
    covariance: np.ndarray,
    measured: np.ndarray,
    wanted: np.ndarray,
    shared: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Conditional expectation of some values, given others, along several independent axes.

    Parameters
    ----------
    residuals : float64 (V, A), measured value minus its mean; only rows ``measured`` are read
    noise : float64 (V,), variance of each measurement
    covariance : float (A, V, V)
    measured : int64 (S,), rows of the measured values
    wanted : int64 (Q,), rows of the values to infer
    shared : float, variance of an unknown offset that is added to all values of an axis

    Returns
    -------
    shift : float64 (Q, A), expected value minus its mean
    variance : float64 (Q, A)

    References
    ----------
    Bishop 2006, eq. 2.81-2.82, by Cholesky factors: Rasmussen and Williams 2006, algorithm 2.1. Naive twin:
    tests/reference/joints/conditional_gaussian.py
    """
    shift, variance = np.zeros((len(wanted), len(covariance))), np.zeros((len(wanted), len(covariance)))
    fill_condition(residuals, noise, covariance, measured, wanted, float(shared), shift, variance)
    return shift, variance


def leave_one_out(
    residuals: np.ndarray, noise: np.ndarray, covariance: np.ndarray, measured: np.ndarray, shared: float
) -> tuple[np.ndarray, np.ndarray]:
    """Conditional expectation of each measured value, given all others; parameters as for `condition`.

    Returns
    -------
    shift : float64 (V, A), expected value minus the measured one; 0 in rows that are not ``measured``
    variance : float64 (V, A)

    References
    ----------
    From the precision matrix: Rasmussen and Williams 2006, eq. 5.12. Naive twin:
    tests/reference/joints/conditional_gaussian.py
    """
    shift, variance = np.zeros(residuals.shape), np.zeros(residuals.shape)
    fill_leave_one_out(residuals, noise, covariance, measured, float(shared), shift, variance)
    return shift, variance
