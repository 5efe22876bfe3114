"""Naive twin of posepipe/learn/depth/classify.py.

Shotton et al., CVPR 2011, eq. 2: one pixel down one tree, node by node.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.reference.learn.depth_features import response_mm

LEAF = -1


def leaf_of(tree, offsets, depth_m, mask, row, col, fx, fy):
    """Row of the leaf that a pixel reaches."""
    node = 0
    while tree.feature[node] != LEAF:
        pair = offsets[tree.feature[node]]
        response = response_mm(depth_m, mask, row, col, pair, fx, fy) / 1000
        node = tree.first_child[node] + (response > tree.threshold[node])
    return tree.first_child[node]


def mirrored(tree, offsets, mirrored_classes):
    """The tree that knows what the other knows, of the world in a mirror: a tree and its offsets."""
    swapped = np.zeros_like(tree.leaf_statistics)
    for c, other in enumerate(mirrored_classes):
        swapped[:, other] = tree.leaf_statistics[:, c]
    return replace(tree, leaf_statistics=swapped), offsets * np.array([1, -1], offsets.dtype)


def classify(depth_m, mask, pixels, fx, fy, trees, offsets, mirrored_classes=()):
    """Mean posterior (N, C) of the leaves that each pixel reaches, in a symmetric forest of its mirror image too."""
    walks = list(zip(trees, offsets, strict=True))
    if len(mirrored_classes):
        walks += [mirrored(tree, table, mirrored_classes) for tree, table in walks]
    out = np.zeros((len(pixels), trees[0].leaf_statistics.shape[1]))
    for n, (row, col) in enumerate(pixels):
        for tree, table in walks:
            out[n] += tree.leaf_statistics[leaf_of(tree, table, depth_m, mask, row, col, fx, fy)]
    return out / len(walks)
