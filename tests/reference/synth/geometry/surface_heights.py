"""Naive twin of `synth.geometry.surface_heights`: barycentric coordinates of every place in every triangle."""

import numpy as np


def surface_heights_m(vertices_m, triangles, places_m):
    """Height of the highest point of a mesh above each place (P, 2) along x and z, -inf where there is none."""
    a, b, c = np.moveaxis(vertices_m[triangles], 1, 0)
    flat_a, flat_b, flat_c = a[:, [0, 2]], b[:, [0, 2]], c[:, [0, 2]]
    area = _cross(flat_b - flat_a, flat_c - flat_a)
    standing = np.abs(area) < 1e-12
    safe = np.where(standing, 1.0, area)
    at = places_m[:, None]
    weight_a = _cross(flat_b - at, flat_c - at) / safe
    weight_b = _cross(flat_c - at, flat_a - at) / safe
    weight_c = 1 - weight_a - weight_b
    heights = weight_a * a[:, 1] + weight_b * b[:, 1] + weight_c * c[:, 1]
    above = (weight_a >= -1e-9) & (weight_b >= -1e-9) & (weight_c >= -1e-9) & ~standing
    return np.where(above, heights, -np.inf).max(axis=1, initial=-np.inf)


def _cross(one, other):
    return one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
