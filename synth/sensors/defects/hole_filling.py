"""Filled images: a driver, or whoever prepared a recording, has filled narrow holes and smoothed what remains.

The shadow beside a person then holds a ramp from the person to the wall, as no surface shows it, and silhouettes are
no longer sharp.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

WIDTH_SHARES = (0.01, 0.08)
"""Min and max width of the widest hole that is filled, image widths."""
WINDOWS_PX = (1, 3)
"""Sides of the windows over which readings are averaged; 1 = they are not."""


@dataclass(frozen=True, slots=True)
class Filling:
    """How an image is filled."""

    width_px: int  #: of the widest hole that is filled, along a row
    window_px: int  #: odd side of the window over which readings are averaged


def draw_filling(width: int, rng: np.random.Generator) -> Filling:
    """Draw how images of this width, pixels, are filled."""
    return Filling(max(1, round(width * rng.uniform(*WIDTH_SHARES))), int(rng.choice(WINDOWS_PX)))


def fill_holes(readings_m: np.ndarray, filling: Filling) -> tuple[np.ndarray, np.ndarray]:
    """Fill narrow holes by interpolation along the rows, and smooth.

    Parameters
    ----------
    readings_m : float32 (H, W), metres
        0 = no reading.
    filling : Filling

    Returns
    -------
    filled_m : float32 (H, W), metres
        Holes that are wider, or reach the border, stay.
    source : int64 (H, W)
        Flat index of the pixel whose surface is shown: of a filled one, that of the nearer side of its hole.
    """
    width = readings_m.shape[1]
    cols = np.arange(width)
    read = readings_m > 0
    before = np.maximum.accumulate(np.where(read, cols, -1), axis=1)
    after = np.minimum.accumulate(np.where(read, cols, width)[:, ::-1], axis=1)[:, ::-1]
    narrow = ~read & (before >= 0) & (after < width) & (after - before <= filling.width_px + 1)
    source = np.arange(readings_m.size).reshape(readings_m.shape)
    rows, at = np.nonzero(narrow)
    left, right = before[rows, at], after[rows, at]
    share = ((at - left) / (right - left)).astype(np.float32)
    filled_m = readings_m.copy()
    filled_m[rows, at] = (1 - share) * readings_m[rows, left] + share * readings_m[rows, right]
    source[rows, at] = rows * width + np.where(share <= 0.5, left, right)
    return _averaged(filled_m, filling.window_px), source


def _averaged(depth_m: np.ndarray, window_px: int) -> np.ndarray:
    """Mean of the readings in the window around each reading."""
    if window_px == 1:
        return depth_m
    sums, counts = (
        cv2.boxFilter(image, cv2.CV_32F, (window_px, window_px), normalize=False, borderType=cv2.BORDER_CONSTANT)
        for image in (depth_m, (depth_m > 0).astype(np.float32))
    )
    return np.where(depth_m > 0, sums / np.maximum(counts, 1), np.float32(0))
