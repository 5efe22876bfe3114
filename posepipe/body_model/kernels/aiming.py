"""Kernel: the posture that the fit starts from, turned towards joints that were found."""

from __future__ import annotations

import math

import numpy as np

from posepipe.body_model.kernels.fit_arrays import TARGETS_TYPE
from posepipe.body_model.kernels.placement import (
    BODY_ARRAYS_TYPE,
    PLACEMENT_TYPE,
    POSTURE_TYPE,
    place_segment,
)
from posepipe.body_model.kernels.rotations import rotation_of
from posepipe.compilation import compiled_for, helper, njit

MEAN_WEIGHT = 0.02
"""Weight of the mean turn, against the joints: it decides what they leave open."""
NEXT_WEIGHT = 0.15
"""Weight of the joints of the next segments, whose mean turns say how a bent limb lies."""
SWEEPS = 6
"""Jacobi sweeps of a 4 x 4 matrix; they converge quadratically."""


@compiled_for(BODY_ARRAYS_TYPE, TARGETS_TYPE, POSTURE_TYPE, PLACEMENT_TYPE, "f8")
@njit(cache=True)
def aim(body, targets, posture, placement, root_weight):
    """Turn every segment towards its targets, from the root outwards; in place, at the mean build.

    A segment is turned so that its own joints, and those of the next segments at their mean turns, best meet the
    targets. Where there are none it takes its mean turn, and the root keeps the turn that it has.

    Parameters
    ----------
    body : BodyArrays
    targets : Targets
    posture : Posture; its root, the root's turn and its shape are given
    placement : Placement; where its segments are is filled in, its joints and capsules are not
    root_weight : float64, weight x m^2 of the root's turn as given, against the joints; 0 = as that of other segments
    """
    covariance, rotation = np.empty((3, 3)), np.empty((3, 3))
    for s in range(len(body.parents)):
        parent = body.parents[s]
        if parent >= 0:
            rotation_of(body.turn_mean_rad[s], posture.turns[s])
        place_segment(body, posture, s, placement)
        size = _covariance(body, targets, placement, s, covariance)
        mean_weight = MEAN_WEIGHT * size + (root_weight if parent < 0 else 0.0)
        for a in range(3):
            for b in range(3):
                covariance[a, b] += mean_weight * placement.rotations[s, a, b]
        nearest_rotation(covariance, rotation)
        for a in range(3):
            for b in range(3):
                turned = rotation[a, b]
                if parent >= 0:
                    up = placement.rotations[parent]
                    turned = up[0, a] * rotation[0, b] + up[1, a] * rotation[1, b] + up[2, a] * rotation[2, b]
                posture.turns[s, a, b] = turned
        place_segment(body, posture, s, placement)  # the next segments start from here


@helper(cache=True)
def _covariance(body, targets, placement, s, out):
    """Fill ``out``, float64 (3, 3), with the weighted covariance of targets and joints at rest; return its size."""
    mean_turn, rest_m, size = np.empty((3, 3)), np.empty(3), 1e-6
    for a in range(3):
        for b in range(3):
            out[a, b] = 0.0
    for j in range(len(targets.weights)):
        owner, weight = body.joint_segments[j], targets.weights[j]
        if weight <= 0 or (owner != s and body.parents[owner] != s):
            continue
        at = body.joints_m[0, j]
        for a in range(3):
            rest_m[a] = at[a]
        if owner != s:
            weight *= NEXT_WEIGHT
            rotation_of(body.turn_mean_rad[owner], mean_turn)
            for a in range(3):
                turned = mean_turn[a, 0] * at[0] + mean_turn[a, 1] * at[1] + mean_turn[a, 2] * at[2]
                rest_m[a] = body.origins_m[0, owner, a] + turned
        for a in range(3):
            aim_m = targets.joints_m[j, a] - placement.starts_m[s, a]
            for b in range(3):
                out[a, b] += weight * aim_m * rest_m[b]
                size += abs(weight * aim_m * rest_m[b])
    return size


@njit(cache=True)
def nearest_rotation(matrix, rotation):
    """Fill ``rotation``, float64 (3, 3), with the rotation nearest to a matrix of any rank.

    References
    ----------
    Horn, Closed-form solution of absolute orientation using unit quaternions, J. Opt. Soc. Am. A 4, 1987. The largest
    eigenvector by Jacobi's method. Naive twin: tests/reference/body_model/aiming.py
    """
    m = matrix
    form, vectors = np.empty((4, 4)), np.zeros((4, 4))
    for i in range(4):
        vectors[i, i] = 1.0
    form[0, 0] = m[0, 0] + m[1, 1] + m[2, 2]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        form[i + 1, i + 1] = m[i, i] - m[j, j] - m[k, k]
        form[0, i + 1] = form[i + 1, 0] = m[k, j] - m[j, k]
        form[i + 1, j + 1] = form[j + 1, i + 1] = m[i, j] + m[j, i]
    for _ in range(SWEEPS):
        for p in range(3):
            for q in range(p + 1, 4):
                if abs(form[p, q]) > 1e-14 * (abs(form[p, p]) + abs(form[q, q])):
                    _jacobi(form, vectors, p, q)
    best = 0
    for i in range(1, 4):
        if form[i, i] > form[best, best]:
            best = i
    w, x, y, z = vectors[0, best], vectors[1, best], vectors[2, best], vectors[3, best]
    rotation[0, 0], rotation[0, 1], rotation[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    rotation[1, 0], rotation[1, 1], rotation[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    rotation[2, 0], rotation[2, 1], rotation[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


@helper(cache=True)
def _jacobi(form, vectors, p, q):
    """Turn rows and columns p and q of a symmetric float64 (4, 4) so that their common element becomes 0."""
    theta = (form[q, q] - form[p, p]) / (2 * form[p, q])
    t = (1.0 if theta >= 0 else -1.0) / (abs(theta) + math.sqrt(theta * theta + 1))
    cosine = 1 / math.sqrt(t * t + 1)
    sine = t * cosine
    for k in range(4):
        one, other = form[k, p], form[k, q]
        form[k, p], form[k, q] = cosine * one - sine * other, sine * one + cosine * other
    for k in range(4):
        one, other = form[p, k], form[q, k]
        form[p, k], form[q, k] = cosine * one - sine * other, sine * one + cosine * other
    for k in range(4):
        one, other = vectors[k, p], vectors[k, q]
        vectors[k, p], vectors[k, q] = cosine * one - sine * other, sine * one + cosine * other
