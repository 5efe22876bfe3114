"""Kernels: conditional expectation of a Gaussian, given measured values, and their precision."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, helper, njit

NUGGET = 1e-6
"""Variance added to every measured value, to keep the covariance of nearly exact ones invertible."""


@helper(cache=True)
def _fill_measured(noise, covariance, axis, measured, shared, out):
    """Fill ``out``, float64 (S, S), with the covariance of the measured values."""
    for i in range(len(measured)):
        for k in range(len(measured)):
            out[i, k] = covariance[axis, measured[i], measured[k]] + shared
        out[i, i] += noise[measured[i]] + NUGGET


@compiled_for("f8[:,::1], f8[::1], f4[:,:,::1], i8[::1], i8[::1], f8, f8[:,::1], f8[:,::1]")
@njit(cache=True)
def _condition(residuals, noise, covariance, measured, wanted, shared, shift, variance):
    """Cholesky elimination in place, covariance = U'U, of residuals and of columns ``right``; then their products."""
    n, width = len(measured), len(wanted)
    own, right, deviation = np.empty((n, n)), np.empty((n, width)), np.empty(n)
    for axis in range(len(covariance)):
        _fill_measured(noise, covariance, axis, measured, shared, own)
        for i in range(n):
            deviation[i] = residuals[measured[i], axis]
            for k in range(width):
                right[i, k] = covariance[axis, measured[i], wanted[k]] + shared
        for j in range(n):
            scale = 1 / math.sqrt(max(own[j, j], 1e-12))
            for k in range(j, n):
                own[j, k] *= scale
            for k in range(width):
                right[j, k] *= scale
            deviation[j] *= scale
            for i in range(j + 1, n):
                factor = own[j, i]
                for k in range(i, n):
                    column = np.uint64(k)  # an index that may be negative prevents vectorisation
                    own[i, column] -= factor * own[j, column]
                for k in range(width):
                    right[i, k] -= factor * right[j, k]
                deviation[i] -= factor * deviation[j]
        for k in range(width):
            product, square = 0.0, 0.0
            for i in range(n):
                product += right[i, k] * deviation[i]
                square += right[i, k] * right[i, k]
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
    # NumPy adds a plain float to float32 in float32, where the kernel is interpreted
    _condition(residuals, noise, covariance, measured, wanted, np.float64(shared), shift, variance)
    return shift, variance


@helper(cache=True)
def _square(lower, out):
    """Fill ``out`` with L'L of a lower triangle L."""
    out[:] = 0.0
    for j in range(len(lower)):
        for i in range(j + 1):
            for k in range(j + 1):
                out[i, k] += lower[j, i] * lower[j, k]


@compiled_for("f8[::1], f4[:,:,::1], i8[::1], f8, f8[:,:,::1]")
@njit(cache=True)
def _precision(noise, covariance, measured, shared, out):
    """The inverse from U in covariance = U'U: elimination turns the identity into the inverse of U'."""
    n = len(measured)
    own, inverse = np.empty((n, n)), np.empty((n, n))
    for axis in range(len(covariance)):
        _fill_measured(noise, covariance, axis, measured, shared, own)
        for i in range(n):
            for k in range(n):
                inverse[i, k] = 1.0 if i == k else 0.0
        for j in range(n):
            scale = 1 / math.sqrt(max(own[j, j], 1e-12))
            for k in range(j, n):
                own[j, k] *= scale
            for k in range(j + 1):
                inverse[j, k] *= scale
            for i in range(j + 1, n):
                factor = own[j, i]
                for k in range(i, n):
                    column = np.uint64(k)  # an index that may be negative prevents vectorisation
                    own[i, column] -= factor * own[j, column]
                for k in range(j + 1):
                    inverse[i, k] -= factor * inverse[j, k]
        _square(inverse, out[axis])


def precision(noise: np.ndarray, covariance: np.ndarray, measured: np.ndarray, shared: float) -> np.ndarray:
    """Inverse covariance of measured values, along several independent axes; parameters as for `condition`.

    Returns
    -------
    float64 (A, S, S)

    References
    ----------
    Naive twin: tests/reference/joints/conditional_gaussian.py
    """
    out = np.empty((len(covariance), len(measured), len(measured)))
    _precision(noise, covariance, measured, np.float64(shared), out)  # as for condition
    return out
