"""Naive twin of synth/render/rasterizer.py: one ray through every pixel centre against every triangle, in float64.

Möller and Trumbore, Journal of Graphics Tools 1997.
"""

from __future__ import annotations

import numpy as np


def cast_rays(vertices_m, triangles, camera, height, width, near_m):
    """Depth (H, W), metres, 0 = nothing, and triangle (H, W), -1 = nothing; camera is (fx, fy, cx, cy)."""
    fx, fy, cx, cy = camera
    depth_m, ids = np.zeros((height, width)), np.full((height, width), -1)
    start, second, third = np.asarray(vertices_m, float)[triangles].transpose(1, 0, 2)
    for row in range(height):
        for col in range(width):
            ray = np.array([(col - cx) / fx, (row - cy) / fy, 1.0])  # z = 1, so that length along it is depth
            depths = distances(ray, start, second - start, third - start)
            depths[~(depths >= near_m)] = np.inf
            if len(depths) and np.isfinite(depths.min()):
                depth_m[row, col], ids[row, col] = depths.min(), depths.argmin()
    return depth_m, ids


def distances(ray, start, edge_a, edge_b):
    """Along the ray from the origin to each triangle (T,), in lengths of ``ray``; NaN where it is missed."""
    across = np.cross(ray, edge_b)
    determinant = (edge_a * across).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (-start * across).sum(1) / determinant
        turned = np.cross(-start, edge_a)
        v = turned @ ray / determinant
        along = (edge_b * turned).sum(1) / determinant
        return np.where((u >= 0) & (v >= 0) & (u + v <= 1), along, np.nan)


def paint(triangle_ids, triangle_labels):
    """Label of the triangle of each pixel, 0 where there is none."""
    labels = dict(enumerate(triangle_labels))
    return np.array([[labels.get(number, 0) for number in row] for row in triangle_ids.tolist()])
