"""Kernel: how much of a person a fitted body explains. Furniture that is taken for a person is explained badly."""

from __future__ import annotations

import math

from posepipe.body_model.kernels.capsules import nearest_on_capsule, sphere_at
from posepipe.body_model.kernels.fit_arrays import ASSIGNMENT_TYPE, OBSERVATION_TYPE, Assignment, Observation
from posepipe.body_model.kernels.placement import PLACEMENT_TYPE, Placement
from posepipe.body_model.kernels.residuals import MIN_Z_M, SPHERES, outside_at
from posepipe.compilation import compiled_for, njit

NEAR_M = 0.04
"""Distance from the surface within which a point is explained."""
OUTSIDE_M = 0.03
"""Distance outside the outline beyond which a sphere of the body should not be."""


def explained(placement: Placement, seen: Observation, assigned: Assignment) -> tuple[float, float]:
    """Share of a person's surface within NEAR_M of the body, and of the body's spheres within their outline.

    Returns
    -------
    share of pixels, share of the silhouette; both 0 to 1
    """
    points, inside = _explained(placement, seen, assigned)
    return min(float(points), 1.0), float(inside)  # shares of a surface, summed, may exceed 1 by rounding


@compiled_for(PLACEMENT_TYPE, OBSERVATION_TYPE, ASSIGNMENT_TYPE)
@njit(cache=True)
def _explained(placement, seen, assigned):
    near, inside, spheres = 0.0, 0, 0
    for n in range(len(seen.points_m)):
        c = assigned.capsules[n]
        _, distance_m = nearest_on_capsule(seen.points_m, n, placement.ends_m, placement.radii_m, placement.axes, c)
        if abs(distance_m) <= NEAR_M:
            near += seen.point_weights[n]
    fx, fy, cx, cy = seen.camera[0], seen.camera[1], seen.camera[2], seen.camera[3]
    height, width = seen.depth_m.shape
    for c in range(len(placement.ends_m)):
        for at in SPHERES:
            x, y, z, radius = sphere_at(placement.ends_m, placement.radii_m, c, at)
            z = max(z, MIN_Z_M)
            u, v = fx * x / z + cx, fy * y / z + cy
            outside, _, _ = outside_at(seen.outside_px, u, v)
            col, row = int(math.floor(u + 0.5)), int(math.floor(v + 0.5))
            depth_m = float(seen.depth_m[row, col]) if 0 <= row < height and 0 <= col < width else 0.0
            if outside > 0 and 0 < depth_m < z - radius:  # hidden by something nearer
                continue
            spheres += 1
            inside += outside * z / fx <= OUTSIDE_M
    return near, inside / max(spheres, 1)
