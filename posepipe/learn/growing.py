"""The growth loop of all trees, for depth images and for tables: one level at a time.

The loop is independent of the features. A `SplitFinder` finds the best split of every open node and assigns
samples to branches. The loop decides which nodes are split, numbers the children and partitions the samples.
A level depends only on (seed, level), so growth can stop after any level and resume later.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from posepipe.compilation import njit
from posepipe.learn.tree import LEAF, Tree

PARTITION_SAMPLES = 1 << 22
"""Samples whose branches are found at once: each takes a row of features."""
MISSING = -1
"""Branch of a sample with an unknown response."""


@dataclass(frozen=True, slots=True)
class GrowthRules:
    """Stopping rules of growth, and the effort spent on each search for a split."""

    max_depth: int = 20
    candidates: int = 100  #: features drawn for each level or each node, depending on the `SplitFinder`
    min_gain: float = 0.005  #: minimum gain of a split at its node, in the unit of the criterion
    min_samples: int = 30  #: minimum samples of a node that is split
    split_samples: int = 20_000  #: maximum samples of a node that its split is chosen on

    def accept(self, gain: np.ndarray, nodes: OpenNodes) -> np.ndarray:
        """Tell which nodes are split.

        Parameters
        ----------
        gain : float64 (M,), of the best split of each node
        nodes : OpenNodes, these M nodes

        Returns
        -------
        bool (M,)
        """
        return gain >= self.min_gain


class OpenNodes(NamedTuple):
    """Nodes still to be split or closed. Node k has the samples ``order[starts[k]:ends[k]]``."""

    order: np.ndarray  #: int32 (N,), samples
    weight: np.ndarray | None  #: float64 (N,), of each entry of ``order``; None = 1 each
    starts: np.ndarray  #: int64 (M,)
    ends: np.ndarray  #: int64 (M,)


class Splits(NamedTuple):
    """The best split of every node."""

    gain: np.ndarray  #: float64 (M,); negative infinity where no split separates the samples
    feature: np.ndarray  #: int32 (M,), row of ``features``
    threshold: np.ndarray  #: float (M,)
    n_children: np.ndarray  #: int32 (M,)
    features: np.ndarray  #: (F, ...), the finder's own description of each feature

    def of(self, nodes: np.ndarray) -> Splits:
        """Select the splits of some nodes, bool (M,)."""
        return Splits(
            self.gain[nodes], self.feature[nodes], self.threshold[nodes], self.n_children[nodes], self.features
        )


class SplitFinder(Protocol):
    """The training samples and their possible splits."""

    def __len__(self) -> int: ...

    def best_splits(self, nodes: OpenNodes, rules: GrowthRules, rng: np.random.Generator) -> Splits:
        """Find the best split of each node."""

    def branches(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Find the branch of each sample at its own row of features and thresholds.

        Returns
        -------
        int32 (N,), counted from 0, or MISSING
        """

    def statistics(self, nodes: OpenNodes) -> np.ndarray:
        """Return the class weights or moments of each node, (M, K)."""


@dataclass(slots=True, eq=False)
class Growth:
    """A partly grown tree: the nodes so far, and the samples of every open node."""

    order: np.ndarray  #: int32 (N,), samples grouped by open node, ascending within a node
    weight: np.ndarray | None = None  #: float64 (N,); a sample in several branches has one entry in each
    level: int = 0
    feature: list[np.ndarray] = field(default_factory=list)  #: per level; rows of the feature table
    threshold: list[np.ndarray] = field(default_factory=list)
    first_child: list[np.ndarray] = field(default_factory=list)
    n_children: list[np.ndarray] = field(default_factory=list)
    features: list[np.ndarray] = field(default_factory=list)  #: per level; the features that its splits use
    leaf_statistics: list[np.ndarray] = field(default_factory=list)  #: (leaves, K) per level
    starts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  #: int64 (open nodes,)
    ends: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    n_nodes: int = field(init=False)  #: of all levels; stored because summing at every level is quadratic
    n_features: int = field(init=False)
    n_leaves: int = field(init=False)

    def __post_init__(self) -> None:
        self.n_nodes = sum(map(len, self.feature))
        self.n_features = sum(map(len, self.features))
        self.n_leaves = sum(map(len, self.leaf_statistics))

    @property
    def finished(self) -> bool:
        """Whether no node is open."""
        return len(self.starts) == 0

    def open_nodes(self, which: np.ndarray | slice = slice(None)) -> OpenNodes:
        """Return all open nodes, or a selection of them."""
        return OpenNodes(self.order, self.weight, self.starts[which], self.ends[which])


def start_growth(n_samples: int, weight: np.ndarray | None = None) -> Growth:
    """Put all samples of non-zero weight into one open root node.

    Parameters
    ----------
    n_samples : int
    weight : float64 (n_samples,); None = 1 each

    Raises
    ------
    ValueError
        When there is no sample of non-zero weight.
    """
    order = np.arange(n_samples, dtype=np.int32) if weight is None else np.flatnonzero(weight).astype(np.int32)
    if len(order) == 0:
        raise ValueError("a tree needs at least one training sample, got none")
    kept = None if weight is None else np.asarray(weight, np.float64)[order]
    return Growth(order, kept, starts=np.zeros(1, np.int64), ends=np.array([len(order)]))


def grow_level(growth: Growth, finder: SplitFinder, rules: GrowthRules, seed: tuple[int, ...]) -> float:
    """Split every open node or make it a leaf.

    Parameters
    ----------
    growth : Growth, changed in place
    finder : SplitFinder
    rules : GrowthRules
    seed : tuple of int, the only source of randomness besides the level number

    Returns
    -------
    float, mean gain of the splits made, weighted by samples; 0 when there are none
    """
    rng = np.random.default_rng([*seed, growth.level])
    sizes = growth.ends - growth.starts
    eligible = (sizes >= rules.min_samples) & (growth.level < rules.max_depth)
    nodes = growth.open_nodes(eligible)
    splits = finder.best_splits(nodes, rules, rng)
    split = np.zeros(len(sizes), bool)
    split[eligible] = rules.accept(splits.gain, nodes)
    chosen = splits.of(split[eligible])
    record_level(growth, split, chosen, finder.statistics(growth.open_nodes(~split)))
    partition_samples(growth, split, chosen, finder)
    growth.level += 1
    return float(np.average(chosen.gain, weights=sizes[split])) if split.any() else 0.0


def grow(finder: SplitFinder, rules: GrowthRules, seed: tuple[int, ...], weight: np.ndarray | None = None) -> Growth:
    """Grow a tree until no node is open.

    Parameters
    ----------
    finder : SplitFinder
    rules : GrowthRules
    seed : tuple of int
    weight : float64 (N,), of the samples; None = 1 each
    """
    growth = start_growth(len(finder), weight)
    while not growth.finished:
        grow_level(growth, finder, rules, seed)
    return growth


def record_level(growth: Growth, split: np.ndarray, chosen: Splits, leaf_statistics: np.ndarray) -> None:
    """Append the nodes of a level to a growth; the samples stay where they are.

    Parameters
    ----------
    growth : Growth, changed in place
    split : bool (M,), which of the open nodes are split; the others become leaves
    chosen : Splits of the nodes that are split
    leaf_statistics : (leaves, K)
    """
    used, row = np.unique(chosen.feature, return_inverse=True)
    feature = np.full(len(split), LEAF, np.int32)
    feature[split] = growth.n_features + row
    threshold = np.zeros(len(split), chosen.threshold.dtype)
    threshold[split] = chosen.threshold
    n_children = np.zeros(len(split), np.int32)
    n_children[split] = chosen.n_children
    first_child = growth.n_nodes + len(split) + np.cumsum(n_children) - n_children
    first_child[~split] = growth.n_leaves + np.arange(len(leaf_statistics))
    growth.feature.append(feature)
    growth.threshold.append(threshold)
    growth.first_child.append(first_child.astype(np.int32))
    growth.n_children.append(n_children)
    growth.features.append(chosen.features[used])
    growth.leaf_statistics.append(leaf_statistics)
    growth.n_nodes += len(split)
    growth.n_features += len(used)
    growth.n_leaves += len(leaf_statistics)


def partition_samples(growth: Growth, split: np.ndarray, chosen: Splits, finder: SplitFinder) -> None:
    """Assign the samples of every split node to its children in stable order; drop those of leaves.

    Parameters
    ----------
    growth : Growth
        Its samples are changed in place, its nodes are not.
    split : bool (M,)
        Which of the open nodes are split.
    chosen : Splits
        Of the nodes that are split.
    finder : SplitFinder
    """
    sizes = (growth.ends - growth.starts)[split]
    kept = np.repeat(split, growth.ends - growth.starts)
    samples = growth.order[kept]
    weight = None if growth.weight is None else growth.weight[kept]
    node_of = np.repeat(np.arange(len(sizes)), sizes)
    branch = np.empty(len(samples), np.int32)
    for start in range(0, len(samples), PARTITION_SAMPLES):
        part = slice(start, start + PARTITION_SAMPLES)
        node = node_of[part]
        branch[part] = finder.branches(samples[part], chosen.features[chosen.feature[node]], chosen.threshold[node])
    first = np.cumsum(chosen.n_children) - chosen.n_children
    n_open = int(chosen.n_children.sum())
    child = first[node_of] + branch
    if (branch == MISSING).any():
        if weight is None:
            weight = np.ones(len(samples))
        samples, weight, child = _share_missing(samples, weight, node_of, branch, child, first, chosen.n_children)
    place, growth.ends = _places(child, n_open)
    growth.starts = np.concatenate([np.zeros(1, np.int64), growth.ends])[:n_open]
    growth.order = _scatter(samples, place)
    growth.weight = None if weight is None else _scatter(weight, place)


def _share_missing(
    samples: np.ndarray,
    weight: np.ndarray,
    node_of: np.ndarray,
    branch: np.ndarray,
    child: np.ndarray,
    first: np.ndarray,
    n_children: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Send a sample of unknown response down every branch, weighted by the branch's share of the known weight.

    Returns
    -------
    samples, weight, child : with one entry for each sample and branch

    References
    ----------
    Quinlan 1993, section 3.2.
    """
    known = branch != MISSING
    taken = np.bincount(child[known], weights=weight[known], minlength=int(n_children.sum()))
    of_node = np.repeat(np.arange(len(n_children)), n_children)
    share = taken / np.bincount(of_node, weights=taken, minlength=len(n_children))[of_node]
    missing = np.flatnonzero(~known)
    copies = n_children[node_of[missing]]
    row = np.repeat(missing, copies)
    to = first[node_of[row]] + np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    some = share[to] > 0
    row, to = row[some], to[some]
    entry = np.concatenate([np.flatnonzero(known), row])
    order = np.argsort(entry, kind="stable")  # copies take the place of their sample
    entry, child = entry[order], np.concatenate([child[known], to])[order]
    factor = np.concatenate([np.ones(known.sum()), share[to]])[order]
    return samples[entry], weight[entry] * factor, child


@njit(cache=True)
def _places(child, n_open):
    """Position of every sample in a stable sort by child, int64 (N,), and end of each child's samples, (n_open,)."""
    ends = np.zeros(n_open, np.int64)
    for c in child:
        ends[c] += 1
    following = np.zeros(n_open, np.int64)
    for k in range(1, n_open):
        ends[k] += ends[k - 1]
        following[k] = ends[k - 1]
    place = np.empty(len(child), np.int64)
    for n in range(len(child)):
        place[n] = following[child[n]]
        following[child[n]] += 1
    return place, ends


def _scatter(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    out = np.empty_like(values)
    out[place] = values
    return out


def finish(growth: Growth) -> tuple[Tree, np.ndarray]:
    """Assemble the tree of a finished growth.

    Returns
    -------
    tree : Tree
    features : (F, ...), the feature table that its nodes refer to

    Raises
    ------
    ValueError
        When nodes are still open.
    """
    if not growth.finished:
        raise ValueError(f"growth has {len(growth.starts)} open nodes after level {growth.level}; grow it to the end")
    tree = Tree(
        feature=np.concatenate(growth.feature),
        threshold=np.concatenate(growth.threshold),
        first_child=np.concatenate(growth.first_child),
        leaf_statistics=np.concatenate(growth.leaf_statistics).astype(np.float64),
        n_children=np.concatenate(growth.n_children),
    )
    return tree, np.concatenate(growth.features)
