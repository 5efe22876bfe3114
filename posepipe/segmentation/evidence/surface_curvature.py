"""Curvature of a candidate's surface. People are round; most furniture is flat or thin."""

from __future__ import annotations

from itertools import product

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.segmentation.evidence.quantiles import quantiles
from posepipe.segmentation.evidence.second_differences import AXES, RADII_M, second_differences

QUANTILES = (0.1, 0.5, 0.9)
FLAT_M, FLAT_SHARE = 0.004, 0.1
"""A second difference below the first plus the second times the radius counts as flat, metres."""
MIN_PIXELS = 6
"""Fewer measured pixels tell nothing."""
UNKNOWN = -1.0
"""Value of a number that cannot be measured: a share of too few pixels, a length of bones that a pose lacks."""


def curvature_names() -> list[str]:
    """Name the numbers of `surface_curvature`, in their order."""
    of_each = ("measured", "mean", *map(str, QUANTILES), "flat")
    return [f"curvature {axis} {radius} m {each}" for radius, axis, each in product(RADII_M, AXES, of_each)]


def surface_curvature(depth_m: np.ndarray, mask: np.ndarray, pixels: np.ndarray, intrinsics: Intrinsics) -> list[float]:
    """Summarise the second differences of a candidate.

    A cylinder of radius R that faces the camera has about r^2 / R between neighbours at a distance r, a plane has 0.

    Parameters
    ----------
    depth_m, mask, intrinsics : as in `second_differences`
    pixels : int32 (N, 2), N > 0

    Returns
    -------
    list of float
        For each radius and axis: share of pixels with both neighbours; mean and quantiles, metres; share of flat
        pixels. Where too few could be measured, the last is UNKNOWN, and those before it but the first are 0.
    """
    differences = second_differences(depth_m, mask, pixels, intrinsics)
    measured = np.isfinite(differences)
    counts = np.count_nonzero(measured, axis=1)
    known = counts >= MIN_PIXELS
    numbers = np.zeros((len(counts), 3 + len(QUANTILES)))
    numbers[:, 0] = counts / differences.shape[1]
    numbers[:, -1] = UNKNOWN
    if known.any():
        own, counted = differences[known], counts[known]
        flat_m = np.array([FLAT_M + FLAT_SHARE * radius for radius, _ in product(RADII_M, AXES)], np.float32)[known]
        numbers[known, 1] = own.sum(axis=1, where=measured[known]) / counted
        numbers[known, 2:-1] = quantiles(own, QUANTILES, counted)
        numbers[known, -1] = np.count_nonzero(np.abs(own) < flat_m[:, None], axis=1) / counted
    return numbers.ravel().tolist()
