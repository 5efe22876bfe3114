"""Naive twin of synth/body/limb_collision.py: distance of two segments by trying points of one of them."""

from __future__ import annotations

import numpy as np


def segment_distance(a, b, c, d, steps=2001):
    """Minimum distance of the segments a-b and c-d: every point of a-b against the nearest of c-d."""
    points = a + np.linspace(0, 1, steps)[:, None] * (b - a)
    along = d - c
    length2 = along @ along
    t = np.clip((points - c) @ along / length2, 0, 1) if length2 > 0 else np.zeros(steps)
    return np.linalg.norm(points - (c + t[:, None] * along), axis=1).min()


def limbs_intersect(joints_m, legs, ends, radii, pairs, leg_m):
    """Whether any pair of capsules overlaps, for each of poses (N, J, 3); radii scale with the mean leg."""
    found = []
    for pose_m in joints_m:
        scale = np.linalg.norm(np.diff(pose_m[legs], axis=1), axis=2).sum(1).mean() / leg_m
        bones_m = pose_m[ends]
        gaps_m = [segment_distance(*bones_m[i], *bones_m[j]) for i, j in pairs]
        found.append((gaps_m < scale * radii[pairs].sum(1)).any())
    return np.array(found)
