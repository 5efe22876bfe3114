"""Kernel: classification of a person's pixels by a forest.

Three properties make it fast:

- An inner node is one record of one cache line at most (`packed_forest`).
- A block of 64 pixels descends a tree together, one level at a time, so that their cache misses overlap.
- Each level takes three passes: fetch the nodes, compute the probes, compare the probed depths. The second pass is
  vectorised.

A symmetric forest is walked twice, the second time as its mirror image, with mirrored offsets and with left and right
parts exchanged. That improves accuracy like more trees do, without their memory, and makes classification equivariant
to mirroring.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, njit, prange
from posepipe.learn.depth.packed_forest import LINKS, WHOLE, PackedForest

BLOCK = 64


@njit(cache=True, inline="always")
def _probed(pixel, offset_m, scale, last):
    """Row or column of a probe, clamped to the image: the arithmetic of `probe_index`, in float32 for vectorisation."""
    place = pixel + np.floor(offset_m * scale + np.float32(0.5))
    # maps NaN to 0 too: the scale is infinite where a depth rounds to 0
    place = place if place > np.float32(0) else np.float32(0)
    return np.int32(place if place < last else last)


@compiled_for("i2[:,::1], i4[:,::1], f4, f4, f4[:,::1], i4[:,::1], i4[::1], i4[:,::1]")
@njit(cache=True, parallel=True)
def _find_leaves(image, pixels, fx, fy, records, links, roots, leaves):
    height, width = image.shape
    flat = image.ravel()
    last_row, last_col = np.float32(height - 1), np.float32(width - 1)
    n_blocks = (len(pixels) + BLOCK - 1) // BLOCK
    for block in prange(n_blocks):  # a block owns its rows of leaves
        first = block * BLOCK
        count = min(BLOCK, len(pixels) - first)
        # pixels that still descend are kept compact, to vectorise the arithmetic below
        row, col = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
        row_scale, col_scale = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
        node, pixel_of = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
        offsets = np.empty((4, BLOCK), np.float32)
        u, v = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
        for t in range(leaves.shape[1]):
            side = np.float32(1 if t < len(roots) else -1)
            for i in range(count):
                r, c = pixels[first + i, 0] + 1, pixels[first + i, 1] + 1
                depth_m = np.float32(flat[r * width + c]) * np.float32(0.001)
                row[i], col[i], row_scale[i], col_scale[i] = r, c, fy / depth_m, side * (fx / depth_m)
                node[i], pixel_of[i] = roots[t % len(roots)], i
            n_active, any_leaf = count, np.int32(-1)  # negative if any link is: the sign bit is preserved
            while n_active > 0:
                if any_leaf < 0:  # write the leaves of the pixels that reached one, and compact the others
                    n_kept = 0
                    for w in range(n_active):
                        if node[w] < 0:
                            leaves[first + pixel_of[w], t] = -1 - node[w]
                            continue
                        node[n_kept], pixel_of[n_kept], row[n_kept], col[n_kept] = node[w], pixel_of[w], row[w], col[w]
                        row_scale[n_kept], col_scale[n_kept] = row_scale[w], col_scale[w]
                        n_kept += 1
                    n_active, any_leaf = n_kept, np.int32(0)
                for w in range(n_active):
                    n = np.uint32(node[w])  # an unsigned index needs no check for negative values
                    for k in range(4):
                        offsets[k, w] = records[n, k]
                for w in range(n_active):
                    u_row = _probed(row[w], offsets[0, w], row_scale[w], last_row)
                    u_col = _probed(col[w], offsets[1, w], col_scale[w], last_col)
                    v_row = _probed(row[w], offsets[2, w], row_scale[w], last_row)
                    v_col = _probed(col[w], offsets[3, w], col_scale[w], last_col)
                    u[w] = u_row * np.int32(width) + u_col
                    v[w] = v_row * np.int32(width) + v_col
                for w in range(n_active):
                    n = np.uint32(node[w])
                    response_mm = np.float32(np.int32(flat[np.uint32(u[w])]) - np.int32(flat[np.uint32(v[w])]))
                    node[w] = links[n, LINKS + 1] if response_mm > records[n, 4] else links[n, LINKS]
                    any_leaf |= node[w]


@compiled_for("i4[:,::1], i4[::1], u1[:,::1], i8[::1], f4, f4[:,::1]")
@njit(cache=True, parallel=True)
def _mean_posterior(leaves, first_leaf, leaf_shares, mirrored_classes, unit, out):
    n_classes = out.shape[1]
    n_trees = len(first_leaf)
    n_blocks = (len(leaves) + BLOCK - 1) // BLOCK
    for block in prange(n_blocks):  # a block owns its rows of out
        own, mirrored = np.empty(n_classes, np.float32), np.empty(n_classes, np.float32)
        rows = range(block * BLOCK, min(len(leaves), (block + 1) * BLOCK))
        for n in rows:  # read all leaves before the sums, so that cache misses overlap
            for t in range(leaves.shape[1]):
                out[n, t % n_classes] = leaf_shares[first_leaf[t % n_trees] + leaves[n, t], 0]
        for n in rows:
            for c in range(n_classes):
                own[c] = mirrored[c] = 0
            for t in range(n_trees):
                leaf = first_leaf[t] + leaves[n, t]
                for c in range(n_classes):
                    own[c] += np.float32(leaf_shares[leaf, c])
            for t in range(n_trees, leaves.shape[1]):
                leaf = first_leaf[t - n_trees] + leaves[n, t]
                for c in range(n_classes):
                    mirrored[c] += np.float32(leaf_shares[leaf, c])
            for c in range(len(mirrored_classes)):
                own[c] += mirrored[mirrored_classes[c]]
            for c in range(n_classes):
                out[n, c] = unit * own[c]


def find_leaves(image: np.ndarray, pixels: np.ndarray, fx: float, fy: float, forest: PackedForest) -> np.ndarray:
    """Find the leaf that each pixel reaches in each tree.

    Parameters
    ----------
    image : int16 (H + 2, W + 2), millimetres, from `bordered_depth`
    pixels : int32 (N, 2), row and column in the image without border; each has a reading
    fx, fy : float, focal lengths, pixels
    forest : PackedForest

    Returns
    -------
    int32 (N, W), row in the leaf table of each tree; in a symmetric forest, mirrored walks follow the others

    References
    ----------
    Naive twin: tests/reference/learn/classify.py
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
    """Average the posteriors of the leaves that pixels reached.

    Parameters
    ----------
    leaves : int32 (N, W), from `find_leaves`
    forest : PackedForest

    Returns
    -------
    float32 (N, C); rows sum to 1

    References
    ----------
    Shotton et al., CVPR 2011, eq. 2. Naive twin: tests/reference/learn/classify.py
    """
    shares = forest.leaf_shares
    out = np.empty((len(leaves), shares.shape[1]), np.float32)
    unit = np.float32(1 / (leaves.shape[1] * (WHOLE if shares.dtype == np.uint8 else 1)))
    _mean_posterior(leaves, forest.first_leaf, shares, forest.mirrored_classes, unit, out)
    return out


def classify(image: np.ndarray, pixels: np.ndarray, fx: float, fy: float, forest: PackedForest) -> np.ndarray:
    """Mean posterior of all walks at each pixel: float32 (N, C); parameters as for `find_leaves`."""
    return mean_posterior(find_leaves(image, pixels, fx, fy, forest), forest)
