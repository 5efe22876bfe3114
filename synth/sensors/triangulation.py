"""Disparity measurement, common to all triangulating cameras. The second viewpoint is a projector or a camera.

Surfaces that only one viewpoint sees have no reading. Disparity is measured for a window: small steps are smoothed over
its width, and objects thinner than half of it vanish.
"""

from __future__ import annotations

import cv2
import numpy as np

from posepipe.compilation import njit

SAME_SURFACE_PX = 1.0  #: disparities that differ by less are matched as one surface and averaged
BRIDGED_PX = 2.0  #: maximum width of a shadow that is filled from the rest of its window
FLAT_PX = 0.5  #: where neighbours differ by less, a window's mean is taken to be its centre
_BLOCK = 32
"""Number of neighbouring windows that are computed together; the fastest for the compiler."""
_NO_SURFACE = np.float32(-9)
"""Lower than every disparity, and than 0 for none, by more than SAME_SURFACE_PX."""


@njit(cache=True)
def disparity_seen_twice(depth_m, focal_baseline, pixels_per_match, out):
    """Fill ``out`` with disparity, and 0 where there is no depth or the second viewpoint is occluded.

    The second viewpoint is to the right of the camera, so shadows fall to the left of the foreground. Along a row from
    right to left, columns of the second viewpoint decrease as well. Where they do not, something nearer occludes.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing
    focal_baseline : float, matching pixels x metres
    pixels_per_match : float, image pixels in a matching pixel
    out : float32 (H, W), matching pixels, written in place

    References
    ----------
    Naive twin: tests/reference/synth/sensors/triangulation.py
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
    rough : bool (H, W), where a window must be evaluated, see `rough_windows`
    needed_share : float32 (H, W), of a window's pixels, within SAME_SURFACE_PX of its centre
    radius : int, image pixels
    out : float32 (H, W), matching pixels, written in place

    References
    ----------
    Bohg et al., ICRA 2014 (valid dots in 9x9 windows). Naive twin: tests/reference/synth/sensors/triangulation.py
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
    """Disparity with a border that matches no surface, so that every block of windows is whole."""
    height, width = disparity.shape
    blocks = (width + _BLOCK - 1) // _BLOCK
    padded = np.full((height + 2 * radius, blocks * _BLOCK + 2 * radius), _NO_SURFACE, np.float32)
    for row in range(height):
        padded[radius + row, radius : radius + width] = disparity[row]
    return padded


@njit(cache=True, inline="always")
def _sum_windows(padded, row, first, radius, total, count):
    """Fill ``total`` and ``count`` with sum and number of the pixels of each window's surface.

    The windows of a block, around the pixels from (row, first) on, share their loops. The inner loop runs along a row
    without branches, so that the compiler vectorises it.
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
    """Return where a window may contain more than one surface: bool (H, W), for float32 (H, W) matching pixels."""
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
    jumps = cv2.morphologyEx(disparity, cv2.MORPH_GRADIENT, cross) > FLAT_PX
    side = 2 * radius + 1
    return cv2.dilate(jumps.view(np.uint8), np.ones((side, side), np.uint8)).view(bool)
