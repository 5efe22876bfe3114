"""A decision tree as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LEAF = -1
"""Feature of a node that asks nothing more."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A binary tree: node 0 is the root, the two children of a node stand side by side.

    A sample goes to ``first_child`` when its response is at most the threshold, else to
    ``first_child + 1``.
    """

    feature: np.ndarray  #: int32 (N,), row of the feature table, LEAF at a leaf
    threshold: np.ndarray  #: float32 (N,), in the unit of the response
    first_child: np.ndarray  #: int32 (N,), node; at a leaf the row of `leaf_probabilities`
    leaf_probabilities: np.ndarray  #: float32 (L, C), rows sum to 1

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return len(self.leaf_probabilities)

    def depth(self) -> int:
        """Levels below the root; 0 for a single leaf."""
        level, nodes = -1, np.zeros(1, np.int64)
        while len(nodes):
            level += 1
            inner = nodes[self.feature[nodes] != LEAF]
            nodes = np.concatenate([self.first_child[inner], self.first_child[inner] + 1])
        return level

    def check(self, n_features: int) -> None:
        """Refuse arrays that would send a kernel out of bounds or round in a circle.

        Raises
        ------
        ValueError
            Saying which rule the arrays break.
        """
        n = self.n_nodes
        if n == 0 or len(self.threshold) != n or len(self.first_child) != n:
            raise ValueError(f"a tree needs one feature, threshold and child a node, got {n} features")
        inner = self.feature != LEAF
        if (self.feature[inner] < 0).any() or (self.feature[inner] >= n_features).any():
            raise ValueError(f"a node asks for a feature outside 0..{n_features - 1}")
        child, parent = self.first_child[inner], np.nonzero(inner)[0]
        if (child <= parent).any() or (child + 1 >= n).any():
            raise ValueError("a child must come after its parent and inside the tree")
        leaf = self.first_child[~inner]
        if (leaf < 0).any() or (leaf >= self.n_leaves).any():
            raise ValueError(f"a leaf points outside the {self.n_leaves} rows of leaf probabilities")
        if not np.isfinite(self.threshold[inner]).all() or not np.isfinite(self.leaf_probabilities).all():
            raise ValueError("thresholds and leaf probabilities must be finite")
