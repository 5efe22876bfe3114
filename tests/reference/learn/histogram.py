"""Naive twin of posepipe/learn/depth/splitting/histogram.py: every split tried, gain by definition."""

from __future__ import annotations

import numpy as np

from tests.reference.learn.impurity import information_gain

TIE_BITS = 1e-9  #: float64 gains that differ by less are the same number


def class_counts(labels, weights=None):
    """Counts of one node's labels, or their weights, as a plain list."""
    counts = np.bincount(labels, minlength=256).tolist()
    return counts if weights is None else [n * w for n, w in zip(counts, weights, strict=False)]


def split_gain(bins, labels, threshold_bin, weights=None):
    """Bits saved by sending bins up to the threshold left; minus infinity when one side stays empty."""
    left = bins <= threshold_bin
    if left.all() or not left.any():
        return -np.inf
    children = [class_counts(labels[left], weights), class_counts(labels[~left], weights)]
    return information_gain(class_counts(labels, weights), children)


def best_splits(bins, labels, starts, n_bins, weights=None):
    """Gain, feature and threshold bin of every node; the first of equals."""
    nodes = len(starts) - 1
    gain, feature, threshold_bin = np.full(nodes, -np.inf), np.zeros(nodes, int), np.zeros(nodes, int)
    for node in range(nodes):
        own = slice(starts[node], starts[node + 1])
        for f in range(bins.shape[1]):
            for b in range(n_bins - 1):
                found = split_gain(bins[own, f], labels[own], b, weights)
                if found > gain[node] + TIE_BITS:
                    gain[node], feature[node], threshold_bin[node] = found, f, b
    return gain, feature, threshold_bin
