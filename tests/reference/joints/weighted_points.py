"""Naive twin of posepipe/joints/weighted_points.py.

Shotton et al., CVPR 2011, eq. 8, in square metres, pixel by pixel.
"""

from __future__ import annotations

import numpy as np


def weigh_points(depth_m, fx, fy, cx, cy, pixels, values, stands_for, landmark_classes):
    """Points (N, 3) and weights (N, L): probability of the landmark's classes times the pixel's surface."""
    points, weights = np.zeros((len(pixels), 3)), np.zeros((len(pixels), len(landmark_classes)))
    for n, (row, col) in enumerate(pixels):
        z = float(depth_m[row, col])
        points[n] = (col - cx) * z / fx, (row - cy) * z / fy, z
        for landmark, classes in enumerate(landmark_classes):
            probability = sum(float(p) for p, own in zip(values[n], classes, strict=True) if own)
            weights[n, landmark] = probability * z**2 * stands_for / (fx * fy)
    return points, weights
