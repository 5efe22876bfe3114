"""How much of a person a body explains, sphere by sphere."""

from __future__ import annotations

import numpy as np

from tests.reference.body_model.capsules import distance
from tests.reference.body_model.residuals import SPHERES, _interpolated


def explained(ends, radii, seen, capsules, near_m, outside_m):
    """Weight of points near their capsules, and share of spheres within the outline."""
    gaps = [abs(distance(p, ends[c], radii[c])) for p, c in zip(seen.points_m, capsules, strict=True)]
    inside, (fx, fy, cx, cy) = [], seen.camera
    for own, girth in zip(ends, radii, strict=True):
        for share in SPHERES:
            x, y, z = own[0] + share * (own[1] - own[0])
            u, v, radius = fx * x / z + cx, fy * y / z + cy, girth[0] + share * (girth[1] - girth[0])
            outside = _interpolated(seen.outside_px.astype(float), u, v)
            row, col = round(v), round(u)
            in_grid = 0 <= row < seen.depth_m.shape[0] and 0 <= col < seen.depth_m.shape[1]
            if not (outside > 0 and in_grid and 0 < seen.depth_m[row, col] < z - radius):
                inside.append(outside * z / fx <= outside_m)
    return seen.point_weights[np.array(gaps) <= near_m].sum(), np.mean(inside)
