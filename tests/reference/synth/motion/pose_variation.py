"""Naive twin of synth/motion/poses/pose_variation.py: furthest points from the definition, all distances at once."""

from __future__ import annotations

import numpy as np


def pose_distances(points):
    """(N, N): the largest distance over the J points of each two poses; points (N, J, 3)."""
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


def turn_bones(pose, parents, turns):
    """A pose (B, 4) in which each bone is turned by a rotation vector in its own axes, against its parent."""
    out = []
    for bone, (parent, vector) in enumerate(zip(parents, turns, strict=True)):
        angle = np.linalg.norm(vector)
        axis = vector / angle if angle > 0 else vector
        turn = np.append(np.sin(angle / 2) * axis, np.cos(angle / 2))
        held = pose[bone] if parent < 0 else multiply(conjugate(pose[parent]), pose[bone])
        held = multiply(held, turn)
        out.append(held if parent < 0 else multiply(out[parent], held))
    return np.array(out)


def pose_between(first, second, parents, share):
    """A pose between two: every bone along an arc, signed so that its turn against its parent takes the short way."""
    signed = np.zeros_like(second)
    out = []
    for bone, parent in enumerate(parents):
        before, after = first[bone], second[bone]
        if parent >= 0:
            before = multiply(conjugate(first[parent]), before)
            after = multiply(conjugate(signed[parent]), after)
        signed[bone] = second[bone] if before @ after >= 0 else -second[bone]
        angle = np.arccos(np.clip(first[bone] @ signed[bone], -1, 1))
        mixed = np.sin((1 - share) * angle) * first[bone] + np.sin(share * angle) * signed[bone]
        out.append(mixed / np.linalg.norm(mixed))
    return np.array(out)
