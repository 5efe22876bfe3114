"""Naive twin of synth/pose_sampling.py: furthest points from the definition, all distances at once."""

from __future__ import annotations

import numpy as np


def pose_distances(points):
    """(N, N): the greatest distance over the J points of each two poses; points (N, J, 3)."""
    points = points.astype(np.float64)
    return np.array([np.sqrt(((pose - points) ** 2).sum(-1)).max(-1) for pose in points])


def furthest_points(points, first, count, min_separation):
    """Row numbers, each the one whose nearest chosen neighbour is furthest away; ties to the lower row."""
    distances = pose_distances(points)
    chosen = [first]
    while len(chosen) < count:
        nearest = distances[:, chosen].min(1)
        best = int(np.argmax(nearest))
        if nearest[best] == 0 or nearest[best] < min_separation:
            break
        chosen.append(best)
    return np.array(chosen)


def multiply(a, b):
    """The rotation b, then a, as a unit quaternion xyzw: the product of their quaternions, written out."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])


def conjugate(a):
    """The rotation undone."""
    return np.append(-a[:3], a[3])
