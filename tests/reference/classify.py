"""Naive twin of posepipe/learn/classify.py: Shotton et al., CVPR 2011, eq. 2: one pixel down one tree, node by node."""

from __future__ import annotations

import numpy as np

from tests.reference.depth_features import response_mm

LEAF = -1


def leaf_of(tree, offsets, depth_m, mask, row, col, fx, fy):
    """Row of the leaf that a pixel reaches."""
    node = 0
    while tree.feature[node] != LEAF:
        pair = offsets[tree.feature[node]]
        response = response_mm(depth_m, mask, row, col, pair, fx, fy) / 1000
        node = tree.first_child[node] + (response > tree.threshold[node])
    return tree.first_child[node]


def classify(depth_m, mask, pixels, fx, fy, trees, offsets):
    """Mean posterior (N, C) of the leaves that each pixel reaches."""
    out = np.zeros((len(pixels), trees[0].leaf_statistics.shape[1]))
    for n, (row, col) in enumerate(pixels):
        for tree, table in zip(trees, offsets, strict=True):
            out[n] += tree.leaf_statistics[leaf_of(tree, table, depth_m, mask, row, col, fx, fy)]
    return out / len(trees)
