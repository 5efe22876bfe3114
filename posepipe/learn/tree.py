"""A decision tree as flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from posepipe.compilation import njit

LEAF = -1
"""Feature of a leaf."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Nodes of a decision tree. Node 0 is the root; the children of a node are adjacent and come after it.

    The learner defines what a feature is and which child a sample goes to. At a threshold with two children,
    a response up to the threshold goes to the first.
    """

    feature: np.ndarray  #: int32 (N,), row of the feature table, LEAF at a leaf
    threshold: np.ndarray  #: float (N,), in the unit of the response
    first_child: np.ndarray  #: int32 (N,), node; at a leaf the row of `leaf_statistics`
    #: float or uint8 (L, K): class weights, moments of the target (`impurity`), or posteriors that sum to 1
    leaf_statistics: np.ndarray
    #: int32 (N,), 0 at a leaf; 2 if left out
    n_children: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        if len(self.n_children) == 0:
            object.__setattr__(self, "n_children", np.where(self.feature == LEAF, 0, 2).astype(np.int32))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaf_statistics)

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node is a leaf: bool (N,)."""
        return self.feature == LEAF

    def depth(self) -> int:
        """Levels below the root; 0 for a single leaf."""
        return int(self.levels().max())

    def levels(self) -> np.ndarray:
        """Level of every node, 0 at the root: int64 (N,)."""
        levels = np.zeros(self.n_nodes, np.int64)
        _walk_down(self.parents(), levels)
        return levels

    def inner_levels(self) -> Iterator[np.ndarray]:
        """Inner nodes of each level, from the root down, of a tree in which they have two children: int (n,)."""
        nodes = np.zeros(1, self.first_child.dtype)
        while len(nodes := nodes[self.feature[nodes] != LEAF]):
            yield nodes
            nodes = (self.first_child[nodes][:, None] + np.arange(2, dtype=nodes.dtype)).ravel()

    def children(self, node: int) -> range:
        """Child nodes of a node; empty for a leaf."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def parents(self) -> np.ndarray:
        """Parent of every node, -1 at the root: int64 (N,)."""
        parents = np.full(self.n_nodes, -1)
        inner = np.nonzero(~self.is_leaf)[0]
        parents[self._children_of_all()] = np.repeat(inner, self.n_children[inner])
        return parents

    def _children_of_all(self) -> np.ndarray:
        """Child nodes of all inner nodes, concatenated."""
        inner = ~self.is_leaf
        count = self.n_children[inner]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return np.repeat(self.first_child[inner], count) + within

    def node_statistics(self) -> np.ndarray:
        """Statistics of every node, summed over its leaves: float64 (N, K)."""
        statistics = np.zeros((self.n_nodes, self.leaf_statistics.shape[1]))
        leaves = self.is_leaf
        statistics[leaves] = self.leaf_statistics[self.first_child[leaves]]
        return self.sum_up(statistics)

    def sum_up(self, statistics: np.ndarray) -> np.ndarray:
        """Add the statistics of every node, (N, K), to all its ancestors, in place."""
        _sum_up(self.parents(), statistics)
        return statistics

    def inherit(self, empty: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Copy the parent's row of ``values``, (N, K), to every ``empty`` node, bool (N,), in place, root first."""
        _inherit(self.parents(), empty, values)
        return values

    def kept(self, nodes: np.ndarray) -> np.ndarray:
        """Nodes that remain when ``nodes``, bool (N,), become leaves: those without such an ancestor; bool (N,)."""
        kept = np.ones(self.n_nodes, bool)
        _keep_open(self.parents(), nodes, kept)
        return kept

    def collapse(self, nodes: np.ndarray) -> Tree:
        """Turn some nodes into leaves and drop their descendants.

        Parameters
        ----------
        nodes : bool (N,)

        Returns
        -------
        Tree, with its nodes and leaves in unchanged order
        """
        kept = self.kept(nodes)
        place = np.cumsum(kept) - 1
        leaf = (nodes | self.is_leaf)[kept]
        statistics = self.node_statistics()[kept]
        first_child = np.zeros(len(leaf), np.int32)
        first_child[~leaf] = place[self.first_child[kept][~leaf]]
        first_child[leaf] = np.arange(leaf.sum())
        return replace(
            self,
            feature=np.where(leaf, LEAF, self.feature[kept]).astype(np.int32),
            threshold=np.where(leaf, 0, self.threshold[kept]).astype(self.threshold.dtype),
            first_child=first_child,
            leaf_statistics=statistics[leaf].astype(self.leaf_statistics.dtype),
            n_children=np.where(leaf, 0, self.n_children[kept]).astype(np.int32),
        )

    def check(self, n_features: int) -> None:
        """Check that no kernel can run out of bounds or loop forever on these arrays.

        Parameters
        ----------
        n_features : int, rows of the feature table

        Raises
        ------
        ValueError
            Naming the rule that the arrays break.
        """
        n = self.n_nodes
        if n == 0 or not (len(self.threshold) == len(self.first_child) == len(self.n_children) == n):
            raise ValueError(f"a tree needs one feature, threshold and child a node, got {n} features")
        inner = ~self.is_leaf
        if (self.feature[inner] < 0).any() or (self.feature[inner] >= n_features).any():
            raise ValueError(f"features of inner nodes must lie in 0..{n_features - 1}")
        child, parent = self.first_child[inner].astype(np.int64), np.nonzero(inner)[0]
        if (child <= parent).any() or (child + self.n_children[inner] > n).any() or (self.n_children[inner] < 1).any():
            raise ValueError("a child must come after its parent and inside the tree")
        if (np.bincount(self._children_of_all(), minlength=n)[1:] != 1).any():
            raise ValueError("every node but the root must be the child of one other")
        leaf = self.first_child[~inner]
        if (leaf < 0).any() or (leaf >= self.n_leaves).any():
            raise ValueError(f"a leaf points outside the {self.n_leaves} rows of leaf statistics")
        if not np.isfinite(self.threshold[inner]).all() or not np.isfinite(self.leaf_statistics).all():
            raise ValueError("thresholds and leaf statistics must be finite")


@njit(cache=True)
def _walk_down(parents, levels):
    for node in range(1, len(parents)):  # a parent comes before its children
        levels[node] = levels[parents[node]] + 1


@njit(cache=True)
def _sum_up(parents, statistics):
    for node in range(len(parents) - 1, 0, -1):
        statistics[parents[node]] += statistics[node]


@njit(cache=True)
def _keep_open(parents, closed, kept):
    for node in range(1, len(parents)):
        kept[node] = kept[parents[node]] and not closed[parents[node]]


@njit(cache=True)
def _inherit(parents, empty, values):
    for node in range(1, len(parents)):
        if empty[node]:
            values[node] = values[parents[node]]
