"""Shading of depth images: near surfaces, and surfaces that face the light, are bright."""

from __future__ import annotations

import cv2
import numpy as np

from posepipe.camera import Intrinsics

TO_LIGHT = np.array([-0.36, -0.48, -0.8], np.float32)
"""Direction to the light, unit length, camera axes: it is behind the camera, above and to the left."""
AMBIENT = 0.3
"""Fraction of the light that has no direction."""
FAR_DIMMING = 0.35
"""How much darker the farthest surface of an image is than the nearest, as a fraction."""
MIN_SPAN_M = 0.5
"""Minimum depth range over which brightness falls off, metres, so that noise on a flat wall stays invisible."""
MAX_STEP_M = 0.1
"""Maximum depth step between neighbours on one surface, metres; larger steps are edges."""
SMOOTHED_PX, SMOOTHED_M = 5, 0.06
"""Bilateral filter against sensor noise: diameter in pixels, and depth differences that are smoothed, metres."""


def shade_depth(depth_m: np.ndarray, intrinsics: Intrinsics) -> np.ndarray:
    """Compute the brightness of every pixel.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = no reading
    intrinsics : Intrinsics of the image

    Returns
    -------
    float32 (H, W), 0 to 1; 0 = no reading
    """
    seen = depth_m > 0
    if not seen.any():
        return np.zeros(depth_m.shape, np.float32)
    near_m, far_m = np.percentile(depth_m[seen], [1, 99])
    dimming = FAR_DIMMING * np.clip((depth_m - near_m) / max(far_m - near_m, MIN_SPAN_M), 0, 1)
    smooth_m = cv2.bilateralFilter(depth_m, SMOOTHED_PX, SMOOTHED_M, SMOOTHED_PX / 2)
    facing = np.clip(surface_normals(np.where(seen, smooth_m, 0), intrinsics) @ TO_LIGHT, 0, 1)
    return np.where(seen, (1 - dimming) * (AMBIENT + (1 - AMBIENT) * facing), 0).astype(np.float32)


def surface_normals(depth_m: np.ndarray, intrinsics: Intrinsics) -> np.ndarray:
    """Compute surface normals, towards the camera.

    With points p = z ((u - cx) / fx, (v - cy) / fy, 1) the cross product of dp/du and dp/dv is along
    (fx z_u, fy z_v, -(z + (u - cx) z_u + (v - cy) z_v)).

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = no reading
    intrinsics : Intrinsics of the image

    Returns
    -------
    float32 (H, W, 3), unit length, camera axes; (0, 0, -1) where there is no reading
    """
    rows, cols = np.indices(depth_m.shape, np.float32)
    by_row, by_col = _slope(depth_m, 0), _slope(depth_m, 1)
    z = np.where(depth_m > 0, depth_m, 1) + (cols - intrinsics.cx) * by_col + (rows - intrinsics.cy) * by_row
    normals = np.stack([intrinsics.fx * by_col, intrinsics.fy * by_row, -z], axis=-1)
    return (normals / np.linalg.norm(normals, axis=-1, keepdims=True)).astype(np.float32)


def _slope(depth_m: np.ndarray, axis: int) -> np.ndarray:
    """Slope along an axis, float32 (H, W), metres per pixel: mean of the steps on both sides that are no edges."""
    depth_m = np.moveaxis(depth_m, axis, 0)
    steps = np.diff(depth_m, axis=0)
    smooth = (depth_m[1:] > 0) & (depth_m[:-1] > 0) & (np.abs(steps) < MAX_STEP_M)
    total, count = np.zeros(depth_m.shape, np.float32), np.zeros(depth_m.shape, np.float32)
    for side in (slice(1, None), slice(None, -1)):
        total[side] += np.where(smooth, steps, 0)
        count[side] += smooth
    return np.moveaxis(total / np.maximum(count, 1), 0, axis)
