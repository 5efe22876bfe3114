"""Kernel: the response of depth-difference features, f(x) = d(x + u f/d(x)) - d(x + v f/d(x)).

Depth is stored as int16 millimetres with a border of background, one pixel wide. A probe outside the image is clamped
to that border. A response is a whole number of millimetres, the same in training and in use. Offsets are metres at the
depth of the pixel, so one forest serves every focal length and resolution.
"""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.compilation import compiled_for, njit, prange

BACKGROUND_M = 10.0
"""Depth of a probe outside the image, outside the person or without a reading."""
BACKGROUND_MM = np.int16(10_000)


@njit(cache=True, inline="always")
def probe_index(row, col, row_offset_m, col_offset_m, row_scale, col_scale, height, width):
    """Flat index of the probed pixel in a bordered image; rows and columns include the border.

    The offset in pixels is rounded half up; ``scale`` is focal length / depth, pixels per metre. The casts keep the
    arithmetic in 32 bits, which is three times as fast as the 64 bits that Numba would choose.
    """
    r = row + np.int32(np.floor(row_offset_m * row_scale + np.float32(0.5)))
    c = col + np.int32(np.floor(col_offset_m * col_scale + np.float32(0.5)))
    r = min(max(r, np.int32(0)), np.int32(height - 1))
    c = min(max(c, np.int32(0)), np.int32(width - 1))
    return np.uint32(r * np.int32(width) + c)


def bordered_depth(depth_m: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Make the bordered image that probes read.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = no reading
    mask : bool (H, W), the person; all other pixels are background

    Returns
    -------
    int16 (H + 2, W + 2), millimetres, BACKGROUND_MM in the border and outside the mask
    """
    height, width = depth_m.shape
    image = np.full((height + 2, width + 2), BACKGROUND_MM, np.int16)
    _fill_bordered(depth_m, mask, image)
    return image


@compiled_for("f4[:,::1], b1[:,::1], i2[:,::1]")
@njit(cache=True)
def _fill_bordered(depth_m, mask, image):
    for r in range(depth_m.shape[0]):
        depths, own, out = depth_m[r], mask[r], image[r + 1, 1 : depth_m.shape[1] + 1]
        for c in range(depth_m.shape[1]):  # free of branches, so that it vectorises
            shown = (own[c] != 0) & (depths[c] > 0) & (depths[c] < np.float32(BACKGROUND_M))
            depth = depths[c] if shown else np.float32(0)
            depth_mm = np.int16(np.int32(depth * np.float32(1000) + np.float32(0.5)))
            out[c] = depth_mm if shown else BACKGROUND_MM


@njit(cache=True, parallel=True)
def _depth_differences(image, pixels, offsets, fx, fy, out):
    height, width = image.shape
    flat = image.ravel()
    for n in prange(pixels.shape[0]):  # a pixel owns its row of out
        row = np.int32(pixels[n, 0] + 1)
        col = np.int32(pixels[n, 1] + 1)
        depth = np.float32(image[row, col]) * np.float32(0.001)
        row_scale = fy / depth
        col_scale = fx / depth
        for f in range(offsets.shape[0]):
            u = probe_index(row, col, offsets[f, 0, 0], offsets[f, 0, 1], row_scale, col_scale, height, width)
            v = probe_index(row, col, offsets[f, 1, 0], offsets[f, 1, 1], row_scale, col_scale, height, width)
            out[n, f] = np.float32(np.int32(flat[u]) - np.int32(flat[v])) * np.float32(0.001)


def depth_differences(
    depth_m: np.ndarray, mask: np.ndarray, pixels: np.ndarray, offsets: np.ndarray, intrinsics: Intrinsics
) -> np.ndarray:
    """Compute the response of every feature at every pixel.

    Parameters
    ----------
    depth_m : float32 (H, W), metres; 0 reads as BACKGROUND_M
    mask : bool (H, W); a probe outside it reads BACKGROUND_M
    pixels : int32 (N, 2), row and column, inside the mask and with depth > 0
    offsets : float32 (F, 2, 2), metres, axes (feature, u or v, row or column)
    intrinsics : Intrinsics

    Returns
    -------
    float32 (N, F), metres

    References
    ----------
    Shotton et al., CVPR 2011, eq. 1. Naive twin: tests/reference/learn/depth_features.py
    """
    out = np.empty((len(pixels), len(offsets)), np.float32)
    image = bordered_depth(depth_m, mask)
    _depth_differences(image, pixels, offsets, np.float32(intrinsics.fx), np.float32(intrinsics.fy), out)
    return out
