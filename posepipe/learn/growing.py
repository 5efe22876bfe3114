"""The one growth loop: a tree grown level by level.

Each level draws its candidate features once, finds every node's best split on at most
``split_samples`` of its samples, and parts all samples. The loop knows nothing of depth: responses
come from a `Responses`, and a level depends on (seed, level) alone, so that growth may be broken off
after any level and taken up again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.learn.histogram import best_splits
from posepipe.learn.responses import Responses
from posepipe.learn.tree import LEAF, Tree

BATCH_SAMPLES = 16_384
"""Samples whose bins are held at once: 16,384 x 500 features are 8 MB."""


@dataclass(frozen=True, slots=True)
class GrowthRules:
    """When a node is split and how hard the best split is searched for."""

    max_depth: int = 20
    candidates: int = 500  #: features drawn a level
    min_gain: float = 0.005  #: bits; a smaller gain makes a leaf
    min_samples: int = 30  #: a node with fewer is a leaf
    split_samples: int = 20_000  #: a larger node chooses its split on this many of its samples


@dataclass(slots=True, eq=False)
class Growth:
    """A tree half grown: the nodes so far, and the samples of every open node."""

    order: np.ndarray  #: int32 (N,), samples, those of one open node together and in rising order
    level: int = 0
    feature: list[np.ndarray] = field(default_factory=list)  #: per level; rows of the feature table
    threshold: list[np.ndarray] = field(default_factory=list)
    first_child: list[np.ndarray] = field(default_factory=list)
    features: list[np.ndarray] = field(default_factory=list)  #: per level; the features in use
    leaf_counts: list[np.ndarray] = field(default_factory=list)  #: int64 (leaves, C) per level
    starts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  #: int64 (open nodes,)
    ends: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def n_nodes(self) -> int:
        return sum(len(f) for f in self.feature)

    @property
    def n_features(self) -> int:
        return sum(len(f) for f in self.features)

    @property
    def n_leaves(self) -> int:
        return sum(len(c) for c in self.leaf_counts)

    @property
    def finished(self) -> bool:
        return len(self.starts) == 0


def start_growth(n_samples: int) -> Growth:
    """All samples in one open root. Raises ValueError when there are none."""
    if n_samples == 0:
        raise ValueError("a tree needs at least one training sample, got none")
    return Growth(order=np.arange(n_samples, dtype=np.int32), starts=np.zeros(1, np.int64), ends=np.array([n_samples]))


def grow_level(
    growth: Growth,
    responses: Responses,
    labels: np.ndarray,
    n_classes: int,
    rules: GrowthRules,
    seed: tuple[int, ...],
) -> float:
    """Split every open node or close it as a leaf.

    Parameters
    ----------
    growth : changed in place
    labels : uint8 (N,), class of every sample
    seed : with the level, the only randomness

    Returns
    -------
    Mean gain of the splits made, weighted by samples, bits
    """
    rng = np.random.default_rng([*seed, growth.level])
    sizes = growth.ends - growth.starts
    n_open = len(sizes)
    gain = np.full(n_open, -np.inf)
    feature = np.zeros(n_open, np.int32)
    threshold_bin = np.zeros(n_open, np.int32)
    candidates = responses.draw_features(rng, rules.candidates)
    worth_a_look = (sizes >= rules.min_samples) if growth.level < rules.max_depth else np.zeros(n_open, bool)
    wanted = np.nonzero(worth_a_look)[0]
    for batch in _batches(wanted, np.minimum(sizes, rules.split_samples)):
        samples, starts = _split_samples(growth, batch, rules.split_samples)
        bins = np.empty((len(samples), len(candidates)), np.uint8)
        responses.fill_bins(samples, candidates, bins)
        gain[batch], feature[batch], threshold_bin[batch] = best_splits(bins, labels[samples], starts, responses.n_bins)
    split = gain >= rules.min_gain
    _close_leaves(growth, ~split, labels, n_classes)
    _record_level(growth, split, feature, threshold_bin, candidates, responses)
    _part_samples(growth, split, candidates[feature], threshold_bin, responses)
    growth.level += 1
    return float(np.average(gain[split], weights=sizes[split])) if split.any() else 0.0


def _batches(nodes: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """Neighbouring nodes of about BATCH_SAMPLES samples together."""
    if len(nodes) == 0:
        return []
    batch_of = (np.cumsum(sizes[nodes]) - 1) // BATCH_SAMPLES
    return np.split(nodes, np.nonzero(np.diff(batch_of))[0] + 1)


def _split_samples(growth: Growth, nodes: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples on which the nodes choose their splits, evenly spaced in image order, and where each node starts."""
    chosen = []
    for node in nodes:
        start, end = growth.starts[node], growth.ends[node]
        size = end - start
        chosen.append(
            growth.order[start:end]
            if size <= most
            else growth.order[start + (np.arange(most, dtype=np.int64) * size) // most]
        )
    starts = np.concatenate([[0], np.cumsum([len(c) for c in chosen])])
    return np.concatenate(chosen), starts


def _close_leaves(growth: Growth, closed: np.ndarray, labels: np.ndarray, n_classes: int) -> None:
    starts, ends = growth.starts[closed], growth.ends[closed]
    counts = np.zeros((len(starts), n_classes), np.int64)
    for leaf, (start, end) in enumerate(zip(starts, ends, strict=True)):
        counts[leaf] = np.bincount(labels[growth.order[start:end]], minlength=n_classes)
    growth.leaf_counts.append(counts)


def _record_level(growth, split, feature, threshold_bin, candidates, responses) -> None:
    used, row = np.unique(feature[split], return_inverse=True)
    first_leaf = growth.n_leaves - len(growth.leaf_counts[-1])
    node_feature = np.full(len(split), LEAF, np.int32)
    node_feature[split] = growth.n_features + row
    threshold = np.zeros(len(split), np.float32)
    threshold[split] = responses.threshold(threshold_bin[split])
    first_child = np.empty(len(split), np.int32)
    first_child[split] = growth.n_nodes + len(split) + 2 * np.arange(split.sum())
    first_child[~split] = first_leaf + np.arange((~split).sum())
    growth.feature.append(node_feature)
    growth.threshold.append(threshold)
    growth.first_child.append(first_child)
    growth.features.append(candidates[used])


def _part_samples(growth, split, features, threshold_bins, responses) -> None:
    """Put the samples of every split node in two stable halves; drop those of closed nodes."""
    sizes = (growth.ends - growth.starts)[split]
    open_samples = np.concatenate(
        [growth.order[s:e] for s, e in zip(growth.starts[split], growth.ends[split], strict=True)]
        or [np.zeros(0, np.int32)]
    )
    node_of = np.repeat(np.arange(len(sizes)), sizes)
    right = np.empty(len(open_samples), bool)
    chosen, bins = features[split], threshold_bins[split]
    for start in range(0, len(right), 1 << 20):  # a million at a time, for features[node_of] is large
        part = slice(start, start + (1 << 20))
        right[part] = responses.go_right(open_samples[part], chosen[node_of[part]], bins[node_of[part]])
    child = 2 * node_of + right
    growth.order = open_samples[np.argsort(child, kind="stable")]
    ends = np.cumsum(np.bincount(child, minlength=2 * len(sizes)))
    growth.starts, growth.ends = np.concatenate([[0], ends[:-1]]) if len(ends) else ends, ends


def finish(growth: Growth) -> tuple[Tree, np.ndarray]:
    """Make the tree of a finished growth, and the table of features that its nodes ask for."""
    if not growth.finished:
        raise ValueError(f"growth has {len(growth.starts)} open nodes after level {growth.level}; grow it to the end")
    counts = np.concatenate(growth.leaf_counts).astype(np.float64)
    tree = Tree(
        feature=np.concatenate(growth.feature),
        threshold=np.concatenate(growth.threshold),
        first_child=np.concatenate(growth.first_child),
        leaf_probabilities=(counts / counts.sum(axis=1, keepdims=True)).astype(np.float32),
    )
    return tree, np.concatenate(growth.features)
