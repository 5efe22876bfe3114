"""Kernel: what a pixel shows follows the readings that noise has moved."""

from __future__ import annotations

from numba import njit

NOTHING = -1
"""Id of a pixel that shows nothing."""


@njit(cache=True)
def spread_ids(ids, depth_m):
    """Give readings that noise moved past the silhouette the id of a neighbour; clear what lost its reading.

    Parameters
    ----------
    ids : int32 (H, W), of triangles, NOTHING elsewhere; changed in place
    depth_m : float32 (H, W), 0 = no reading
    """
    height, width = ids.shape
    before = ids.copy()
    for r in range(height):
        for c in range(width):
            if depth_m[r, c] == 0:
                ids[r, c] = NOTHING
            elif before[r, c] == NOTHING:
                for dr in range(-2, 3):
                    for dc in range(-2, 3):
                        rr, cc = r + dr, c + dc
                        if 0 <= rr < height and 0 <= cc < width and before[rr, cc] != NOTHING:
                            ids[r, c] = before[rr, cc]
