"""Kernel: depth-connected components, the surfaces that are connected in the image and in depth."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.compilation import compiled_for, njit

REACH_PX = 2
"""Maximum distance, pixels, between connected pixels: a single column without readings separates nothing."""


@njit(cache=True, inline="always")
def depth_jump_m(depth_m):
    """Maximum depth difference within a surface: 10 cm plus a noise term proportional to z^2; 19 cm at 3 m."""
    return np.float32(0.1) + np.float32(0.01) * depth_m * depth_m


@njit(cache=True)
def _root(parents, i):
    while parents[i] != i:
        parents[i] = parents[parents[i]]  # path halving, for later calls
        i = parents[i]
    return i


@njit(cache=True, inline="always")
def _joined(parents, a, b):
    """Join two components, and return the root: their first pixel in image order."""
    root = min(a, b)
    parents[max(a, b)] = root
    return root


@compiled_for("f4[:,::1], b1[:,::1], i8, i4[::1], i4[::1]")
@njit(cache=True)
def _find_components(depth_m, mask, reach, parents, out):
    height, width = depth_m.shape
    for row in range(height):
        for col in range(width):
            if not mask[row, col]:
                continue
            z = depth_m[row, col]
            jump = depth_jump_m(z)
            root = here = row * width + col
            for step in range(1, reach + 1):
                if col >= step and mask[row, col - step] and abs(depth_m[row, col - step] - z) < jump:
                    root = _joined(parents, root, _root(parents, here - step))
            for step in range(1, reach + 1):
                if row >= step and mask[row - step, col] and abs(depth_m[row - step, col] - z) < jump:
                    root = _joined(parents, root, _root(parents, here - step * width))
    count = 0
    for row in range(height):
        for col in range(width):
            if mask[row, col]:
                here = row * width + col
                root = parents[here] = parents[parents[here]]  # a pixel before this one, whose parent is its root
                if root == here:
                    count += 1
                    out[here] = count
                else:
                    out[here] = out[root]
    return count


def find_components(depth_m: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, int]:
    """Label the depth-connected components of a mask.

    Two pixels of one row or column are connected when they lie within REACH_PX and their depths differ by less
    than `depth_jump_m` of the later one.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    mask : bool (H, W), pixels with a reading

    Returns
    -------
    components : int32 (H, W), 1 to count in image order of their first pixels, 0 outside the mask
    count : int

    References
    ----------
    Union-find with path halving (Tarjan and van Leeuwen 1984).
    Naive twin: tests/reference/segmentation/connected_components.py
    """
    components, parents = np.zeros(depth_m.shape, np.int32), np.arange(depth_m.size, dtype=np.int32)
    return components, int(_find_components(depth_m, mask, REACH_PX, parents, components.ravel()))


@compiled_for("i4[:,::1], f4[:,::1], f8, f8, f8, f8, f8[::1], f8[:,::1], f8[:,::1]")
@njit(cache=True)
def _measure(components, depth_m, fx, fy, cx, cy, area, low, high):
    for row in range(components.shape[0]):
        for col in range(components.shape[1]):
            component, z = components[row, col], depth_m[row, col]
            if component:
                area[component] += z * z / (fx * fy)
                x, y = (col - cx) / fx * z, (row - cy) / fy * z
                low[component, 0], high[component, 0] = min(low[component, 0], x), max(high[component, 0], x)
                low[component, 1], high[component, 1] = min(low[component, 1], y), max(high[component, 1], y)
                low[component, 2], high[component, 2] = min(low[component, 2], z), max(high[component, 2], z)


def measure_components(
    components: np.ndarray, count: int, depth_m: np.ndarray, intrinsics: Intrinsics
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measure the surface and the bounding box of each component.

    Parameters
    ----------
    components : int32 (H, W), 0 = none
    count : int, of components
    depth_m : float32 (H, W), metres
    intrinsics : Intrinsics

    Returns
    -------
    area_m2 : float64 (count + 1,), surface seen face on, square metres; 0 for an absent component
    low_m, high_m : float64 (count + 1, 3), metres, corners of the box along the camera axes; infinity and -infinity
        for an absent component

    References
    ----------
    Naive twin: tests/reference/segmentation/connected_components.py
    """
    area = np.zeros(count + 1)
    low, high = np.full((count + 1, 3), np.inf), np.full((count + 1, 3), -np.inf)
    _measure(components, depth_m, intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy, area, low, high)
    return area, low, high


@compiled_for("i4[:,::1], f4[:,::1], i8, i8[::1], f4[::1]")
@njit(cache=True)
def _find_contacts(components, depth_m, reach, pairs, gaps):
    """Write the pair, smaller number in the upper 32 bits, and the gap of touching pixels; return their number."""
    height, width = components.shape
    count = 0
    for row in range(height):
        for col in range(width):
            a = components[row, col]
            if not a:
                continue
            for down, right in ((0, 1), (1, 0)):
                for step in range(1, reach + 1):
                    r, c = row + down * step, col + right * step
                    if r >= height or c >= width:
                        break
                    b = components[r, c]
                    if b:
                        if b != a:
                            pairs[count] = (np.int64(min(a, b)) << 32) | np.int64(max(a, b))
                            gaps[count] = abs(depth_m[r, c] - depth_m[row, col])
                            count += 1
                        break
    return count


def find_contacts(components: np.ndarray, depth_m: np.ndarray, reach_px: int) -> tuple[np.ndarray, np.ndarray]:
    """Minimum depth gap between components where they touch in the image.

    Two components touch where a pixel of one follows a pixel of the other along a row or column, within ``reach_px``,
    with no component between them. Memory and time grow with the pixels, not with the square of the components.

    Parameters
    ----------
    components : int32 (H, W), 0 = none
    depth_m : float32 (H, W), metres
    reach_px : int

    Returns
    -------
    pairs : int32 (N, 2), components that touch, the smaller number first, in ascending order
    gaps_m : float32 (N,), metres

    References
    ----------
    Naive twin: tests/reference/segmentation/connected_components.py
    """
    max_contacts = 2 * components.size  # of a pixel one to the right and one below; memory is used where written
    found, gaps = np.empty(max_contacts, np.int64), np.empty(max_contacts, np.float32)
    count = _find_contacts(components, depth_m, reach_px, found, gaps)
    order = np.argsort(found[:count], kind="stable")
    found = found[order]
    first = np.flatnonzero(np.diff(found, prepend=-1))  # where the next pair begins
    pairs = np.stack([found[first] >> 32, found[first] & 0xFFFFFFFF], axis=1).astype(np.int32)
    return pairs, np.minimum.reduceat(gaps[order], first)
