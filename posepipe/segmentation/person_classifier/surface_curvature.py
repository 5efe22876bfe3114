"""Curvature of a candidate's surface. People are round; most furniture is flat or thin."""

from __future__ import annotations

from itertools import product

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.segmentation.person_classifier.quantiles import quantiles
from posepipe.segmentation.person_classifier.second_differences import AXES, RADII_M, second_differences

QUANTILES = (0.1, 0.5, 0.9)
FLAT_M, FLAT_SHARE = 0.004, 0.1
"""A second difference below the first plus the second times the radius counts as flat, metres."""
MIN_PIXELS = 6
"""Fewer measured pixels tell nothing."""
UNKNOWN = -1.0
"""Share of flat pixels where too few were measured."""
MAX_PIXELS = 600
"""Pixels that are measured at most, evenly spaced in their order."""


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
    pixels : int32 (N, 2), N > 0; at most MAX_PIXELS of them are used

    Returns
    -------
    list of float
        For each radius and axis: share of pixels with both neighbours; mean and quantiles, metres; share of flat
        pixels. Where too few could be measured, the last is UNKNOWN, and those before it but the first are 0.
    """
    differences = second_differences(depth_m, mask, _spread(pixels), intrinsics)
    measured = np.isfinite(differences)
    counts = np.count_nonzero(measured, axis=1)
    known = counts >= MIN_PIXELS
    found = np.zeros((len(counts), len(QUANTILES)))
    found[known] = quantiles(differences[known], QUANTILES, counts[known])
    numbers: list[float] = []
    for k, (radius, _) in enumerate(product(RADII_M, AXES)):
        own = differences[k, measured[k]] if known[k] else np.zeros(1)
        flat = float((np.abs(own) < FLAT_M + FLAT_SHARE * radius).mean()) if known[k] else UNKNOWN
        numbers += [float(counts[k] / differences.shape[1]), float(own.mean()), *found[k].tolist(), flat]
    return numbers


def _spread(pixels: np.ndarray) -> np.ndarray:
    """At most MAX_PIXELS of the pixels; fractional steps, because whole ones may hit the same columns in every row."""
    if len(pixels) <= MAX_PIXELS:
        return pixels
    return pixels[np.linspace(0, len(pixels) - 1, MAX_PIXELS).astype(np.int64)]
