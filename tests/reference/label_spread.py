"""Naive twin of synth/label_spread.py: a reading without a label takes that of the last neighbour in reading order."""

import numpy as np


def spread_labels(parts, depth_m):
    out = np.where(depth_m > 0, parts, 0)
    for row, col in np.argwhere((depth_m > 0) & (parts == 0)):
        near = parts[max(row - 2, 0) : row + 3, max(col - 2, 0) : col + 3]
        if near.any():
            out[row, col] = near[near > 0][-1]
    return out
