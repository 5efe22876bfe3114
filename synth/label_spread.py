"""Kernel: labels follow the readings that noise has moved."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def spread_labels(parts, depth_m):
    """Give readings that noise moved past the silhouette the label of a neighbour; unlabel what lost its reading.

    Parameters
    ----------
    parts : uint8 (H, W), changed in place
    depth_m : float32 (H, W), 0 = no reading
    """
    height, width = parts.shape
    before = parts.copy()
    for r in range(height):
        for c in range(width):
            if depth_m[r, c] == 0:
                parts[r, c] = 0
            elif before[r, c] == 0:
                for dr in range(-2, 3):
                    for dc in range(-2, 3):
                        rr, cc = r + dr, c + dc
                        if 0 <= rr < height and 0 <= cc < width and before[rr, cc] != 0:
                            parts[r, c] = before[rr, cc]
