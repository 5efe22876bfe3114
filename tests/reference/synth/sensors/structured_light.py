"""Naive twin of synth/sensors/structured_light.py, pixel by pixel in float64.

Nguyen et al., 3DIMPVT 2012 (sigma); Khoshelham and Elberink, Sensors 2012 (depth from disparity).
"""

from __future__ import annotations

import math

import numpy as np


def nguyen_sigma_m(depth_m, angle):
    """Sigma of a Kinect's depth, metres, at an angle of incidence in rad."""
    return 0.0012 + 0.0019 * (depth_m - 0.4) ** 2 + 0.0001 / math.sqrt(depth_m) * (angle / (math.pi / 2 - angle)) ** 2


def look_up_shifted(disparity, shifts, sigma):
    """What lies a step of ``shifts`` x ``sigma`` away, rounded to the nearest pixel inside the image."""
    out = np.zeros(disparity.shape)
    for row, col in np.ndindex(disparity.shape):
        r = row + math.floor(float(shifts[0][row, col]) * sigma + 0.5)
        c = col + math.floor(float(shifts[1][row, col]) * sigma + 0.5)
        out[row, col] = disparity[np.clip(r, 0, disparity.shape[0] - 1), np.clip(c, 0, disparity.shape[1] - 1)]
    return out


def read_out(disparity, squared_tangents, jitter, strength, focal_baseline, steps_per_px, grazing_tangent):
    """Metres of the disparity with noise, in whole steps; the rounding error is part of the sigma."""
    out = np.zeros(disparity.shape)
    for row, col in np.argwhere((disparity > 0) & (squared_tangents <= grazing_tangent**2)):
        d = float(disparity[row, col])
        z = focal_baseline / d
        sigma_m = strength * nguyen_sigma_m(z, math.atan(math.sqrt(squared_tangents[row, col])))
        sigma_px = sigma_m * focal_baseline / z**2
        added_px = math.sqrt(max(sigma_px**2 - (1 / steps_per_px) ** 2 / 12, 0))
        steps = math.floor((d + float(jitter[row, col]) * added_px) * steps_per_px + 0.5)
        out[row, col] = focal_baseline * steps_per_px / steps if steps > 0 else 0
    return out
