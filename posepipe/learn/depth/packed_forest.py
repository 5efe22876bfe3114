"""Memory layout of a forest for the kernel that classifies pixels.

An inner node is one record of 32 bytes that holds its offsets and lies within one cache line. The larger child follows
it. A leaf is a number in the record of its parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.learn.tree import Tree

CACHE_LINE = 64  #: bytes
WHOLE = 255  #: byte of a leaf for a probability of 1
LINKS = 5  #: first of two int32 columns of a record: record of a child, or -1 - row of a leaf


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
    def links(self) -> np.ndarray:
        """Children of each record, a record or -1 - row of a leaf: int32 (N, 2), a view."""
        return self.records.view(np.int32)[:, LINKS : LINKS + 2]

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
    trees : Sequence[Tree]; leaves of uint8 are shares in units of 1 / 255
    offsets : float32 (F, 2, 2), metres, the feature table of each tree
    mirrored_classes : int (C,), of a symmetric forest; None = not symmetric

    Returns
    -------
    PackedForest
    """
    ends = np.cumsum([0] + [np.count_nonzero(~tree.is_leaf) for tree in trees])
    records, roots = _aligned((ends[-1], 8), np.float32), []
    records[:] = 0
    for tree, table, start, end in zip(trees, offsets, ends[:-1], ends[1:], strict=True):
        roots.append(_fill_records(tree, table, int(start), records[start:end]))
    return PackedForest(
        records=records,
        roots=np.array(roots, np.int32),
        first_leaf=np.cumsum([0] + [tree.n_leaves for tree in trees])[:-1].astype(np.int32),
        leaf_shares=_leaf_shares([tree.leaf_statistics for tree in trees]),
        mirrored_classes=np.array([] if mirrored_classes is None else mirrored_classes, np.int64),
    )


def _fill_records(tree: Tree, table: np.ndarray, start: int, records: np.ndarray) -> int:
    """Fill the records of a tree, the first of which is record ``start`` of the forest; return the link to its root."""
    inner = np.flatnonzero(~tree.is_leaf)
    links = -1 - tree.first_child
    places = _preorder(tree, inner)
    links[inner] = places + start
    records[places, :4] = table.reshape(-1, 4)[tree.feature[inner]]
    records[places, 4] = np.float32(1000) * tree.threshold[inner]
    first = tree.first_child[inner]
    for side in range(2):
        records.view(np.int32)[places, LINKS + side] = links[first + side]
    return int(links[0])


def _preorder(tree: Tree, inner: np.ndarray) -> np.ndarray:
    """Positions of the ``inner`` nodes in depth-first order, larger child first: int32 (N,)."""
    sizes, places = np.zeros(tree.n_nodes, np.int32), np.zeros(tree.n_nodes, np.int32)
    levels = list(tree.inner_levels())
    for nodes in reversed(levels):  # sizes count inner nodes
        first = tree.first_child[nodes]
        sizes[nodes] = 1 + sizes[first] + sizes[first + 1]
    for nodes in levels:
        first, following = tree.first_child[nodes], places[nodes] + 1
        left, right = sizes[first], sizes[first + 1]
        places[first] = following + np.where(left < right, right, 0)
        places[first + 1] = following + np.where(left < right, 0, left)
    return places[inner]


def _leaf_shares(leaves: Sequence[np.ndarray]) -> np.ndarray:
    """Leaves of all trees as bytes, where these are exact, otherwise as float32."""
    if not all(own.dtype == np.uint8 for own in leaves):
        leaves = _as_bytes(leaves)
    shares = _aligned((sum(map(len, leaves)), leaves[0].shape[1]), leaves[0].dtype)
    np.concatenate(leaves, out=shares)
    return shares


def _as_bytes(leaves: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Posteriors as uint8 if that is exact for all, otherwise as float32."""
    posteriors = [own / np.float32(WHOLE) if own.dtype == np.uint8 else own for own in leaves]
    shares = [np.rint(own * WHOLE).astype(np.uint8) for own in posteriors]
    if all(np.array_equal(s / np.float32(WHOLE), own) for s, own in zip(shares, posteriors, strict=True)):
        return shares
    return [own.astype(np.float32) for own in posteriors]


def _aligned(shape: tuple[int, int], dtype: np.dtype | type) -> np.ndarray:
    """Array that starts at a cache line: a record across two lines would be fetched twice."""
    n_bytes = int(shape[0]) * shape[1] * np.dtype(dtype).itemsize
    buffer = np.empty(n_bytes + CACHE_LINE, np.uint8)
    start = -buffer.ctypes.data % CACHE_LINE
    return buffer[start : start + n_bytes].view(dtype).reshape(shape)
