"""Naive twin of synth/sensors/triangulation.py: every pair of pixels of a row, every window in full, in float64."""

from __future__ import annotations

import numpy as np


def seen_twice(depth_m, focal_baseline, pixels_per_match, bridged_px):
    """Disparity, 0 where some surface further right lands, in the second eye, left of the pixel by more than a gap."""
    out = np.zeros(depth_m.shape)
    for row, col in np.argwhere(depth_m > 0):
        own = focal_baseline / float(depth_m[row, col])
        others = [
            c - focal_baseline / float(depth_m[row, c]) * pixels_per_match
            for c in range(col + 1, depth_m.shape[1])
            if depth_m[row, c] > 0
        ]
        blocked = any(col - own * pixels_per_match > other + bridged_px * pixels_per_match for other in others)
        out[row, col] = 0 if blocked else own
    return out


def windows(disparity, needed_share, radius, same_surface_px):
    """Mean disparity of each window's surface, 0 where it fills too little of the window."""
    out = np.zeros(disparity.shape)
    for row, col in np.argwhere(disparity > 0):
        window = disparity[max(row - radius, 0) : row + radius + 1, max(col - radius, 0) : col + radius + 1]
        alike = window[np.abs(window - disparity[row, col]) < same_surface_px].astype(float)
        if len(alike) >= needed_share[row, col] * (2 * radius + 1) ** 2:
            out[row, col] = alike.mean()
    return out
