"""Tapered capsules as many spheres."""

from __future__ import annotations

import numpy as np

SPHERES = 20_001


def nearest(point_m, ends_m, radii_m):
    """Share of the axis of the nearest of many spheres between the ends, and the signed distance from it."""
    shares = np.linspace(0, 1, SPHERES)[:, None]
    centres = ends_m[0] + shares * (ends_m[1] - ends_m[0])
    radii = radii_m[0] + shares[:, 0] * (radii_m[1] - radii_m[0])
    distances = np.linalg.norm(point_m - centres, axis=1) - radii
    return shares[distances.argmin(), 0], distances.min()


def distance(point_m, ends_m, radii_m):
    """Smallest signed distance from any sphere between the ends."""
    return nearest(point_m, ends_m, radii_m)[1]


def segment_distance(one_m, other_m):
    """Smallest distance between many points of two segments."""
    shares = np.linspace(0, 1, 401)[:, None]
    one, other = one_m[0] + shares * (one_m[1] - one_m[0]), other_m[0] + shares * (other_m[1] - other_m[0])
    return np.linalg.norm(one[:, None] - other[None], axis=2).min()
