"""What a shard tells of its samples of some nodes: integers that add up over the shards.

A large node is told as histograms, bins x classes for every feature. They have one size, however many samples they
count. A small node is told as the bins of its samples, which take less room; the histograms are counted where the
parts of all shards meet. Both ways give the split that `posepipe.learn.depth.splitting.histogram` finds on all
samples at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from posepipe.learn.depth.splitting.histogram import WEIGHT_TABLE, best_splits
from posepipe.learn.impurity import BIT, n_log_n_of, n_log_n_table

FEATURE_BLOCK = 64
"""Features whose thresholds are tried together: 64 x 42 bins x 32 classes x 8 bytes = 690 kB."""

BestSplits = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Of M nodes: gain float64 (M,), bits; feature int32 (M,); threshold bin int32 (M,), as `best_splits` returns them."""


class NodeBins(NamedTuple):
    """Binned responses of the samples of M nodes."""

    bins: np.ndarray  #: uint8 (N, F), samples of one node are adjacent
    labels: np.ndarray  #: uint8 (N,), class of every sample
    sizes: np.ndarray  #: int64 (M,), samples of every node


def count_histograms(samples: NodeBins, n_bins: int, n_classes: int, dtype: np.dtype) -> np.ndarray:
    """Count samples by node, feature, bin and class. Histograms of two shards add up to that of both.

    Parameters
    ----------
    samples : NodeBins
    n_bins : int, bins are 0..n_bins - 1
    n_classes : int
    dtype : of the result; holds the number of samples of a node in all shards

    Returns
    -------
    (M, F, B, C) counts
    """
    n_nodes, n_features = len(samples.sizes), samples.bins.shape[1]
    counts = np.empty((n_nodes, n_features, n_bins, n_classes), dtype)
    node = np.repeat(np.arange(n_nodes), samples.sizes)
    cell = node * (n_bins * n_classes) + samples.labels
    for f in range(n_features):
        cells = cell + samples.bins[:, f].astype(np.int64) * n_classes
        found = np.bincount(cells, minlength=n_nodes * n_bins * n_classes)
        counts[:, f] = found.reshape(n_nodes, n_bins, n_classes)
    return counts


def splits_of_histograms(histograms: Sequence[np.ndarray], class_weights: np.ndarray | None = None) -> BestSplits:
    """Find the best split of each node from the histograms of all shards.

    Parameters
    ----------
    histograms : (M, F, B, C) counts of each shard
    class_weights : int64 (C,), of a sample of each class; None = 1 each

    Returns
    -------
    BestSplits
    """
    counts = histograms[0].copy()
    for other in histograms[1:]:
        counts += other
    largest = int(counts[:, 0].sum(axis=(1, 2), dtype=np.int64).max(initial=1))
    n_log_n = n_log_n_table(largest if class_weights is None else max(largest, WEIGHT_TABLE))
    weights = np.ones(counts.shape[3], np.int64) if class_weights is None else class_weights
    found = [_best_of_node(node, n_log_n, weights) for node in counts]
    gain, feature, threshold_bin = (np.array(column) for column in zip(*found, strict=True))
    return gain.astype(np.float64), feature.astype(np.int32), threshold_bin.astype(np.int32)


def splits_of_bins(parts: Sequence[NodeBins], n_bins: int, class_weights: np.ndarray | None = None) -> BestSplits:
    """Find the best split of each node from the binned samples of all shards.

    Parameters
    ----------
    parts : the samples of each shard, for the same M nodes
    n_bins : int
    class_weights : int64 (C,), of a sample of each class; None = 1 each

    Returns
    -------
    BestSplits
    """
    sizes = np.sum([part.sizes for part in parts], axis=0)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    bins = np.empty((starts[-1], parts[0].bins.shape[1]), np.uint8)
    labels = np.empty(starts[-1], np.uint8)
    first = starts[:-1].copy()  # free place of every node
    for part in parts:
        own = np.cumsum(part.sizes) - part.sizes
        place = np.repeat(first - own, part.sizes) + np.arange(len(part.labels))
        bins[place], labels[place] = part.bins, part.labels
        first += part.sizes
    return best_splits(bins, labels, starts, n_bins, class_weights)


def _best_of_node(counts: np.ndarray, n_log_n: np.ndarray, weights: np.ndarray) -> tuple[float, int, int]:
    """Gain, feature and threshold bin of maximum gain, from counts (F, B, C); ties go to the first feature and bin."""
    total = counts[0].sum(axis=0, dtype=np.int64)
    weight = total @ weights
    term = int(n_log_n[total] @ weights - n_log_n_of(weight[None], n_log_n)[0])
    lowest = np.iinfo(np.int64).min
    best, feature, threshold_bin = lowest, -1, -1
    for start in range(0, len(counts), FEATURE_BLOCK):
        left = np.cumsum(counts[start : start + FEATURE_BLOCK, :-1], axis=1, dtype=np.int64)
        weight_left = left @ weights
        score = n_log_n[left] @ weights + n_log_n[total - left] @ weights
        score -= n_log_n_of(weight_left, n_log_n) + n_log_n_of(weight - weight_left, n_log_n)
        moved = np.diff(weight_left, axis=1, prepend=0) > 0  # an empty bin repeats the threshold before it
        score[~moved | (weight_left == weight)] = lowest
        place = int(score.argmax()) if score.size else 0
        if score.size and score.flat[place] > best:
            best = int(score.flat[place])
            feature, threshold_bin = start + place // score.shape[1], place % score.shape[1]
    return ((best - term) / max(int(weight), 1) / BIT if feature >= 0 else -np.inf), feature, threshold_bin
