"""Kernel: classification of a person's pixels by a forest.

Three properties make it fast:

- An inner node is one record of 32 bytes that holds its offsets and lies within one cache line. The larger child
  follows it. A leaf is a number in the record of its parent.
- A block of 64 pixels descends a tree together, one level at a time, so that their cache misses overlap.
- Each level takes three passes: fetch the nodes, compute the probes, compare the probed depths. The second pass is
  vectorised.

A symmetric forest is walked twice, the second time as its mirror image, with mirrored offsets and with left and right
parts exchanged. That improves accuracy like more trees do, without their memory, and makes classification equivariant
to mirroring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.compilation import njit, prange
from posepipe.learn.tree import Tree

BLOCK = 64
CACHE_LINE = 64  #: bytes
WHOLE = 255  #: byte of a leaf for a probability of 1
_LINKS = 5  #: first of two int32 columns of a record: record of a child, or -1 - row of a leaf


@dataclass(frozen=True, slots=True, eq=False)
class PackedForest:
    """Memory layout of the trees for the kernel."""

    #: float32 (N, 8), of the inner nodes: u row, u col, v row, v col, threshold mm, children (int32 bits), 0
    records: np.ndarray
    roots: np.ndarray  #: int32 (T,), record of each root, or -1 - row of a leaf
    first_leaf: np.ndarray  #: int32 (T,), first row of each tree in `leaf_shares`
    leaf_shares: np.ndarray  #: uint8 (L, C), of all trees, in units of 1 / 255; float32 where these are not exact
    mirrored_classes: np.ndarray  #: int64 (C,), mirrored class of each class; empty = not symmetric

    @property
    def walks(self) -> int:
        """Number of leaves that a pixel reaches: one for each tree, twice as many in a symmetric forest."""
        return len(self.roots) * (2 if len(self.mirrored_classes) else 1)


def pack_forest(
    trees: Sequence[Tree], offsets: Sequence[np.ndarray], mirrored_classes: np.ndarray | None = None
) -> PackedForest:
    """Pack trees for the kernel.

    Parameters
    ----------
    trees : Sequence[Tree]
    offsets : float32 (F, 2, 2), metres, the feature table of each tree
    mirrored_classes : int (C,), of a symmetric forest; None = not symmetric

    Returns
    -------
    PackedForest
    """
    records, roots, first_leaf = [], [], []
    n_records = n_leaves = 0
    for tree, table in zip(trees, offsets, strict=True):
        inner = ~tree.is_leaf
        place = _preorder(tree)
        links = np.where(inner, place + n_records, -1 - tree.first_child)
        record, own = np.zeros((np.count_nonzero(inner), 8), np.float32), place[inner]
        record[own, :4] = table[tree.feature[inner]].reshape(-1, 4)
        record[own, 4] = np.float32(1000) * tree.threshold[inner]
        for side in range(2):
            record.view(np.int32)[own, _LINKS + side] = links[tree.first_child[inner] + side]
        records.append(record)
        roots.append(links[0])
        first_leaf.append(n_leaves)
        n_records += len(record)
        n_leaves += tree.n_leaves
    return PackedForest(
        records=_aligned(np.concatenate(records)),
        roots=np.array(roots, np.int32),
        first_leaf=np.array(first_leaf, np.int32),
        leaf_shares=_aligned(_as_bytes(np.concatenate([t.leaf_statistics for t in trees]))),
        mirrored_classes=np.array([] if mirrored_classes is None else mirrored_classes, np.int64),
    )


def _preorder(tree: Tree) -> np.ndarray:
    """Positions of the inner nodes in depth-first order, larger child first: int64 (N,)."""
    inner, places = ~tree.is_leaf, np.zeros(tree.n_nodes, np.int64)
    sizes = tree.sum_up(inner[:, None].astype(np.float64))[:, 0].astype(np.int64)
    _place_children(inner, tree.first_child, sizes, places)
    return places


@njit(cache=True)
def _place_children(inner, first_child, sizes, places):
    for node in range(len(inner)):  # a parent comes before its children
        if inner[node]:
            first, second = first_child[node], first_child[node] + 1
            left, right = sizes[first], sizes[second]
            places[first] = places[node] + 1 + (right if left < right else 0)
            places[second] = places[node] + 1 + (0 if left < right else left)


def _as_bytes(probabilities: np.ndarray) -> np.ndarray:
    """Leaves as uint8, as in a model file, where that is exact; otherwise as float32."""
    counts = np.rint(probabilities * WHOLE).astype(np.uint8)
    is_exact = np.array_equal(counts.astype(np.float32) / np.float32(WHOLE), probabilities)
    return counts if is_exact else probabilities.astype(np.float32)


def _aligned(records: np.ndarray) -> np.ndarray:
    """Copy of the records that starts at a cache line: a record across two lines would be fetched twice."""
    buffer = np.empty(records.nbytes + CACHE_LINE, np.uint8)
    start = -buffer.ctypes.data % CACHE_LINE
    out = buffer[start : start + records.nbytes].view(records.dtype).reshape(records.shape)
    out[:] = records
    return out


@njit(cache=True, inline="always")
def _probed(pixel, offset_m, scale, last):
    """Row or column of a probe, clamped to the image: the arithmetic of `probe_index`, in float32 for vectorisation."""
    place = pixel + np.floor(offset_m * scale + np.float32(0.5))
    # maps NaN to 0 too: the scale is infinite where a depth rounds to 0
    place = place if place > np.float32(0) else np.float32(0)
    return np.int32(place if place < last else last)


@njit(cache=True)
def _compact(node, pixel_of, row, col, row_scale, col_scale, n_active, leaves):
    """Write the leaves of the pixels that reached one, compact the others, and return their number."""
    n_kept = 0
    for w in range(n_active):
        if node[w] < 0:
            leaves[pixel_of[w]] = -1 - node[w]
            continue
        node[n_kept], pixel_of[n_kept] = node[w], pixel_of[w]
        row[n_kept], col[n_kept], row_scale[n_kept], col_scale[n_kept] = row[w], col[w], row_scale[w], col_scale[w]
        n_kept += 1
    return n_kept


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
            n_active = _compact(node, pixel_of, row, col, row_scale, col_scale, count, leaves[first:, t])
            while n_active > 0:
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
                any_leaf = np.int32(0)  # negative if any link is: the sign bit is preserved
                for w in range(n_active):
                    n = np.uint32(node[w])
                    response_mm = np.float32(np.int32(flat[np.uint32(u[w])]) - np.int32(flat[np.uint32(v[w])]))
                    node[w] = links[n, _LINKS + 1] if response_mm > records[n, 4] else links[n, _LINKS]
                    any_leaf |= node[w]
                if any_leaf < 0:
                    n_active = _compact(node, pixel_of, row, col, row_scale, col_scale, n_active, leaves[first:, t])


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
            own[:] = 0
            for t in range(n_trees):
                leaf = first_leaf[t] + leaves[n, t]
                for c in range(n_classes):
                    own[c] += np.float32(leaf_shares[leaf, c])
            mirrored[:] = 0
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
