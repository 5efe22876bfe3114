"""What all cameras share that measure depth as disparity, be the second eye a projector or a camera.

What one eye alone sees has no reading. Disparity is found for a window, so small jumps are smeared
over its width, and what is thinner than half of it vanishes.
"""

from __future__ import annotations

import cv2
import numpy as np
from numba import njit

SAME_SURFACE_PX = 1.0  #: disparities this near are matched as one surface, and so averaged
BRIDGED_PX = 2.0  #: a shadow so narrow is filled from the rest of its window
FLAT_PX = 0.5  #: where neighbours differ by less, a window's mean is its centre and need not be computed
_BLOCK = 32
"""Neighbouring windows that are worked out together; as many as the compiler is fastest with."""
_NO_SURFACE = np.float32(-9)
"""Further below every disparity, and below the 0 of none, than SAME_SURFACE_PX."""


@njit(cache=True)
def disparity_seen_twice(depth_m, focal_baseline, pixels_per_match, out):
    """Fill ``out`` with disparity, and 0 where there is no depth or the second eye's view is blocked.

    The second eye stands to the right of the camera, so shadows fall to the left of things. Walking a row
    from right to left, its own columns fall too; where they do not, something nearer was in the way.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing
    focal_baseline : float, matching pixels x metres
    pixels_per_match : float, image pixels in a matching pixel
    out : float32 (H, W), matching pixels, written in place

    References
    ----------
    Naive twin: tests/reference/synth/triangulation.py
    """
    height, width = depth_m.shape
    bridged = np.float32(BRIDGED_PX * pixels_per_match)
    for row in range(height):
        reached = np.float32(1e9)
        for col in range(width - 1, -1, -1):
            out[row, col] = 0
            if depth_m[row, col] > 0:
                disparity = np.float32(focal_baseline / depth_m[row, col])
                second_col = np.float32(col - disparity * pixels_per_match)
                if second_col <= reached + bridged:
                    out[row, col] = disparity
                reached = min(reached, second_col)


@njit(cache=True)
def match_windows(disparity, rough, needed_share, radius, out):
    """Fill ``out`` with the mean disparity of each window's surface, and 0 where too little of it is seen.

    Parameters
    ----------
    disparity : float32 (H, W), matching pixels, 0 = none
    rough : bool (H, W), where a window must be looked at, see `rough_windows`
    needed_share : float32 (H, W), of a window's pixels, within SAME_SURFACE_PX of its centre
    radius : int, image pixels
    out : float32 (H, W), matching pixels, written in place

    References
    ----------
    Bohg et al., ICRA 2014 (valid dots in 9x9 windows). Naive twin: tests/reference/synth/triangulation.py
    """
    height, width = disparity.shape
    needed_pixels = np.float32((2 * radius + 1) ** 2)
    padded = _padded(disparity, radius)
    total, count = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
    for row in range(height):
        for first in range(0, width, _BLOCK):
            n = min(_BLOCK, width - first)
            any_rough = False
            for k in range(n):
                any_rough |= rough[row, first + k] and disparity[row, first + k] > 0
            if any_rough:
                _sum_windows(padded, row, first, radius, total, count)
            for k in range(n):
                centre = disparity[row, first + k]
                out[row, first + k] = centre
                if centre > 0 and rough[row, first + k]:
                    enough = count[k] >= needed_share[row, first + k] * needed_pixels
                    out[row, first + k] = total[k] / count[k] if enough else np.float32(0)


@njit(cache=True)
def _padded(disparity, radius):
    """The same between borders that are like no surface, so that every block of windows is whole."""
    height, width = disparity.shape
    blocks = (width + _BLOCK - 1) // _BLOCK
    padded = np.full((height + 2 * radius, blocks * _BLOCK + 2 * radius), _NO_SURFACE, np.float32)
    for row in range(height):
        padded[radius + row, radius : radius + width] = disparity[row]
    return padded


@njit(cache=True, inline="always")
def _sum_windows(padded, row, first, radius, total, count):
    """Fill ``total`` and ``count`` with sum and number of the pixels of each window's surface.

    The windows of a block, those round the pixels from (row, first) on, share their loops: the inner one runs
    along a row without branches, so that the compiler takes eight windows at once.
    """
    total[:] = 0
    count[:] = 0
    centres = padded[row + radius, first + radius : first + radius + _BLOCK]
    for down in range(2 * radius + 1):
        for across in range(2 * radius + 1):
            line = padded[row + down, first + across : first + across + _BLOCK]
            for k in range(_BLOCK):
                same = abs(line[k] - centres[k]) < np.float32(SAME_SURFACE_PX)
                total[k] += line[k] if same else np.float32(0)
                count[k] += np.float32(1) if same else np.float32(0)


def rough_windows(disparity: np.ndarray, radius: int) -> np.ndarray:
    """Where a window may hold more than one surface: bool (H, W), for float32 (H, W) matching pixels."""
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
    jumps = cv2.morphologyEx(disparity, cv2.MORPH_GRADIENT, cross) > FLAT_PX
    side = 2 * radius + 1
    return cv2.dilate(jumps.view(np.uint8), np.ones((side, side), np.uint8)).view(bool)
