"""The one growth loop: a tree grown level by level, of depth images or of tables.

The loop knows nothing of features. A `SplitFinder` finds the best split of every open node and sends
samples to its branches; here it is decided who is split, children are numbered, and samples parted. A
level depends on (seed, level) alone, so that growth may be broken off after any level and taken up again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit

from posepipe.learn.tree import LEAF, Tree

MISSING = -1
"""Branch of a sample whose response is not known."""


@dataclass(frozen=True, slots=True)
class GrowthRules:
    """When a node is split and how hard the best split is searched for."""

    max_depth: int = 20
    candidates: int = 500  #: features drawn, for all nodes of a level or for each node, as the finder has it
    min_gain: float = 0.005  #: in the unit of the criterion; a smaller gain makes a leaf
    min_samples: int = 30  #: a node with fewer is a leaf
    split_samples: int = 20_000  #: a larger node chooses its split on this many of its samples


class OpenNodes(NamedTuple):
    """Nodes that wait for a decision. Their samples lie in ``order[starts[k]:ends[k]]``."""

    order: np.ndarray  #: int32 (N,), samples
    weight: np.ndarray | None  #: float64 (N,), of every entry of ``order``; None = 1 each
    starts: np.ndarray  #: int64 (M,)
    ends: np.ndarray  #: int64 (M,)


class Splits(NamedTuple):
    """The best split of every node."""

    gain: np.ndarray  #: float64 (M,); negative infinity where nothing parts the samples
    feature: np.ndarray  #: int32 (M,), row of ``features``
    threshold: np.ndarray  #: float (M,)
    n_children: np.ndarray  #: int32 (M,)
    features: np.ndarray  #: (F, ...), what the finder wants to remember of each feature

    def of(self, nodes: np.ndarray) -> Splits:
        """Those of some nodes, bool (M,)."""
        return Splits(
            self.gain[nodes], self.feature[nodes], self.threshold[nodes], self.n_children[nodes], self.features
        )


class SplitFinder(Protocol):
    """The training samples, and how they may be split."""

    def __len__(self) -> int: ...

    def best_splits(self, nodes: OpenNodes, rules: GrowthRules, rng: np.random.Generator) -> Splits:
        """Best split of each of the nodes."""

    def branches(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Branch, from 0, that each sample takes at its own row of features and thresholds: int32 (N,), or MISSING."""

    def statistics(self, nodes: OpenNodes) -> np.ndarray:
        """Class weights or moments of each of the nodes: (M, K)."""


@dataclass(slots=True, eq=False)
class Growth:
    """A tree half grown: the nodes so far, and the samples of every open node."""

    order: np.ndarray  #: int32 (N,), samples, those of one open node together and in rising order
    weight: np.ndarray | None = None  #: float64 (N,); a sample that takes several branches is in ``order`` as often
    level: int = 0
    feature: list[np.ndarray] = field(default_factory=list)  #: per level; rows of the feature table
    threshold: list[np.ndarray] = field(default_factory=list)
    first_child: list[np.ndarray] = field(default_factory=list)
    n_children: list[np.ndarray] = field(default_factory=list)
    features: list[np.ndarray] = field(default_factory=list)  #: per level; the features in use
    leaf_statistics: list[np.ndarray] = field(default_factory=list)  #: (leaves, K) per level
    starts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  #: int64 (open nodes,)
    ends: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    n_nodes: int = field(init=False)  #: of all levels; kept, for to sum over the levels at each would be quadratic
    n_features: int = field(init=False)
    n_leaves: int = field(init=False)

    def __post_init__(self) -> None:
        self.n_nodes = sum(map(len, self.feature))
        self.n_features = sum(map(len, self.features))
        self.n_leaves = sum(map(len, self.leaf_statistics))

    @property
    def finished(self) -> bool:
        return len(self.starts) == 0

    def open_nodes(self, which: np.ndarray | slice = slice(None)) -> OpenNodes:
        """All open nodes, or some of them."""
        return OpenNodes(self.order, self.weight, self.starts[which], self.ends[which])


def start_growth(n_samples: int, weight: np.ndarray | None = None) -> Growth:
    """All samples in one open root; those of weight 0 stay outside. Raises ValueError when there are none."""
    order = np.arange(n_samples, dtype=np.int32) if weight is None else np.flatnonzero(weight).astype(np.int32)
    if len(order) == 0:
        raise ValueError("a tree needs at least one training sample, got none")
    kept = None if weight is None else np.asarray(weight, np.float64)[order]
    return Growth(order, kept, starts=np.zeros(1, np.int64), ends=np.array([len(order)]))


def grow_level(growth: Growth, finder: SplitFinder, rules: GrowthRules, seed: tuple[int, ...]) -> float:
    """Split every open node or close it as a leaf.

    Parameters
    ----------
    growth : changed in place
    seed : with the level, the only randomness

    Returns
    -------
    Mean gain of the splits made, weighted by samples
    """
    rng = np.random.default_rng([*seed, growth.level])
    sizes = growth.ends - growth.starts
    wanted = (sizes >= rules.min_samples) & (growth.level < rules.max_depth)
    splits = finder.best_splits(growth.open_nodes(wanted), rules, rng)
    split = np.zeros(len(sizes), bool)
    split[wanted] = splits.gain >= rules.min_gain
    chosen = splits.of(split[wanted])
    _record_level(growth, split, chosen, finder.statistics(growth.open_nodes(~split)))
    _part_samples(growth, split, chosen, finder)
    growth.level += 1
    return float(np.average(chosen.gain, weights=sizes[split])) if split.any() else 0.0


def grow(finder: SplitFinder, rules: GrowthRules, seed: tuple[int, ...], weight: np.ndarray | None = None) -> Growth:
    """Grow a tree to its end. ``weight`` float64 (N,) of the samples; None = 1 each."""
    growth = start_growth(len(finder), weight)
    while not growth.finished:
        grow_level(growth, finder, rules, seed)
    return growth


def _record_level(growth: Growth, split: np.ndarray, chosen: Splits, leaf_statistics: np.ndarray) -> None:
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


def _part_samples(growth: Growth, split: np.ndarray, chosen: Splits, finder: SplitFinder) -> None:
    """Hand the samples of every split node to its children, in unchanged order; drop those of closed nodes."""
    sizes = (growth.ends - growth.starts)[split]
    kept = np.repeat(split, growth.ends - growth.starts)
    samples = growth.order[kept]
    weight = None if growth.weight is None else growth.weight[kept]
    node_of = np.repeat(np.arange(len(sizes)), sizes)
    branch = np.empty(len(samples), np.int32)
    for start in range(0, len(samples), 1 << 20):  # a million at a time, for a row of features each is large
        part = slice(start, start + (1 << 20))
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
    growth.order = _put(samples, place)
    growth.weight = None if weight is None else _put(weight, place)


def _share_missing(samples, weight, node_of, branch, child, first, n_children):
    """A sample of unknown response goes down every branch, with the share of the known weight that took it.

    References
    ----------
    Quinlan 1993, section 3.2.
    """
    known = branch != MISSING
    taken = np.bincount(child[known], weights=weight[known], minlength=int(n_children.sum()))
    of_node = np.repeat(np.arange(len(n_children)), n_children)
    share = taken / np.bincount(of_node, weights=taken, minlength=len(n_children))[of_node]
    lost = np.flatnonzero(~known)
    copies = n_children[node_of[lost]]
    row = np.repeat(lost, copies)
    to = first[node_of[row]] + np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    some = share[to] > 0
    row, to = row[some], to[some]
    entry = np.concatenate([np.flatnonzero(known), row])
    order = np.argsort(entry, kind="stable")  # copies stand where their sample stood
    entry, child = entry[order], np.concatenate([child[known], to])[order]
    factor = np.concatenate([np.ones(known.sum()), share[to]])[order]
    return samples[entry], weight[entry] * factor, child


@njit(cache=True)
def _places(child, n_open):
    """Where a stable sort by child puts every sample, int64 (N,), and where each child's samples end, (n_open,)."""
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


def _put(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    out = np.empty_like(values)
    out[place] = values
    return out


def finish(growth: Growth) -> tuple[Tree, np.ndarray]:
    """Make the tree of a finished growth, and the table of features that its nodes ask for."""
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
