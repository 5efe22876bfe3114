"""The cost of a posture, term by term, for a fixed assignment of points to spheres of capsules."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tests.reference.body_model.capsules import nearest
from tests.reference.body_model.placement import place

SPHERES = (0.0, 0.5, 1.0)


def bounded(square, sigma, bound):
    """Geman and McClure's bound of a squared residual."""
    limit = (bound / sigma) ** 2
    return square / sigma**2 * limit / (limit + square / sigma**2)


def assign(seen, ends, radii, w):
    """Capsule of each point, the one of least cost, with the share of its axis and the cost of its label."""
    chosen = []
    for point_m, choices, label_costs in zip(seen.points_m, seen.choices, w.label * seen.choice_costs, strict=True):
        places = [nearest(point_m, ends[c], radii[c]) for c in choices]
        distances = np.array([distance for _, distance in places])
        best = (bounded(distances**2, w.point_sigma_m, w.point_bound_m) + label_costs).argmin()
        chosen.append((choices[best], places[best][0], label_costs[best]))
    return tuple(np.transpose(chosen))


def costs(body, posture, seen, targets, w, assigned):
    """Points, labels, silhouette, free space, targets, turns, contact, rest: float (8,)."""
    _, _, joints, ends, radii = place(body, posture)
    silhouette, free = _spheres(ends, radii, seen, w)
    misses = np.linalg.norm(joints - targets.joints_m, axis=1)
    found = (targets.weights * bounded(misses**2, w.target_sigma_m, w.target_bound_m))[targets.weights > 0].sum()
    moved = np.linalg.norm(joints - targets.last_m, axis=1)
    rest = (targets.last_weights * bounded(moved**2, w.rest_sigma_m, w.rest_bound_m)).sum()
    beside = np.linalg.norm(joints - targets.moved_m, axis=1)
    sigma_m, bound_m = w.motion_sigma_m_s * targets.elapsed_s, w.motion_bound_m_s * targets.elapsed_s
    rest += (targets.last_weights * bounded(beside**2, sigma_m, bound_m)).sum()
    labels = w.points * w.label * (seen.point_weights * _label_costs(seen, assigned)).sum()
    return np.array(
        [
            _points(ends, radii, seen, w, assigned),
            labels,
            silhouette,
            free,
            found,
            _turns(body, posture, w),
            _contacts(body, ends, radii, w),
            rest,
        ]
    )


def _label_costs(seen, assigned):
    rows = [list(choices).index(chosen) for choices, chosen in zip(seen.choices, assigned.capsules, strict=True)]
    return seen.choice_costs[np.arange(len(rows)), rows]


def _points(ends, radii, seen, w, assigned):
    total = 0.0
    for point, weight, c, share in zip(
        seen.points_m, seen.point_weights, assigned.capsules, assigned.shares, strict=True
    ):
        centre = ends[c, 0] + share * (ends[c, 1] - ends[c, 0])
        radius = radii[c, 0] + share * (radii[c, 1] - radii[c, 0])
        ray, away = point / np.linalg.norm(point), point - centre
        behind = max(away @ ray, 0.0)
        aside = np.linalg.norm(away - behind * ray)
        total += w.points * weight * bounded((aside - radius) ** 2 + behind**2, w.point_sigma_m, w.point_bound_m)
    return total


def _spheres(ends, radii, seen, w):
    silhouette = free = 0.0
    fx, fy, cx, cy = seen.camera
    for own, girth in zip(ends, radii, strict=True):
        for share in SPHERES:
            x, y, z = own[0] + share * (own[1] - own[0])
            radius, u, v = girth[0] + share * (girth[1] - girth[0]), fx * x / z + cx, fy * y / z + cy
            row, col = round(v), round(u)
            inside = 0 <= row < seen.depth_m.shape[0] and 0 <= col < seen.depth_m.shape[1]
            depth = float(seen.depth_m[row, col]) if inside else 0.0
            outside = _interpolated(seen.outside_px.astype(float), u, v)
            if outside > 0:
                if not 0 < depth < z - radius:
                    silhouette += bounded((outside * z / fx) ** 2, w.silhouette_sigma_m, w.silhouette_bound_m)
            elif depth > 0 and depth > z - radius:
                free += bounded((depth - z + radius) ** 2, w.free_sigma_m, w.free_bound_m)
    return silhouette, free


def _interpolated(image, u, v):
    height, width = image.shape
    iu, iv = np.clip(u, 0, width - 1.001), np.clip(v, 0, height - 1.001)
    col, row = int(iu), int(iv)
    near = image[row : row + 2, col : col + 2]
    across = near[:, 0] + (iu - col) * (near[:, 1] - near[:, 0])
    return across[0] + (iv - row) * (across[1] - across[0]) + abs(u - iu) + abs(v - iv)


def _turns(body, posture, w):
    vectors = Rotation.from_matrix(posture.turns[1:]).as_rotvec()
    along = np.einsum("sia,sa->si", body.turn_axes[1:], vectors - body.turn_mean_rad[1:])
    beyond = along - np.clip(along, body.turn_low_rad[1:], body.turn_high_rad[1:])
    gaussian = w.turn * (along / body.turn_sigma_rad[1:]) ** 2
    return (gaussian + (beyond / w.limit_sigma_rad) ** 2).sum()


def _contacts(body, ends, radii, w):
    from posepipe.body_model.kernels.capsules import nearest_shares  # it has a twin of its own

    total = 0.0
    for i, j in body.pairs:
        s, t = nearest_shares(ends, i, j)
        one, other = ends[i, 0] + s * (ends[i, 1] - ends[i, 0]), ends[j, 0] + t * (ends[j, 1] - ends[j, 0])
        reach = radii[i, 0] + s * (radii[i, 1] - radii[i, 0]) + radii[j, 0] + t * (radii[j, 1] - radii[j, 0])
        total += (max(w.contact_share * reach - np.linalg.norm(one - other), 0) / w.contact_sigma_m) ** 2
    return total
