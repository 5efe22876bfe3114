"""Kernels: how badly a placed body explains what the camera shows of a person, as squared residuals.

Every residual has a standard deviation. The cost is the sum of their squares, bounded where a residual may be wrong:
points of other things, and labels that are mistaken. What is expected of a body is in `priors`.

The loops index whole arrays: a view for each point costs more than the arithmetic.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.body_model.kernels.capsules import nearest_on_capsule, sphere_at
from posepipe.body_model.kernels.fit_arrays import FREE_SPACE, LABELS, POINTS, SILHOUETTE
from posepipe.body_model.kernels.normal_equations import add_residual, spread
from posepipe.body_model.kernels.priors import add_contacts, add_last, add_targets, add_turns, bounded
from posepipe.compilation import helper, njit

SPHERES = (0.0, 0.5, 1.0)
"""Places along a capsule where silhouette and free space are tested, shares of its length."""
MIN_Z_M = 0.05


@njit(cache=True, error_model="numpy")
def assign(placement, seen, weights, assigned):
    """Fill in the capsule of each point: the one that costs least, by distance and by label."""
    bound, precision = (weights.point_bound_m / weights.point_sigma_m) ** 2, 1 / weights.point_sigma_m**2
    ends_m, radii_m, axes = placement.ends_m, placement.radii_m, placement.axes
    for n in range(len(seen.points_m)):
        best = math.inf
        for i in range(seen.choices.shape[1]):
            label_cost = weights.label * seen.choice_costs[n, i]
            if label_cost >= best:  # nor can the later choices, which are less probable
                break
            c = seen.choices[n, i]
            share, distance_m = nearest_on_capsule(seen.points_m, n, ends_m, radii_m, axes, c)
            square = distance_m * distance_m * precision
            cost = square * bound / (bound + square) + label_cost
            if cost < best:
                best = cost
                assigned.label_costs[n] = label_cost
                assigned.capsules[n], assigned.shares[n] = c, share


@njit(cache=True, error_model="numpy")
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
    by_shape = np.empty(len(posture.shape))
    _clear(equations)
    _add_points(body, placement, seen, weights, assigned, equations, by_shape)
    _add_spheres(body, placement, seen, weights, equations, by_shape)
    add_targets(body, placement, targets, weights, equations, by_shape)
    add_last(body, placement, targets, weights, equations, by_shape)
    add_contacts(body, placement, weights, equations, by_shape)
    spread(body.parents, placement.starts_m, equations.sums, equations.forces, equations.normal, equations.gradient)
    add_turns(body, placement, posture, weights, equations)
    total = 0.0
    for term in range(len(equations.costs)):
        total += equations.costs[term]
    return total


@helper(cache=True, error_model="numpy")
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


@helper(cache=True, error_model="numpy")
def _shape_row(body, placement, c, share, dx, dy, dz, by_radius, out):
    """Derivative by shape of a residual at a sphere of capsule ``c``."""
    s = body.capsule_segments[c]
    r, ends_m, radii_m, start = placement.rotations, body.capsule_ends_m, body.radii_m, placement.starts_by_shape
    x = r[s, 0, 0] * dx + r[s, 1, 0] * dy + r[s, 2, 0] * dz
    y = r[s, 0, 1] * dx + r[s, 1, 1] * dy + r[s, 2, 1] * dz
    z = r[s, 0, 2] * dx + r[s, 1, 2] * dy + r[s, 2, 2] * dz
    for k in range(len(out)):
        m = 1 + k
        value = by_radius * (radii_m[m, c, 0] + share * (radii_m[m, c, 1] - radii_m[m, c, 0]))
        value += x * (ends_m[m, c, 0, 0] + share * (ends_m[m, c, 1, 0] - ends_m[m, c, 0, 0]))
        value += y * (ends_m[m, c, 0, 1] + share * (ends_m[m, c, 1, 1] - ends_m[m, c, 0, 1]))
        value += z * (ends_m[m, c, 0, 2] + share * (ends_m[m, c, 1, 2] - ends_m[m, c, 0, 2]))
        out[k] = value + dx * start[s, k, 0] + dy * start[s, k, 1] + dz * start[s, k, 2]


@helper(cache=True, error_model="numpy")
def _add_points(body, placement, seen, weights, assigned, equations, by_shape):
    """Distance of every point from the sphere of its capsule that it is nearest to."""
    bound, precision = (weights.point_bound_m / weights.point_sigma_m) ** 2, 1 / weights.point_sigma_m**2
    costs, labels = 0.0, 0.0
    for n in range(len(seen.points_m)):
        c, at = assigned.capsules[n], assigned.shares[n]
        s = body.capsule_segments[c]
        mid_x, mid_y, mid_z, radius = sphere_at(placement.ends_m, placement.radii_m, c, at)
        ray_x, ray_y, ray_z = seen.points_m[n, 0], seen.points_m[n, 1], seen.points_m[n, 2]
        x, y, z = ray_x - mid_x, ray_y - mid_y, ray_z - mid_z
        nearer = 1 / math.sqrt(ray_x * ray_x + ray_y * ray_y + ray_z * ray_z)
        ray_x, ray_y, ray_z = ray_x * nearer, ray_y * nearer, ray_z * nearer
        behind = max(x * ray_x + y * ray_y + z * ray_z, 0.0)
        # the camera sees no back: the nearest point that it sees is then on the outline of the sphere
        x, y, z = x - behind * ray_x, y - behind * ray_y, z - behind * ray_z
        distance = max(math.sqrt(x * x + y * y + z * z), 1e-9)
        residual = distance - radius
        cost, share = bounded((residual * residual + behind * behind) * precision, bound)
        worth = weights.points * seen.point_weights[n]
        weight = worth * share * precision
        costs += worth * cost
        labels += worth * assigned.label_costs[n]
        x, y, z = -x / distance, -y / distance, -z / distance
        _shape_row(body, placement, c, at, x, y, z, -1.0, by_shape)
        add_residual(equations.sums, equations.forces, s, mid_x, mid_y, mid_z, x, y, z, by_shape, residual, weight)
        if behind > 0:
            x, y, z = -ray_x, -ray_y, -ray_z
            _shape_row(body, placement, c, at, x, y, z, 0.0, by_shape)
            add_residual(equations.sums, equations.forces, s, mid_x, mid_y, mid_z, x, y, z, by_shape, behind, weight)
    equations.costs[POINTS] += costs
    equations.costs[LABELS] += labels


@helper(cache=True, error_model="numpy")
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


@helper(cache=True, error_model="numpy")
def _add_spheres(body, placement, seen, weights, equations, by_shape):
    """Silhouette: the middle of a sphere lies within the outline. Free space: no sphere is before what is seen."""
    fx, fy, cx, cy = seen.camera[0], seen.camera[1], seen.camera[2], seen.camera[3]
    height, width = seen.depth_m.shape
    for c in range(len(body.capsule_segments)):
        for at in SPHERES:
            x, y, mid_z, radius = sphere_at(placement.ends_m, placement.radii_m, c, at)
            z = max(mid_z, MIN_Z_M)
            u, v = fx * x / z + cx, fy * y / z + cy
            col, row = int(math.floor(u + 0.5)), int(math.floor(v + 0.5))
            depth_m = float(seen.depth_m[row, col]) if 0 <= row < height and 0 <= col < width else 0.0
            outside, by_u, by_v = outside_at(seen.outside_px, u, v)
            if outside > 0 and not 0 < depth_m < z - radius:  # unless something nearer hides it
                term, residual, by_radius = SILHOUETTE, outside * z / fx, 0.0
                sigma_m, bound_m = weights.silhouette_sigma_m, weights.silhouette_bound_m
                dx, dy = by_u, by_v * fy / fx
                dz = outside / fx - (by_u * x + by_v * y * fy / fx) / z
            elif outside == 0 and depth_m > max(z - radius, 0.0):  # 0 = no reading, also before the camera's plane
                term, residual, by_radius = FREE_SPACE, depth_m - (z - radius), 1.0
                sigma_m, bound_m = weights.free_sigma_m, weights.free_bound_m
                dx, dy, dz = 0.0, 0.0, -1.0
            else:
                continue
            cost, share = bounded((residual / sigma_m) ** 2, (bound_m / sigma_m) ** 2)
            equations.costs[term] += cost
            _shape_row(body, placement, c, at, dx, dy, dz, by_radius, by_shape)
            s, weight = body.capsule_segments[c], share / sigma_m**2
            add_residual(equations.sums, equations.forces, s, x, y, mid_z, dx, dy, dz, by_shape, residual, weight)
