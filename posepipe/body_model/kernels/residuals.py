"""Kernels: how badly a placed body explains a person, as squared residuals.

Every residual has a standard deviation. The cost is the sum of their squares, bounded where a residual may be wrong:
points of other things, labels and joints that are mistaken.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.body_model.kernels.capsules import nearest_on_capsule, nearest_shares, sphere_at
from posepipe.body_model.kernels.fit_arrays import (
    CONTACT,
    FREE_SPACE,
    LABELS,
    POINTS,
    REST,
    SHAPE,
    SILHOUETTE,
    TARGETS,
    TURNS,
)
from posepipe.body_model.kernels.normal_equations import add_residual, spread
from posepipe.body_model.kernels.rotations import inverse_jacobian, vector_of
from posepipe.compilation import njit

SPHERES = (0.0, 0.5, 1.0)
"""Places along a capsule where silhouette and free space are tested, shares of its length."""
MIN_Z_M = 0.05


@njit(cache=True)
def _bounded(square, bound):
    """Geman and McClure's bound of a squared residual: its cost, and its weight in the normal equations."""
    share = bound / (bound + square)
    return square * share, share * share


@njit(cache=True)
def assign(placement, seen, weights, assigned):
    """Fill in the capsule of each point: the one that costs least, by distance and by label."""
    bound = (weights.point_bound_m / weights.point_sigma_m) ** 2
    for n in range(len(seen.points_m)):
        best = math.inf
        for i in range(seen.choices.shape[1]):
            c = seen.choices[n, i]
            share, distance_m = nearest_on_capsule(seen.points_m[n], placement.ends_m[c], placement.radii_m[c])
            square = (distance_m / weights.point_sigma_m) ** 2
            label_cost = weights.label * seen.choice_costs[n, i]
            cost = square * bound / (bound + square) + label_cost
            if cost < best:
                best = cost
                assigned.label_costs[n] = label_cost
                assigned.capsules[n], assigned.shares[n] = c, share


@njit(cache=True)
def linearize(body, placement, posture, seen, targets, weights, assigned, equations):
    """Fill in the normal equations of all residuals at a placement; return the sum of their costs.

    Parameters
    ----------
    body : BodyArrays
    placement, posture : Placement, and the Posture that it is of
    seen : Observation
    targets : Targets
    weights : Weights
    assigned : Assignment, of `assign`
    equations : Equations, written in place

    References
    ----------
    Naive twin: tests/reference/body_model/residuals.py
    """
    normal, gradient, costs = equations.normal, equations.gradient, equations.costs
    coefficients = len(posture.shape)
    _clear(equations)
    scratch = (np.empty(3), np.empty(3), np.empty(coefficients), np.empty(6 + coefficients))
    _add_points(body, placement, seen, weights, assigned, equations, scratch)
    _add_spheres(body, placement, seen, weights, equations, scratch)
    at = targets.joints_m, targets.weights, weights.target_sigma_m, weights.target_bound_m, TARGETS
    _add_targets(body, placement, at, equations, scratch)
    last = targets.last_m, targets.last_weights, weights.rest_sigma_m, weights.rest_bound_m, REST
    _add_targets(body, placement, last, equations, scratch)
    _add_contacts(body, placement, weights, equations, scratch)
    spread(body.parents, placement.starts_m, equations.sums, equations.forces, normal, gradient)
    _add_turns(body, placement, posture, weights, equations)
    for k in range(coefficients):
        for m in range(coefficients):
            gap = posture.shape[m] - seen.shape_mean[m]
            gradient[3 + k] += seen.shape_precision[k, m] * gap
            costs[SHAPE] += (posture.shape[k] - seen.shape_mean[k]) * seen.shape_precision[k, m] * gap
            normal[3 + k, 3 + m] += seen.shape_precision[k, m]
    total = 0.0
    for term in range(len(costs)):
        total += costs[term]
    return total


@njit(cache=True)
def _clear(equations):
    for i in range(len(equations.gradient)):
        for j in range(len(equations.gradient)):
            equations.normal[i, j] = 0.0
    for term in range(len(equations.costs)):
        equations.costs[term] = 0.0
    for s in range(len(equations.forces)):
        for i in range(equations.forces.shape[1]):
            equations.forces[s, i] = 0.0
            for j in range(equations.forces.shape[1]):
                equations.sums[s, i, j] = 0.0


@njit(cache=True)
def _shape_row(body, placement, capsule, share, direction, by_radius, out):
    """Derivative by shape of a residual at a sphere of a capsule."""
    s = body.capsule_segments[capsule]
    turn = placement.rotations[s]
    x = turn[0, 0] * direction[0] + turn[1, 0] * direction[1] + turn[2, 0] * direction[2]
    y = turn[0, 1] * direction[0] + turn[1, 1] * direction[1] + turn[2, 1] * direction[2]
    z = turn[0, 2] * direction[0] + turn[1, 2] * direction[1] + turn[2, 2] * direction[2]
    for k in range(len(out)):
        ends, radii, start = (
            body.capsule_ends_m[1 + k, capsule],
            body.radii_m[1 + k, capsule],
            placement.starts_by_shape[s, k],
        )
        value = by_radius * (radii[0] + share * (radii[1] - radii[0]))
        value += x * (ends[0, 0] + share * (ends[1, 0] - ends[0, 0]))
        value += y * (ends[0, 1] + share * (ends[1, 1] - ends[0, 1]))
        value += z * (ends[0, 2] + share * (ends[1, 2] - ends[0, 2]))
        out[k] = value + direction[0] * start[0] + direction[1] * start[1] + direction[2] * start[2]


@njit(cache=True)
def _add_at_sphere(
    body, placement, capsule, share, centre_m, direction, by_radius, residual, weight, equations, scratch
):
    """Add a residual whose derivative by the centre of a sphere is ``direction``."""
    _shape_row(body, placement, capsule, share, direction, by_radius, scratch[2])
    s = body.capsule_segments[capsule]
    add_residual(equations.sums, equations.forces, s, centre_m, direction, scratch[2], residual, weight, scratch[3])


@njit(cache=True)
def _add_points(body, placement, seen, weights, assigned, equations, scratch):
    """Distance of every point from the sphere of its capsule that it is nearest to."""
    centre_m, direction, _, _ = scratch
    bound = (weights.point_bound_m / weights.point_sigma_m) ** 2
    for n in range(len(seen.points_m)):
        point_m, c, at = seen.points_m[n], assigned.capsules[n], assigned.shares[n]
        radius = sphere_at(placement.ends_m[c], placement.radii_m[c], at, centre_m)
        x, y, z = point_m[0] - centre_m[0], point_m[1] - centre_m[1], point_m[2] - centre_m[2]
        away = math.sqrt(point_m[0] ** 2 + point_m[1] ** 2 + point_m[2] ** 2)
        ray_x, ray_y, ray_z = point_m[0] / away, point_m[1] / away, point_m[2] / away
        behind = max(x * ray_x + y * ray_y + z * ray_z, 0.0)
        # the camera sees no back: the nearest point that it sees is then on the outline of the sphere
        x, y, z = x - behind * ray_x, y - behind * ray_y, z - behind * ray_z
        distance = max(math.sqrt(x * x + y * y + z * z), 1e-9)
        residual = distance - radius
        cost, share = _bounded((residual * residual + behind * behind) / weights.point_sigma_m**2, bound)
        worth = weights.points * seen.point_weights[n]
        weight = worth * share / weights.point_sigma_m**2
        equations.costs[POINTS] += worth * cost
        equations.costs[LABELS] += worth * assigned.label_costs[n]
        direction[0], direction[1], direction[2] = -x / distance, -y / distance, -z / distance
        _add_at_sphere(body, placement, c, at, centre_m, direction, -1.0, residual, weight, equations, scratch)
        if behind > 0:
            direction[0], direction[1], direction[2] = -ray_x, -ray_y, -ray_z
            _add_at_sphere(body, placement, c, at, centre_m, direction, 0.0, behind, weight, equations, scratch)


@njit(cache=True)
def outside_at(outside_px, u, v):
    """Distance from the person of a place in the grid, cells, and its derivatives by column and row."""
    height, width = outside_px.shape
    inside_u, inside_v = min(max(u, 0.0), width - 1.001), min(max(v, 0.0), height - 1.001)
    col, row = int(inside_u), int(inside_v)
    fu, fv = inside_u - col, inside_v - row
    a, b = outside_px[row, col], outside_px[row, col + 1]
    c, d = outside_px[row + 1, col], outside_px[row + 1, col + 1]
    value = (a * (1 - fu) + b * fu) * (1 - fv) + (c * (1 - fu) + d * fu) * fv
    by_u, by_v = (b - a) * (1 - fv) + (d - c) * fv, (c - a) * (1 - fu) + (d - b) * fu
    if u != inside_u:  # beyond the grid the distance grows by one a cell
        value += abs(u - inside_u)
        by_u = 1.0 if u > inside_u else -1.0
    if v != inside_v:
        value += abs(v - inside_v)
        by_v = 1.0 if v > inside_v else -1.0
    return value, by_u, by_v


@njit(cache=True)
def _add_spheres(body, placement, seen, weights, equations, scratch):
    """Silhouette: the middle of a sphere lies within the outline. Free space: no sphere is before what is seen."""
    centre_m, direction, _, _ = scratch
    fx, fy, cx, cy = seen.camera[0], seen.camera[1], seen.camera[2], seen.camera[3]
    height, width = seen.depth_m.shape
    for c in range(len(body.capsule_segments)):
        for at in SPHERES:
            radius = sphere_at(placement.ends_m[c], placement.radii_m[c], at, centre_m)
            x, y, z = centre_m[0], centre_m[1], max(centre_m[2], MIN_Z_M)
            u, v = fx * x / z + cx, fy * y / z + cy
            col, row = int(math.floor(u + 0.5)), int(math.floor(v + 0.5))
            depth_m = float(seen.depth_m[row, col]) if 0 <= row < height and 0 <= col < width else 0.0
            outside, by_u, by_v = outside_at(seen.outside_px, u, v)
            if outside > 0 and not 0 < depth_m < z - radius:  # unless something nearer hides it
                residual, sigma_m, bound_m, by_radius = (
                    outside * z / fx,
                    weights.silhouette_sigma_m,
                    weights.silhouette_bound_m,
                    0.0,
                )
                direction[0], direction[1] = by_u, by_v * fy / fx
                direction[2] = outside / fx - (by_u * x + by_v * y * fy / fx) / z
                term = SILHOUETTE
            elif outside == 0 and depth_m > z - radius:
                residual, sigma_m, bound_m, by_radius = (
                    depth_m - (z - radius),
                    weights.free_sigma_m,
                    weights.free_bound_m,
                    1.0,
                )
                direction[0], direction[1], direction[2] = 0.0, 0.0, -1.0
                term = FREE_SPACE
            else:
                continue
            cost, share = _bounded((residual / sigma_m) ** 2, (bound_m / sigma_m) ** 2)
            equations.costs[term] += cost
            weight = share / sigma_m**2
            _add_at_sphere(body, placement, c, at, centre_m, direction, by_radius, residual, weight, equations, scratch)


@njit(cache=True)
def _add_targets(body, placement, wanted, equations, scratch):
    """Distance of every joint from where it is wanted."""
    _, direction, by_shape, row = scratch
    joints_m, joint_weights, sigma_m, bound_m, term = wanted
    for j in range(len(joint_weights)):
        if joint_weights[j] <= 0:
            continue
        s, at_m = body.joint_segments[j], placement.joints_m[j]
        square = 0.0
        for a in range(3):
            square += (at_m[a] - joints_m[j, a]) ** 2
        cost, share = _bounded(square / sigma_m**2, (bound_m / sigma_m) ** 2)
        equations.costs[term] += joint_weights[j] * cost
        weight = share * joint_weights[j] / sigma_m**2
        for a in range(3):
            direction[0] = direction[1] = direction[2] = 0.0
            direction[a] = 1.0
            turn = placement.rotations[s, a]
            for k in range(len(by_shape)):
                own = body.joints_m[1 + k, j]
                by_shape[k] = (
                    placement.starts_by_shape[s, k, a] + turn[0] * own[0] + turn[1] * own[1] + turn[2] * own[2]
                )
            gap = at_m[a] - joints_m[j, a]
            add_residual(equations.sums, equations.forces, s, at_m, direction, by_shape, gap, weight, row)


@njit(cache=True)
def _add_contacts(body, placement, weights, equations, scratch):
    """Capsules that must not enter each other.

    Each side is added as a residual of its own: the gradient is exact, and their coupling is left out of the matrix. By
    shape the reach of two capsules is constant.
    """
    one_m, direction, by_shape, row = scratch
    other_m = np.empty(3)
    for k in range(len(by_shape)):
        by_shape[k] = 0.0
    for p in range(len(body.pairs)):
        i, j = body.pairs[p, 0], body.pairs[p, 1]
        s, t = nearest_shares(placement.ends_m[i], placement.ends_m[j])
        reach = sphere_at(placement.ends_m[i], placement.radii_m[i], s, one_m)
        reach += sphere_at(placement.ends_m[j], placement.radii_m[j], t, other_m)
        reach *= weights.contact_share
        square = (one_m[0] - other_m[0]) ** 2 + (one_m[1] - other_m[1]) ** 2 + (one_m[2] - other_m[2]) ** 2
        if square >= reach * reach or square < 1e-12:
            continue
        distance = math.sqrt(square)
        residual, weight = reach - distance, 1 / weights.contact_sigma_m**2
        equations.costs[CONTACT] += weight * residual * residual
        for a in range(3):
            direction[a] = (other_m[a] - one_m[a]) / distance
        own = body.capsule_segments[i]
        add_residual(equations.sums, equations.forces, own, one_m, direction, by_shape, residual, weight, row)
        for a in range(3):
            direction[a] = -direction[a]
        own = body.capsule_segments[j]
        add_residual(equations.sums, equations.forces, own, other_m, direction, by_shape, residual, weight, row)


@njit(cache=True)
def _add_turns(body, placement, posture, weights, equations):
    """The Gaussian of each joint's turns, and its limits."""
    vector, jacobian, row = np.empty(3), np.empty((3, 3)), np.empty(3)
    first = len(equations.gradient) - 3 * len(body.parents)
    for s in range(1, len(body.parents)):
        up, axes = placement.rotations[body.parents[s]], body.turn_axes[s]
        vector_of(posture.turns[s], vector)
        inverse_jacobian(vector, jacobian)
        for i in range(3):
            along = 0.0
            row[0] = row[1] = row[2] = 0.0
            for a in range(3):
                along += axes[i, a] * (vector[a] - body.turn_mean_rad[s, a])
                turned = axes[i, 0] * jacobian[0, a] + axes[i, 1] * jacobian[1, a] + axes[i, 2] * jacobian[2, a]
                for b in range(3):  # row = axes[i] @ jacobian @ up.T
                    row[b] += turned * up[b, a]
            beyond = max(along - body.turn_high_rad[s, i], 0.0) + min(along - body.turn_low_rad[s, i], 0.0)
            gaussian, limit = weights.turn / body.turn_sigma_rad[s, i] ** 2, 1 / weights.limit_sigma_rad**2
            equations.costs[TURNS] += gaussian * along * along + limit * beyond * beyond
            weight = gaussian + (limit if beyond != 0 else 0.0)
            for a in range(3):
                equations.gradient[first + 3 * s + a] += row[a] * (gaussian * along + limit * beyond)
                for b in range(3):
                    equations.normal[first + 3 * s + a, first + 3 * s + b] += weight * row[a] * row[b]
