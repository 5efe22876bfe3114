"""Naive twin of posepipe/learn/depth/splitting/depth_features.py.

Shotton et al., CVPR 2011, eq. 1, one probe at a time, in float64.
"""

from __future__ import annotations

import math

import numpy as np

BACKGROUND_M = 10.0


def bordered(depth_m, mask):
    """What probes read: whole millimetres, background outside the mask, without a reading and all round."""
    height, width = np.shape(depth_m)
    image = np.full((height + 2, width + 2), round(BACKGROUND_M * 1000), np.int16)
    for row in range(height):
        for col in range(width):
            if mask[row, col] and depth_m[row, col] > 0:
                image[row + 1, col + 1] = round(float(depth_m[row, col]) * 1000)
    return image


def probe_mm(depth_m, mask, row, col):
    """Depth that a probe reads at a pixel: background outside the image, outside the mask and without a reading."""
    height, width = np.shape(depth_m)
    inside = 0 <= row < height and 0 <= col < width
    if not inside or not mask[row, col] or depth_m[row, col] == 0:
        return round(BACKGROUND_M * 1000)
    return round(float(depth_m[row, col]) * 1000)


def probed_pixel(row, col, offset_m, depth_m, fx, fy):
    """Pixel at an offset in metres (row, column) from a pixel of that depth, rounded half up."""
    return (
        math.floor(row + fy * float(offset_m[0]) / depth_m + 0.5),
        math.floor(col + fx * float(offset_m[1]) / depth_m + 0.5),
    )


def response_mm(depth_m, mask, row, col, pair, fx, fy):
    """d(x + f u / d(x)) - d(x + f v / d(x)) of one pixel, in whole millimetres."""
    own_m = probe_mm(depth_m, mask, row, col) / 1000  # depth is held in whole millimetres
    first, second = (probe_mm(depth_m, mask, *probed_pixel(row, col, offset, own_m, fx, fy)) for offset in pair)
    return first - second


def depth_differences(depth_m, mask, pixels, offsets, fx, fy):
    """Responses (N, F), metres."""
    out = np.zeros((len(pixels), len(offsets)))
    for n, (row, col) in enumerate(pixels):
        for f, pair in enumerate(offsets):
            out[n, f] = response_mm(depth_m, mask, row, col, pair, fx, fy) / 1000
    return out
