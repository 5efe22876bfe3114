"""Kernels: normal equations of residuals at points of a body, summed by segment.

A step has D = K + 3 + 3 S numbers: what is added to the shape coefficients; the root's motion, metres; and a rotation
vector of each segment about its own start, camera axes, radians, that takes everything beyond it along. A residual's
derivative by a point of a segment acts like a force there: its moment about any start is known from the force and its
moment about the origin. Residuals are therefore summed by segment in 6 + K numbers, and spread once over the unknowns.

References
----------
Composite rigid bodies: Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 6.
Naive twin: tests/reference/body_model/normal_equations.py
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import helper, njit


@njit(cache=True, error_model="numpy")
def add_residual(sums, forces, s, x, y, z, dx, dy, dz, by_shape, residual, weight):
    """Add one residual.

    Parameters
    ----------
    sums : float64 (S, 6 + K, 6 + K), written in place: the first 6 columns, and the lower triangle of the others
    forces : float64 (S, 6 + K), written in place
    s : int, segment of the point
    x, y, z : float, the point, camera axes, metres
    dx, dy, dz : float, derivative of the residual by the point
    by_shape : float64 (K,), derivative by the shape coefficients
    residual, weight : float
    """
    mx, my, mz = y * dz - z * dy, z * dx - x * dz, x * dy - y * dx
    row = (dx, dy, dz, mx, my, mz)
    for i in range(6):  # not six calls: each would compile the function for a constant of its own
        _add_row(sums, forces, s, i, weight * row[i], residual, dx, dy, dz, mx, my, mz)
    for k in range(len(by_shape)):
        scaled = weight * by_shape[k]
        _add_row(sums, forces, s, 6 + k, scaled, residual, dx, dy, dz, mx, my, mz)
        for m in range(k + 1):
            sums[s, 6 + k, 6 + m] += scaled * by_shape[m]


@helper(cache=True, error_model="numpy")
def _add_row(sums, forces, s, i, scaled, residual, dx, dy, dz, mx, my, mz):
    """Add a row in numbers instead of arrays: they stay in registers, and six neighbours are added at once."""
    forces[s, i] += scaled * residual
    sums[s, i, 0] += scaled * dx
    sums[s, i, 1] += scaled * dy
    sums[s, i, 2] += scaled * dz
    sums[s, i, 3] += scaled * mx
    sums[s, i, 4] += scaled * my
    sums[s, i, 5] += scaled * mz


@njit(cache=True, error_model="numpy")
def spread(parents, starts_m, sums, forces, normal, gradient):  # noqa: C901 - one pass over the tree
    """Fill in the normal equations of a step from the sums of the segments, which are added up along the tree.

    Parameters
    ----------
    parents : int64 (S,)
    starts_m : float64 (S, 3)
    sums, forces : of `add_residual`; changed
    normal : float64 (D, D), lower triangle, written in place
    gradient : float64 (D,), written in place
    """
    n = sums.shape[1]
    coefficients = n - 6
    by_turn, moved = np.empty((6, 3)), np.empty((n, 3))
    for s in range(len(parents) - 1, -1, -1):
        for i in range(6, n):
            for j in range(i):
                sums[s, j, i] = sums[s, i, j]
        _moments(starts_m, s, by_turn)
        row = coefficients + 3 + 3 * s
        for b in range(3):
            total = 0.0
            for k in range(6):
                total += forces[s, k] * by_turn[k, b]
            gradient[row + b] = total
            for i in range(n):
                total = 0.0
                for k in range(6):
                    total += sums[s, i, k] * by_turn[k, b]
                moved[i, b] = total
            for i in range(3):
                normal[row + b, coefficients + i] = moved[i, b]
            for k in range(coefficients):
                normal[row + b, k] = moved[6 + k, b]
        ancestor = s
        while ancestor >= 0:
            _moments(starts_m, ancestor, by_turn)
            col = coefficients + 3 + 3 * ancestor
            for b in range(3):
                for c in range(3):
                    total = 0.0
                    for k in range(6):
                        total += moved[k, b] * by_turn[k, c]
                    normal[row + b, col + c] = total
            ancestor = parents[ancestor]
        parent = parents[s]
        if parent >= 0:
            for i in range(n):
                forces[parent, i] += forces[s, i]
                for j in range(n):
                    sums[parent, i, j] += sums[s, i, j]
    for i in range(coefficients + 3):
        k = 6 + i if i < coefficients else i - coefficients
        gradient[i] = forces[0, k]
        for j in range(i + 1):
            normal[i, j] = sums[0, k, 6 + j if j < coefficients else j - coefficients]


@njit(cache=True, error_model="numpy")
def _moments(starts_m, s, out):
    """Fill ``out``, float64 (6, 3), with the derivative by a turn about a start, of force and moment."""
    x, y, z = starts_m[s, 0], starts_m[s, 1], starts_m[s, 2]
    for i in range(6):
        for b in range(3):
            out[i, b] = 0.0
    out[1, 0], out[2, 0], out[3, 0] = z, -y, 1.0
    out[0, 1], out[2, 1], out[4, 1] = -z, x, 1.0
    out[0, 2], out[1, 2], out[5, 2] = y, -x, 1.0


@njit(cache=True, error_model="numpy")
def factor(matrix):
    """Replace a positive definite float64 (D, D) by W with W^T W = matrix; lower triangles. False if it is not.

    The last unknown goes first: a segment then only concerns the segments before it, and zeros stay zeros. The rows of
    the first unknowns are the factor of the inverse covariance of these alone; without the first rows and columns, W is
    the factor of the matrix without them.
    """
    for k in range(len(matrix) - 1, -1, -1):
        if not matrix[k, k] > 0.0:
            return False
        pivot = math.sqrt(matrix[k, k])
        for j in range(k):
            matrix[k, j] /= pivot
        matrix[k, k] = pivot
        for i in range(k):
            share = matrix[k, i]
            if share != 0.0:
                for j in range(i + 1):
                    matrix[i, j] -= share * matrix[k, j]
    return True


@njit(cache=True, error_model="numpy")
def solve(factored, right, out):
    """Fill ``out`` with the solution of W^T W x = right, float64 (D,); ``right`` is used up."""
    solve_half(factored, right, 0, out)
    for k in range(len(right)):
        total = out[k]
        for j in range(k):
            total -= factored[k, j] * out[j]
        out[k] = total / factored[k, k]


@njit(cache=True, error_model="numpy")
def solve_half(factored, right, first, out):
    """Fill ``out`` with the solution of W^T y = right, float64 (D,), from the unknown ``first`` on; uses ``right`` up.

    The squared length of this is right^T (W^T W)^-1 right: a variance, where the matrix is an inverse covariance.
    """
    for k in range(len(right) - 1, first - 1, -1):
        out[k] = 0.0
        if right[k] != 0.0:
            out[k] = right[k] / factored[k, k]
            for j in range(first, k):
                right[j] -= out[k] * factored[k, j]
