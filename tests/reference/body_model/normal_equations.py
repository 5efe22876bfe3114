"""Normal equations of residuals at points of an articulated body, one dense row at a time."""

from __future__ import annotations

import numpy as np


def ancestors(parents, segment):
    """The segment and all before it, up to the root."""
    while segment >= 0:
        yield segment
        segment = parents[segment]


def dense_row(parents, starts_m, n_shape, segment, point_m, direction, by_shape):
    """Derivative of one residual by all unknowns: shape, root, turns."""
    row = np.zeros(n_shape + 3 + 3 * len(parents))
    row[:n_shape], row[n_shape : n_shape + 3] = by_shape, direction
    for each in ancestors(parents, segment):
        first = n_shape + 3 + 3 * each
        row[first : first + 3] = np.cross(point_m - starts_m[each], direction)
    return row


def normal_equations(parents, starts_m, n_shape, residuals):
    """Normal matrix and gradient of (segment, point, direction, by_shape, residual, weight)."""
    size = n_shape + 3 + 3 * len(parents)
    normal, gradient = np.zeros((size, size)), np.zeros(size)
    for segment, point_m, direction, by_shape, residual, weight in residuals:
        row = dense_row(parents, starts_m, n_shape, segment, point_m, direction, by_shape)
        normal += weight * np.outer(row, row)
        gradient += weight * residual * row
    return normal, gradient
