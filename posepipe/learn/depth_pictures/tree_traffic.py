"""Pixels that pass the nodes of a tree, and what each split tells of their part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.learn.tree import LEAF, Tree


@dataclass(frozen=True, slots=True, eq=False)
class TreeTraffic:
    """Pixels at every node of a tree."""

    tree: Tree
    pixels: np.ndarray  #: float64 (N,), number that pass each node
    posteriors: np.ndarray  #: float64 (N, C), mean over the leaves that they reach; 0 where there are none

    @classmethod
    def of(cls, tree: Tree, leaves: np.ndarray) -> TreeTraffic:
        """Count pixels, by the leaves that they reach.

        Parameters
        ----------
        tree : Tree, its leaves shares of any scale, or class counts
        leaves : int (P,), row of the leaf that each pixel reaches
        """
        shares = tree.leaf_statistics.astype(np.float64)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
        own = np.zeros((tree.n_nodes, 1 + shares.shape[1]))
        rows = tree.first_child[tree.is_leaf]
        counts = np.bincount(leaves, minlength=tree.n_leaves)[rows].astype(np.float64)
        own[tree.is_leaf] = np.concatenate([counts[:, None], counts[:, None] * shares[rows]], axis=1)
        passing = tree.sum_up(own)
        return cls(tree, passing[:, 0], passing[:, 1:] / np.maximum(passing[:, :1], 1e-12))

    def information(self) -> np.ndarray:
        """Information of each split about the part, float64 (N,), bits summed over its pixels; 0 at leaves.

        It is the entropy of a node's mean posterior, less those of its children, times the pixels that pass.
        """
        bits = self.pixels * _entropy(self.posteriors)
        inner = np.flatnonzero(self.tree.feature != LEAF)
        first = self.tree.first_child[inner]
        told = np.zeros(self.tree.n_nodes)
        told[inner] = bits[inner] - bits[first] - bits[first + 1]
        return np.maximum(told, 0.0)  # of rounding errors, -0


def _entropy(posteriors: np.ndarray) -> np.ndarray:
    """Entropy of each row, bits."""
    return -(posteriors * np.log2(np.where(posteriors > 0, posteriors, 1))).sum(axis=1)
