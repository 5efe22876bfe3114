"""Naive twin of synth/render/label_spread.py.

A reading that shows nothing takes its last neighbour, in reading order.
"""

import numpy as np


def spread_ids(ids, depth_m):
    out = np.where(depth_m > 0, ids, -1)
    for row, col in np.argwhere((depth_m > 0) & (ids == -1)):
        near = ids[max(row - 2, 0) : row + 3, max(col - 2, 0) : col + 3]
        if (near != -1).any():
            out[row, col] = near[near != -1][-1]
    return out
