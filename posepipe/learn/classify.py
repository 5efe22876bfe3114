"""Kernel: a forest on a frame's person pixels.

Two things make it fast. A node is one record of 32 bytes, half a cache line, with its offsets in it.
And a block of 64 pixels goes down a tree side by side, one level at a time, so that the cache misses
of 64 walks overlap instead of waiting for each other.

A symmetric forest is walked twice, the second time as its own mirror image: offsets to the other side, and left parts
for right ones. That is as good as more trees, needs no room, and makes a mirrored frame give the mirrored answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from posepipe.learn.depth_features import probe_index
from posepipe.learn.tree import LEAF, Tree

BLOCK = 64
_CHILD = 5  #: column of the record that holds an int32: first child, or -1 - leaf row at a leaf


@dataclass(frozen=True, slots=True, eq=False)
class PackedForest:
    """Trees laid out for the kernel."""

    records: np.ndarray  #: float32 (N, 8): u row, u col, v row, v col, threshold mm, child (int32 bits), 0, 0
    roots: np.ndarray  #: int32 (T,)
    first_leaf: np.ndarray  #: int32 (T,), row of `leaf_probabilities` where a tree's own leaves begin
    leaf_probabilities: np.ndarray  #: float32 (L, C), of all trees
    mirrored_classes: np.ndarray  #: int64 (C,), the class of each class's mirror image; empty = one walk a tree

    @property
    def walks(self) -> int:
        """Leaves that a pixel reaches: one a tree, and in a symmetric forest as many again, of the mirrored trees."""
        return len(self.roots) * (2 if len(self.mirrored_classes) else 1)


def pack_forest(
    trees: Sequence[Tree], offsets: Sequence[np.ndarray], mirrored_classes: np.ndarray | None = None
) -> PackedForest:
    """Lay trees and their feature tables (float32 (F, 2, 2) each) end to end; a symmetric forest knows its mirror."""
    records, roots, first_leaf = [], [], []
    n_nodes = n_leaves = 0
    for tree, table in zip(trees, offsets, strict=True):
        inner = tree.feature != LEAF
        record = np.zeros((tree.n_nodes, 8), np.float32)
        record[inner, :4] = table[tree.feature[inner]].reshape(-1, 4)
        record[:, 4] = np.float32(1000) * tree.threshold
        child = np.where(inner, tree.first_child + n_nodes, -1 - tree.first_child)
        record.view(np.int32)[:, _CHILD] = child
        records.append(record)
        roots.append(n_nodes)
        first_leaf.append(n_leaves)
        n_nodes += tree.n_nodes
        n_leaves += tree.n_leaves
    return PackedForest(
        records=np.concatenate(records),
        roots=np.array(roots, np.int32),
        first_leaf=np.array(first_leaf, np.int32),
        leaf_probabilities=np.ascontiguousarray(np.concatenate([t.leaf_statistics for t in trees])),
        mirrored_classes=np.array([] if mirrored_classes is None else mirrored_classes, np.int64),
    )


@njit(cache=True, parallel=True)
def _find_leaves(image, pixels, fx, fy, records, children, roots, leaves):
    height, width = image.shape
    flat = image.ravel()
    n_blocks = (len(pixels) + BLOCK - 1) // BLOCK
    for block in prange(n_blocks):  # a block owns its rows of leaves
        first = block * BLOCK
        count = min(BLOCK, len(pixels) - first)
        row = np.empty(BLOCK, np.int32)
        col = np.empty(BLOCK, np.int32)
        row_scale = np.empty(BLOCK, np.float32)
        col_scale = np.empty(BLOCK, np.float32)
        node = np.empty(BLOCK, np.int32)
        walking = np.empty(BLOCK, np.int32)
        for i in range(count):
            row[i], col[i] = pixels[first + i, 0] + 1, pixels[first + i, 1] + 1
            depth_m = np.float32(flat[row[i] * width + col[i]]) * np.float32(0.001)
            row_scale[i], col_scale[i] = fy / depth_m, fx / depth_m
        for t in range(leaves.shape[1]):
            side = np.float32(1 if t < len(roots) else -1)
            for i in range(count):
                node[i], walking[i] = roots[t % len(roots)], i
            left = count
            while left > 0:
                still = 0
                for w in range(left):
                    i = walking[w]
                    n = node[i]
                    child = children[n, _CHILD]
                    if child < 0:  # a leaf: the pixel is at its end
                        node[i] = -1 - child
                        continue
                    across = side * col_scale[i]
                    u = probe_index(row[i], col[i], records[n, 0], records[n, 1], row_scale[i], across, height, width)
                    v = probe_index(row[i], col[i], records[n, 2], records[n, 3], row_scale[i], across, height, width)
                    response_mm = np.float32(np.int32(flat[u]) - np.int32(flat[v]))
                    node[i] = child + np.int32(response_mm > records[n, 4])
                    walking[still] = i
                    still += 1
                left = still
            for i in range(count):
                leaves[first + i, t] = node[i]


@njit(cache=True, parallel=True)
def _mean_posterior(leaves, first_leaf, leaf_probabilities, mirrored_classes, out):
    share = np.float32(1) / np.float32(leaves.shape[1])
    n_trees = len(first_leaf)
    for n in prange(len(leaves)):  # a pixel owns its row of out
        for t in range(n_trees):
            leaf = first_leaf[t] + leaves[n, t]
            for c in range(out.shape[1]):
                out[n, c] += share * leaf_probabilities[leaf, c]
        for t in range(n_trees, leaves.shape[1]):
            leaf = first_leaf[t - n_trees] + leaves[n, t]
            for c in range(out.shape[1]):
                out[n, c] += share * leaf_probabilities[leaf, mirrored_classes[c]]


def find_leaves(image: np.ndarray, pixels: np.ndarray, fx: float, fy: float, forest: PackedForest) -> np.ndarray:
    """The leaf that every pixel reaches in every tree.

    Parameters
    ----------
    image : int16 (H + 2, W + 2), millimetres, from `bordered_depth`
    pixels : int32 (N, 2), row and column in the image without border; each has a reading
    fx, fy : focal lengths, pixels
    forest : PackedForest

    Returns
    -------
    int32 (N, W), row of each tree's own leaf table; of a symmetric forest the mirrored walks come after the others

    References
    ----------
    Naive twin: tests/reference/classify.py
    """
    leaves = np.empty((len(pixels), forest.walks), np.int32)
    if len(pixels):
        _find_leaves(
            image,
            pixels,
            np.float32(fx),
            np.float32(fy),
            forest.records,
            forest.records.view(np.int32),
            forest.roots,
            leaves,
        )
    return leaves


def mean_posterior(leaves: np.ndarray, forest: PackedForest) -> np.ndarray:
    """Mean posterior of the leaves that pixels reached.

    Parameters
    ----------
    leaves : int32 (N, W), from `find_leaves`
    forest : PackedForest

    Returns
    -------
    float32 (N, C); rows sum to 1

    References
    ----------
    Shotton et al., CVPR 2011, eq. 2. Naive twin: tests/reference/classify.py
    """
    out = np.zeros((len(leaves), forest.leaf_probabilities.shape[1]), np.float32)
    _mean_posterior(leaves, forest.first_leaf, forest.leaf_probabilities, forest.mirrored_classes, out)
    return out


def classify(image: np.ndarray, pixels: np.ndarray, fx: float, fy: float, forest: PackedForest) -> np.ndarray:
    """Mean posterior of all walks at every pixel: float32 (N, C); arguments as for `find_leaves`."""
    return mean_posterior(find_leaves(image, pixels, fx, fy, forest), forest)
