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
