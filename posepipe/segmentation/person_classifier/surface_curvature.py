"""Curvature of a candidate's surface: people are round, most furniture is flat or thin."""

from __future__ import annotations

from itertools import product

import numpy as np

from posepipe.camera import Intrinsics

RADII_M = (0.04, 0.1)
"""Distances, metres, of the two neighbours between which a surface is measured: across an arm, and across a trunk."""
QUANTILES = (0.1, 0.5, 0.9)
STEEPEST = 2.5
"""Maximum slope from a pixel to a neighbour; beyond it the neighbour lies on another surface."""
FLAT_M, FLAT_SHARE = 0.004, 0.1
"""A second difference up to the first plus the second times the radius counts as flat, metres."""
MIN_PIXELS = 6
"""Fewer measured pixels tell nothing."""
MAX_PIXELS = 600
"""Pixels that are measured at most, evenly spaced in their order."""
AXES = ("across", "along")
"""Neighbours in one row, and in one column."""


def curvature_names() -> list[str]:
    """Name the numbers of `surface_curvature`, in their order."""
    of_each = ("measured", "mean", *map(str, QUANTILES), "flat")
    return [f"curvature {axis} {radius} m {each}" for radius, axis, each in product(RADII_M, AXES, of_each)]


def surface_curvature(depth_m: np.ndarray, mask: np.ndarray, pixels: np.ndarray, intrinsics: Intrinsics) -> list[float]:
    """Measure the second difference of depth over metric distances.

    A cylinder of radius R that faces the camera has about r^2 / R between neighbours at a distance r, a plane has 0.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    mask : bool (H, W), the candidate; neighbours outside it are not used
    pixels : int32 (N, 2), rows and columns in the mask, N > 0
    intrinsics : Intrinsics

    Returns
    -------
    list of float
        For each radius and axis: share of pixels with both neighbours; mean and quantiles of the second difference,
        metres; share of flat pixels, -1 where too few could be measured.
    """
    rows, cols = _spread(pixels).T
    surface_m = np.where(mask, depth_m, np.float32(0))
    z = surface_m[rows, cols]
    numbers = []
    for radius, axis in product(RADII_M, AXES):
        focal = intrinsics.fx if axis == "across" else intrinsics.fy
        step = np.maximum(1, np.rint(radius * focal / z)).astype(np.int64)
        down, right = (0, step) if axis == "across" else (step, 0)
        before, after = _read(surface_m, rows - down, cols - right), _read(surface_m, rows + down, cols + right)
        near = STEEPEST * radius
        both = (before > 0) & (after > 0) & (np.abs(before - z) < near) & (np.abs(after - z) < near)
        numbers += _summary((before + after - 2 * z)[both], len(z), FLAT_M + FLAT_SHARE * radius)
    return numbers


def _spread(pixels: np.ndarray) -> np.ndarray:
    """At most MAX_PIXELS of the pixels; fractional steps, because whole ones may hit the same columns in every row."""
    if len(pixels) <= MAX_PIXELS:
        return pixels
    return pixels[np.linspace(0, len(pixels) - 1, MAX_PIXELS).astype(np.int64)]


def _read(depth_m: np.ndarray, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Depth at pixels, 0 outside the image."""
    inside = (rows >= 0) & (rows < depth_m.shape[0]) & (cols >= 0) & (cols < depth_m.shape[1])
    found = np.zeros(len(rows), depth_m.dtype)
    found[inside] = depth_m[rows[inside], cols[inside]]
    return found


def _summary(differences: np.ndarray, count: int, flat: float) -> list[float]:
    share = len(differences) / count
    if len(differences) < MIN_PIXELS:
        return [share, 0.0, *(0.0 for _ in QUANTILES), -1.0]
    quantiles = np.quantile(differences, QUANTILES)
    return [share, float(differences.mean()), *quantiles, float((np.abs(differences) < flat).mean())]
