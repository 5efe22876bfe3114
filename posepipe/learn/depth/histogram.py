"""Kernel: best splits of many nodes from binned responses.

The samples of a node are counted into bins x classes for one block of features at a time, small enough for the
second-level cache. One sweep over the bins tries every threshold. Classes absent from a node are left out, which keeps
small nodes cheap.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit, prange
from posepipe.learn.impurity import BIT, n_log_n_table

FEATURE_BLOCK = 16
"""Features counted together: 16 x 42 bins x 32 classes x 4 bytes = 86 kB."""


@njit(cache=True, inline="always")
def _sweep(counts, totals, n_samples, n_log_n):
    """Best threshold of one feature: (sum of n_c log n_c - n log n over both children, its bin).

    Maximising that sum maximises the information gain, because the term of the parent is constant. ``counts`` (B, K),
    ``totals`` (K,) counts of the whole node.
    """
    n_bins, n_classes = counts.shape
    left = np.zeros(n_classes, np.int64)
    n_left, left_sum = 0, np.int64(0)
    right_sum = np.int64(0)
    for k in range(n_classes):
        right_sum += n_log_n[totals[k]]
    best_score, best_bin = np.int64(-(1 << 62)), -1
    for b in range(n_bins - 1):
        moved = 0
        for k in range(n_classes):
            count = counts[b, k]
            if count:
                before = left[k]
                after = before + count
                left[k] = after
                left_sum += n_log_n[after] - n_log_n[before]
                right_sum += n_log_n[totals[k] - after] - n_log_n[totals[k] - before]
                moved += count
        n_left += moved
        if moved and n_left < n_samples:
            score = left_sum - n_log_n[n_left] + right_sum - n_log_n[n_samples - n_left]
            if score > best_score:
                best_score, best_bin = score, b
    return best_score, best_bin


@njit(cache=True, parallel=True)
def _block_best_splits(bins, labels, starts, n_bins, n_log_n, scores, features, best_bins):
    n_nodes, n_blocks = scores.shape
    n_features = bins.shape[1]
    for task in prange(n_nodes * n_blocks):  # each task writes its own cell of the outputs
        node, block = task // n_blocks, task % n_blocks
        start, end = starts[node], starts[node + 1]
        compact = np.full(256, -1, np.int32)
        n_classes = 0
        for s in range(start, end):
            if compact[labels[s]] < 0:
                compact[labels[s]] = n_classes
                n_classes += 1
        totals = np.zeros(n_classes, np.int64)
        for s in range(start, end):
            totals[compact[labels[s]]] += 1
        first = block * FEATURE_BLOCK
        width = min(FEATURE_BLOCK, n_features - first)
        counts = np.zeros((width, n_bins, n_classes), np.int32)
        for s in range(start, end):
            k = compact[labels[s]]
            for f in range(width):
                counts[f, bins[s, first + f], k] += 1
        best_score, best_feature, best_bin = np.int64(-(1 << 62)), -1, -1
        for f in range(width):
            score, b = _sweep(counts[f], totals, end - start, n_log_n)
            if score > best_score:  # ties go to the first feature
                best_score, best_feature, best_bin = score, first + f, b
        scores[node, block] = best_score
        features[node, block] = best_feature
        best_bins[node, block] = best_bin


@njit(cache=True)
def _node_terms(labels, starts, n_log_n, terms):
    for node in range(len(starts) - 1):
        totals = np.zeros(256, np.int64)
        for s in range(starts[node], starts[node + 1]):
            totals[labels[s]] += 1
        terms[node] = -n_log_n[starts[node + 1] - starts[node]]
        for k in range(256):
            terms[node] += n_log_n[totals[k]]


def best_splits(
    bins: np.ndarray, labels: np.ndarray, starts: np.ndarray, n_bins: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the feature and threshold bin of maximum information gain for each node.

    Parameters
    ----------
    bins : uint8 (N, F), the bin of every response; samples of one node are adjacent
    labels : uint8 (N,), class of every sample
    starts : int64 (M + 1,), first sample of every node, then N
    n_bins : int, bins are 0..n_bins - 1

    Returns
    -------
    gain : float64 (M,), bits; negative infinity where no split separates the samples
    feature : int32 (M,), column of ``bins``; ties go to the first
    threshold_bin : int32 (M,); bins up to it go to the first child

    References
    ----------
    Gain: Quinlan 1986. Naive twin: tests/reference/learn/histogram.py
    """
    n_nodes, n_features = len(starts) - 1, bins.shape[1]
    n_blocks = -(-n_features // FEATURE_BLOCK)
    n_log_n = n_log_n_table(int(np.diff(starts).max(initial=1)))
    scores = np.empty((n_nodes, n_blocks), np.int64)
    features = np.empty((n_nodes, n_blocks), np.int32)
    best_bins = np.empty((n_nodes, n_blocks), np.int32)
    _block_best_splits(bins, labels, starts, n_bins, n_log_n, scores, features, best_bins)
    terms = np.empty(n_nodes, np.int64)
    _node_terms(labels, starts, n_log_n, terms)
    rows = np.arange(n_nodes)
    block = scores.argmax(axis=1)  # the first maximum, so ties go to the first feature
    feature, threshold_bin = features[rows, block], best_bins[rows, block]
    gain = (scores[rows, block] - terms) / np.maximum(np.diff(starts), 1) / BIT
    return np.where(threshold_bin >= 0, gain, -np.inf), feature, threshold_bin
