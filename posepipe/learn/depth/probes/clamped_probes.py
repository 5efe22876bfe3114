"""Kernel: leaves of pixels in a forest whose probes are truncated and clamped to the image.

A probe is pixel + trunc(offset * 1000 / depth_mm * focal / reference), each step in 64 bits and in this order, so that
every implementation of these rules reads the same pixel. That is slower than the kernel of `classify`, which rounds in
32 bits.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit, prange

BACKGROUND_MM = np.int32(32_767)
"""Depth of pixels without reading and of those beside the person."""


@njit(cache=True, inline="always")
def _probed(pixel, offset, depth_mm, focal, reference, last):
    """Row or column of a probe, that of the nearest border pixel if it lies outside the image."""
    place = pixel + np.trunc(np.float64(offset) * 1000.0 / depth_mm * focal / reference)
    return np.int64(min(max(place, 0.0), last))


@njit(cache=True, parallel=True)
def _find_leaves(image, pixels, fx, fy, reference, records, links, roots, leaves):
    last_row, last_col = np.float64(image.shape[0] - 1), np.float64(image.shape[1] - 1)
    for n in prange(len(pixels)):  # a pixel owns its row of leaves
        row, col = np.float64(pixels[n, 0]), np.float64(pixels[n, 1])
        depth_mm = max(np.float64(image[pixels[n, 0], pixels[n, 1]]), 1.0)
        for t in range(len(roots)):
            node = roots[t]
            while node >= 0:
                u_row = _probed(row, records[node, 0], depth_mm, fy, reference, last_row)
                u_col = _probed(col, records[node, 1], depth_mm, fx, reference, last_col)
                v_row = _probed(row, records[node, 2], depth_mm, fy, reference, last_row)
                v_col = _probed(col, records[node, 3], depth_mm, fx, reference, last_col)
                response_mm = image[u_row, u_col] - image[v_row, v_col]
                node = links[node, 1] if response_mm > records[node, 4] else links[node, 0]
            leaves[n, t] = -1 - node


def clamped_image(depth_m: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Make the image that probes read: int32 (H, W), millimetres; depth and mask as in `find_clamped_leaves`."""
    shown = mask & (depth_m > 0) & (depth_m < BACKGROUND_MM / 1000)
    image = np.full(depth_m.shape, BACKGROUND_MM, np.int32)
    image[shown] = (depth_m[shown] * np.float32(1000) + np.float32(0.5)).astype(np.int32)
    return image


def find_clamped_leaves(
    depth_m: np.ndarray,
    mask: np.ndarray,
    pixels: np.ndarray,
    focal: tuple[float, float],
    reference: float,
    records: np.ndarray,
    links: np.ndarray,
    roots: np.ndarray,
) -> np.ndarray:
    """Find the leaf that each pixel reaches in each tree.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = no reading
    mask : bool (H, W), the person; all other pixels are background
    pixels : int32 (N, 2), row and column, inside the mask and with a reading
    focal : fx and fy, pixels
    reference : float, focal length for which offsets are pixels at 1 m
    records : float32 (R, 8), of the inner nodes: offsets u row, u col, v row, v col, threshold in mm, and more
    links : int32 (R, 2), children of each: a record, or -1 - row of a leaf
    roots : int32 (T,), record of each root, or -1 - row of a leaf

    Returns
    -------
    int32 (N, T), row in the leaf table of each tree

    References
    ----------
    Buys et al., An adaptable system for RGB-D based human body detection and pose estimation, JVCIR 2014.
    Naive twin: tests/reference/learn/clamped_probes.py
    """
    image = clamped_image(depth_m, mask)
    leaves = np.empty((len(pixels), len(roots)), np.int32)
    _find_leaves(image, pixels, float(focal[0]), float(focal[1]), reference, records, links, roots, leaves)
    return leaves
