"""Naive twin of posepipe/tracking/association.py, with masks and means."""

from __future__ import annotations

import math

import numpy as np


def measure_bones(joints_m, bones):
    return [np.linalg.norm(joints_m[a] - joints_m[b]) for a, b in bones]


def align_pose(joints_m, confidence, offsets_m):
    seen, remembered = np.isfinite(joints_m[:, 0]), np.isfinite(offsets_m[:, 0])
    both = seen & remembered
    laid, misfit = joints_m.copy(), math.inf
    if both.any():
        weights = np.maximum(confidence[both], 1e-3)
        gaps = joints_m[both] - offsets_m[both]
        shift = np.average(gaps, axis=0, weights=weights)
        misfit = math.sqrt(np.average(((gaps - shift) ** 2).sum(axis=1), weights=weights))
        laid[~seen] = shift + offsets_m[~seen]
    known = np.isfinite(laid[:, 0])
    return laid, laid[known].mean(axis=0) if known.any() else np.full(3, np.nan), misfit


def log_size_ratio(lengths_m, sums_m, counts):
    both = (counts > 0) & np.isfinite(lengths_m)
    now, usual = lengths_m[both].sum(), (sums_m[both] / counts[both]).sum()
    return math.log(now / usual) if both.any() else 0.0
