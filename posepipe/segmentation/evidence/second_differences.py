"""Kernel: second differences of a candidate's depth over metric distances."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.compilation import compiled_for, helper, njit

RADII_M = (0.04, 0.1)
"""Distances, metres, of the two neighbours between which a surface is measured: across an arm, and across a trunk."""
AXES = ("across", "along")
"""Neighbours in one row, and in one column."""
STEEPEST = 2.5
"""Maximum slope from a pixel to a neighbour; beyond it the neighbour lies on another surface."""


@helper(cache=True)
def _read(depth_m, mask, row, col):
    """Depth of the candidate at a pixel; 0 outside of it."""
    inside = 0 <= row < depth_m.shape[0] and 0 <= col < depth_m.shape[1]
    return depth_m[row, col] if inside and mask[row, col] else np.float32(0)


@compiled_for("f4[:,::1]", "b1[:,::1]", "i4[:,::1]", "f4[::1]", "f4[::1]", "f4[:,::1]")
@njit(cache=True)
def _second_differences(depth_m, mask, pixels, reach, near_m, out):
    for n in range(len(pixels)):
        row, col = int(pixels[n, 0]), int(pixels[n, 1])
        z = _read(depth_m, mask, row, col)
        for k in range(len(reach)):
            out[k, n] = np.inf
            if z > 0:
                step = max(1, int(np.rint(reach[k] / z)))
                down, right = (0, step) if k % 2 == 0 else (step, 0)
                before = _read(depth_m, mask, row - down, col - right)
                after = _read(depth_m, mask, row + down, col + right)
                if before > 0 and after > 0 and abs(before - z) < near_m[k] and abs(after - z) < near_m[k]:
                    out[k, n] = before + after - 2 * z


def second_differences(depth_m: np.ndarray, mask: np.ndarray, pixels: np.ndarray, intrinsics: Intrinsics) -> np.ndarray:
    """Second differences of depth between neighbours at each of RADII_M, along each of AXES.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    mask : bool (H, W), the candidate; pixels outside it are not read
    pixels : int32 (N, 2), rows and columns
    intrinsics : Intrinsics

    Returns
    -------
    float32 (radii x axes, N), metres; inf where a neighbour lies outside the candidate or on another surface

    References
    ----------
    Naive twin: tests/reference/segmentation/second_differences.py
    """
    out = np.empty((len(RADII_M) * len(AXES), len(pixels)), np.float32)
    focal = (intrinsics.fx, intrinsics.fy)
    reach = np.array([radius * each for radius in RADII_M for each in focal], np.float32)
    near_m = np.array([STEEPEST * radius for radius in RADII_M for _ in AXES], np.float32)
    _second_differences(depth_m, mask, pixels, reach, near_m, out)
    return out
