"""Kernels: normal equations of residuals at points of a body, summed by segment.

A step has D = 3 + K + 3 S numbers: the root's motion, metres; what is added to the shape coefficients; and a rotation
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

from posepipe.compilation import njit


@njit(cache=True)
def add_residual(sums, forces, segment, point_m, direction, by_shape, residual, weight, row):
    """Add one residual.

    Parameters
    ----------
    sums : float64 (S, 6 + K, 6 + K), lower triangles, written in place
    forces : float64 (S, 6 + K), written in place
    segment : int, of the point
    point_m : float64 (3,), camera axes, metres
    direction : float64 (3,), derivative of the residual by the point
    by_shape : float64 (K,), derivative by the shape coefficients
    residual, weight : float
    row : float64 (6 + K,), scratch
    """
    x, y, z = point_m[0], point_m[1], point_m[2]
    row[0], row[1], row[2] = direction[0], direction[1], direction[2]
    row[3], row[4] = y * direction[2] - z * direction[1], z * direction[0] - x * direction[2]
    row[5] = x * direction[1] - y * direction[0]
    for k in range(len(by_shape)):
        row[6 + k] = by_shape[k]
    own, force = sums[segment], forces[segment]
    for i in range(len(row)):
        scaled = weight * row[i]
        force[i] += scaled * residual
        for j in range(i + 1):
            own[i, j] += scaled * row[j]


@njit(cache=True)
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
    first = n - 3  # of the turns
    by_turn, moved = np.empty((n, 3)), np.empty((n, 3))
    for s in range(len(parents) - 1, -1, -1):
        own, force = sums[s], forces[s]
        for i in range(n):
            for j in range(i):
                own[j, i] = own[i, j]
        _moments(starts_m[s], by_turn)
        row = first + 3 * s
        for i in range(n):
            for b in range(3):
                total = 0.0
                for k in range(6):
                    total += own[i, k] * by_turn[k, b]
                moved[i, b] = total
        for b in range(3):
            total = 0.0
            for k in range(6):
                total += force[k] * by_turn[k, b]
            gradient[row + b] = total
            for i in range(3):
                normal[row + b, i] = moved[i, b]
            for i in range(6, n):
                normal[row + b, i - 3] = moved[i, b]
        ancestor = s
        while ancestor >= 0:
            _moments(starts_m[ancestor], by_turn)
            col = first + 3 * ancestor
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
                forces[parent, i] += force[i]
                for j in range(i + 1):
                    sums[parent, i, j] += own[i, j]
    for i in range(first):
        k = i if i < 3 else i + 3
        gradient[i] = forces[0, k]
        for j in range(i + 1):
            normal[i, j] = sums[0, k, j if j < 3 else j + 3]


@njit(cache=True)
def _moments(start_m, out):
    """Fill ``out``, float64 (6 + K, 3), with the derivative by a turn about a start, of force and moment."""
    x, y, z = start_m[0], start_m[1], start_m[2]
    for i in range(6):
        for b in range(3):
            out[i, b] = 0.0
    out[1, 0], out[2, 0], out[3, 0] = z, -y, 1.0
    out[0, 1], out[2, 1], out[4, 1] = -z, x, 1.0
    out[0, 2], out[1, 2], out[5, 2] = y, -x, 1.0


@njit(cache=True)
def factor(matrix):
    """Replace a positive definite float64 (D, D) by W with W^T W = matrix; lower triangles. False if it is not.

    The last unknown goes first: a segment then only concerns the segments before it, and zeros stay zeros.
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


@njit(cache=True)
def solve(factored, right, out):
    """Fill ``out`` with the solution of W^T W x = right, float64 (D,); ``right`` is used up."""
    solve_half(factored, right, out)
    for k in range(len(right)):
        total = out[k]
        for j in range(k):
            total -= factored[k, j] * out[j]
        out[k] = total / factored[k, k]


@njit(cache=True)
def solve_half(factored, right, out):
    """Fill ``out`` with the solution of W^T y = right, float64 (D,); ``right`` is used up.

    The squared length of ``out`` is right^T (W^T W)^-1 right: a variance, where the matrix is an inverse covariance.
    """
    for k in range(len(right) - 1, -1, -1):
        out[k] = right[k] / factored[k, k]
        if out[k] != 0.0:
            for j in range(k):
                right[j] -= out[k] * factored[k, j]
