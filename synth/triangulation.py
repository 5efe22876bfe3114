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
    Naive twin: tests/reference/triangulation.py
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
    Bohg et al., ICRA 2014 (valid dots in 9x9 windows). Naive twin: tests/reference/triangulation.py
    """
    height, width = disparity.shape
    area = (2 * radius + 1) ** 2
    for row in range(height):
        for col in range(width):
            centre = disparity[row, col]
            out[row, col] = centre
            if centre == 0 or not rough[row, col]:
                continue
            total, count = 0.0, 0
            for r in range(max(row - radius, 0), min(row + radius, height - 1) + 1):
                for c in range(max(col - radius, 0), min(col + radius, width - 1) + 1):
                    if abs(disparity[r, c] - centre) < SAME_SURFACE_PX:
                        total += disparity[r, c]
                        count += 1
            out[row, col] = total / count if count >= needed_share[row, col] * area else 0.0


def rough_windows(disparity: np.ndarray, radius: int) -> np.ndarray:
    """Where a window may hold more than one surface: bool (H, W), for float32 (H, W) matching pixels."""
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
    jumps = cv2.morphologyEx(disparity, cv2.MORPH_GRADIENT, cross) > FLAT_PX
    side = 2 * radius + 1
    return cv2.dilate(jumps.view(np.uint8), np.ones((side, side), np.uint8)).view(bool)
