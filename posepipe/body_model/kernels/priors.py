"""Kernels: what is expected of a placed body before the camera is asked, as squared residuals.

Joints are near where they were found and near where they were, no capsule enters another, and joints turn as those of
people do.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.body_model.kernels.capsules import nearest_shares, sphere_at
from posepipe.body_model.kernels.fit_arrays import CONTACT, REST, TARGETS, TURNS
from posepipe.body_model.kernels.normal_equations import add_residual
from posepipe.body_model.kernels.rotations import inverse_jacobian, vector_of
from posepipe.compilation import helper, njit


@njit(cache=True, error_model="numpy")
def bounded(square, bound):
    """Geman and McClure's bound of a squared residual: its cost, and its weight in the normal equations."""
    share = bound / (bound + square)
    return square * share, share * share


@helper(cache=True, error_model="numpy")
def add_targets(body, placement, targets, weights, equations, by_shape):
    """Distance of every joint from where it was found."""
    for j in range(len(targets.weights)):
        if targets.weights[j] > 0:
            at = targets.joints_m[j, 0], targets.joints_m[j, 1], targets.joints_m[j, 2]
            given = targets.weights[j], weights.target_sigma_m, weights.target_bound_m
            equations.costs[TARGETS] += _add_joint(body, placement, j, at, given, equations, by_shape)


@helper(cache=True, error_model="numpy")
def add_last(body, placement, targets, weights, equations, by_shape):
    """Distance of every joint from where it was in the last frame: some rest, and none leaps from the others."""
    sigma_m, bound_m = weights.motion_sigma_m_s * targets.elapsed_s, weights.motion_bound_m_s * targets.elapsed_s
    for j in range(len(targets.last_weights)):
        if targets.last_weights[j] > 0:
            at = targets.last_m[j, 0], targets.last_m[j, 1], targets.last_m[j, 2]
            rests = targets.last_weights[j], weights.rest_sigma_m, weights.rest_bound_m
            moved = targets.moved_m[j, 0], targets.moved_m[j, 1], targets.moved_m[j, 2]
            moves = targets.last_weights[j], sigma_m, bound_m
            equations.costs[REST] += _add_joint(body, placement, j, at, rests, equations, by_shape)
            equations.costs[REST] += _add_joint(body, placement, j, moved, moves, equations, by_shape)


@helper(cache=True, error_model="numpy")
def _add_joint(body, placement, j, at, given, equations, by_shape):
    """Add the distance of a joint from a place, of a weight, sigma and bound; return its cost."""
    worth, sigma_m, bound_m = given
    s, r, rest_m, start = body.joint_segments[j], placement.rotations, body.joints_m, placement.starts_by_shape
    x, y, z = placement.joints_m[j, 0], placement.joints_m[j, 1], placement.joints_m[j, 2]
    gaps = x - at[0], y - at[1], z - at[2]
    square = gaps[0] * gaps[0] + gaps[1] * gaps[1] + gaps[2] * gaps[2]
    cost, share = bounded(square / sigma_m**2, (bound_m / sigma_m) ** 2)
    weight = worth * share / sigma_m**2
    for a in range(3):
        for k in range(len(by_shape)):
            own = r[s, a, 0] * rest_m[1 + k, j, 0] + r[s, a, 1] * rest_m[1 + k, j, 1]
            by_shape[k] = start[s, k, a] + own + r[s, a, 2] * rest_m[1 + k, j, 2]
        dx, dy, dz = 1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0
        add_residual(equations.sums, equations.forces, s, x, y, z, dx, dy, dz, by_shape, gaps[a], weight)
    return worth * cost


@helper(cache=True, error_model="numpy")
def add_contacts(body, placement, weights, equations, by_shape):
    """Capsules that must not enter each other.

    Each side is added as a residual of its own: the gradient is exact, and their coupling is left out of the matrix. By
    shape the reach of two capsules is constant.
    """
    sums, forces, weight = equations.sums, equations.forces, 1 / weights.contact_sigma_m**2
    for k in range(len(by_shape)):
        by_shape[k] = 0.0
    for p in range(len(body.pairs)):
        i, j = body.pairs[p, 0], body.pairs[p, 1]
        share, other_share = nearest_shares(placement.ends_m, i, j)
        x, y, z, radius = sphere_at(placement.ends_m, placement.radii_m, i, share)
        other_x, other_y, other_z, other_radius = sphere_at(placement.ends_m, placement.radii_m, j, other_share)
        reach = weights.contact_share * (radius + other_radius)
        dx, dy, dz = other_x - x, other_y - y, other_z - z
        square = dx * dx + dy * dy + dz * dz
        if square >= reach * reach or square < 1e-12:
            continue
        distance = math.sqrt(square)
        gap = reach - distance
        equations.costs[CONTACT] += weight * gap * gap
        dx, dy, dz = dx / distance, dy / distance, dz / distance
        s, other_s = body.capsule_segments[i], body.capsule_segments[j]
        add_residual(sums, forces, s, x, y, z, dx, dy, dz, by_shape, gap, weight)
        add_residual(sums, forces, other_s, other_x, other_y, other_z, -dx, -dy, -dz, by_shape, gap, weight)


@helper(cache=True, error_model="numpy")
def add_turns(body, placement, posture, weights, equations):
    """The Gaussian of each joint's turns, and its limits."""
    vector, jacobian, row = np.empty(3), np.empty((3, 3)), np.empty(3)
    axes, r = body.turn_axes, placement.rotations
    first = len(equations.gradient) - 3 * len(body.parents)
    for s in range(1, len(body.parents)):
        up, own = body.parents[s], first + 3 * s
        vector_of(posture.turns, s, vector)
        inverse_jacobian(vector, jacobian)
        for i in range(3):
            along = 0.0
            row[0] = row[1] = row[2] = 0.0
            for a in range(3):
                along += axes[s, i, a] * (vector[a] - body.turn_mean_rad[s, a])
                turned = (
                    axes[s, i, 0] * jacobian[0, a] + axes[s, i, 1] * jacobian[1, a] + axes[s, i, 2] * jacobian[2, a]
                )
                for b in range(3):  # row = axes[s, i] @ jacobian @ r[up].T
                    row[b] += turned * r[up, b, a]
            beyond = max(along - body.turn_high_rad[s, i], 0.0) + min(along - body.turn_low_rad[s, i], 0.0)
            gaussian, limit = weights.turn / body.turn_sigma_rad[s, i] ** 2, 1 / weights.limit_sigma_rad**2
            equations.costs[TURNS] += gaussian * along * along + limit * beyond * beyond
            weight = gaussian + (limit if beyond != 0 else 0.0)
            for a in range(3):
                equations.gradient[own + a] += row[a] * (gaussian * along + limit * beyond)
                for b in range(3):
                    equations.normal[own + a, own + b] += weight * row[a] * row[b]
