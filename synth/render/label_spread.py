"""Kernel: pixel labels follow depth readings that noise has moved."""

from __future__ import annotations

from posepipe.compilation import njit

NOTHING = -1
"""Triangle id of a pixel that shows nothing."""
SPREAD_PX = 2
"""Maximum distance, along rows and columns, over which a reading takes its id from a neighbour."""


@njit(cache=True)
def spread_ids(ids, depth_m):
    """Give readings that noise moved past the silhouette the id of a neighbour; clear pixels that lost theirs.

    Parameters
    ----------
    ids : int32 (H, W), of triangles, NOTHING elsewhere; changed in place
    depth_m : float32 (H, W), metres, 0 = no reading

    References
    ----------
    Naive twin: tests/reference/synth/render/label_spread.py
    """
    height, width = ids.shape
    before = ids.copy()
    for r in range(height):
        for c in range(width):
            if depth_m[r, c] == 0:
                ids[r, c] = NOTHING
            elif before[r, c] == NOTHING:
                for dr in range(-SPREAD_PX, SPREAD_PX + 1):
                    for dc in range(-SPREAD_PX, SPREAD_PX + 1):
                        rr, cc = r + dr, c + dc
                        if 0 <= rr < height and 0 <= cc < width and before[rr, cc] != NOTHING:
                            ids[r, c] = before[rr, cc]
