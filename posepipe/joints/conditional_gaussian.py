"""Kernel: conditional expectation of a Gaussian, given measured values."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, njit

NUGGET = 1e-6
"""Variance added to every measured value, to keep the covariance of nearly exact ones invertible."""


@compiled_for("f8[:,::1], f8[::1], f4[:,:,::1], i8[::1], i8[::1], b1, f8, f8[:,::1], f8[:,::1]")
@njit(cache=True)
def _condition(  # noqa: C901  # one kernel for both functions below: they share the elimination
    residuals, noise, covariance, measured, wanted, leaves_one_out, shared, shift, variance
):
    """Cholesky elimination in place, covariance = U'U, of residuals and of columns ``right``; then their products.

    To leave one out, ``right`` starts as the identity, and stays a lower triangle.
    """
    n, width = len(measured), len(measured) if leaves_one_out else len(wanted)
    own, right, deviation = np.empty((n, n)), np.empty((n, width)), np.empty(n)
    for axis in range(len(covariance)):
        for i in range(n):
            for k in range(n):
                own[i, k] = covariance[axis, measured[i], measured[k]] + shared
            own[i, i] += noise[measured[i]] + NUGGET
            deviation[i] = residuals[measured[i], axis]
            for k in range(width):
                if leaves_one_out:
                    right[i, k] = 1.0 if i == k else 0.0
                else:
                    right[i, k] = covariance[axis, measured[i], wanted[k]] + shared
        for j in range(n):
            scale = 1 / math.sqrt(max(own[j, j], 1e-12))
            filled = j + 1 if leaves_one_out else width
            for k in range(j, n):
                own[j, k] *= scale
            for k in range(filled):
                right[j, k] *= scale
            deviation[j] *= scale
            for i in range(j + 1, n):
                factor = own[j, i]
                for k in range(i, n):
                    column = np.uint64(k)  # an index that may be negative prevents vectorisation
                    own[i, column] -= factor * own[j, column]
                for k in range(filled):
                    right[i, k] -= factor * right[j, k]
                deviation[i] -= factor * deviation[j]
        for k in range(width):
            product, square = 0.0, 0.0
            for i in range(k if leaves_one_out else 0, n):
                product += right[i, k] * deviation[i]
                square += right[i, k] * right[i, k]
            if leaves_one_out:
                shift[measured[k], axis] = -product / square
                variance[measured[k], axis] = max(1 / square - noise[measured[k]], NUGGET)
            else:
                shift[k, axis] = product
                variance[k, axis] = covariance[axis, wanted[k], wanted[k]] + shared - square


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
    _condition(residuals, noise, covariance, measured, wanted, False, float(shared), shift, variance)
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
    _condition(residuals, noise, covariance, measured, measured, True, float(shared), shift, variance)
    return shift, variance
