"""Naive twin of synth/motion/mocap/distinct_poses.py: every pose against every one kept before it."""

from __future__ import annotations

import numpy as np


def distinct(points, min_separation):
    """Which of points (N, J, 3) are kept, one after the other: bool (N,)."""
    points = points.astype(np.float64)
    kept = []
    for n, pose in enumerate(points):
        if all(np.sqrt(((pose - points[k]) ** 2).sum(-1)).max() >= min_separation for k in kept):
            kept.append(n)
    return np.isin(np.arange(len(points)), kept)
