"""Naive twin of posepipe/proposals.py, and of the calibration in posepipe/assembly.py, point by point."""

from __future__ import annotations

import math

import numpy as np


def push_back(modes_m, push_back_m):
    """Each point moved away from the camera by so many metres."""
    out = np.zeros(np.shape(modes_m))
    for place in np.ndindex(np.shape(push_back_m)):
        point = [float(value) for value in modes_m[place]]
        length = math.sqrt(sum(value**2 for value in point))
        out[place] = [value * (1 + float(push_back_m[place]) / length) for value in point]
    return out


def calibrate(share, calibration):
    """1 / (1 + exp(-(offset + slope log-odds))) of every joint's share (N, J), with (J, 2)."""
    out = np.zeros(np.shape(share))
    for row, joint in np.ndindex(np.shape(share)):
        p, (offset, slope) = float(share[row, joint]), (float(value) for value in calibration[joint])
        out[row, joint] = 1 / (1 + math.exp(-(offset + slope * math.log(p / (1 - p)))))
    return out


def calibrated(masses_m2, confidence):
    """1 / (1 + exp(-(offset + slope ln mass))) of every mode."""
    out = np.zeros(np.shape(masses_m2))
    for landmark, mode in np.ndindex(np.shape(masses_m2)):
        offset, slope = (float(value) for value in confidence[landmark])
        out[landmark, mode] = 1 / (1 + math.exp(-(offset + slope * math.log(float(masses_m2[landmark, mode])))))
    return out
