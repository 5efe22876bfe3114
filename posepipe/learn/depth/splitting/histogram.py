"""Kernel: best splits of many nodes from binned responses.

The samples of a node are counted into classes x bins for one block of features at a time, small enough for the
first-level cache. One sweep over the bins of each class then scores every threshold. Classes absent from a node are
left out, which keeps small nodes cheap.

Without class weights, the kernel is compiled without their branches.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit, prange
from posepipe.learn.impurity import BIT, n_log_n_beyond, n_log_n_table

FEATURE_BLOCK = 8
"""Features counted together: 8 x 16 classes x 42 bins x 4 bytes = 22 kB."""
NODE_RANGES = 32
"""Runs of adjacent nodes, of about as many samples each: a task is one run and one block of features."""
WEIGHT_TABLE = 1 << 16
"""Weights of nodes up to it have their n log n in the table, 512 kB."""
NO_SPLIT = np.int64(-(1 << 62))
"""Score of a feature that does not separate the samples."""


@njit(cache=True)
def _code_classes(labels, starts, codes, n_classes):
    """Number the classes of each node by first appearance: codes of the samples, and classes of each node."""
    code_of = np.empty(256, np.int32)
    for node in range(len(starts) - 1):
        for label in range(256):
            code_of[label] = -1
        found = 0
        for s in range(starts[node], starts[node + 1]):
            label = labels[s]
            if code_of[label] < 0:
                code_of[label] = found
                found += 1
            codes[s] = code_of[label]
        n_classes[node] = found


@njit(cache=True, inline="always")
def _count(bins, codes, start, end, first, width, n_bins, n_classes, counts):
    """Count the samples of a node: counts (width, n_classes, n_bins), flat."""
    stride = n_classes * n_bins
    for cell in range(width * stride):
        counts[cell] = 0
    for s in range(start, end):
        row = np.int64(codes[s]) * n_bins  # cells are unsigned: signed ones could count from the end, and cost a test
        if width == FEATURE_BLOCK:  # a loop of constant length is unrolled
            for f in range(FEATURE_BLOCK):
                counts[np.uint64(row + f * stride + np.int64(bins[s, first + f]))] += 1
        else:
            for f in range(width):
                counts[np.uint64(row + f * stride + np.int64(bins[s, first + f]))] += 1


@njit(cache=True, inline="always")
def _class_terms(counts, n_bins, n_classes, n_log_n, totals, terms, weights, of_code):
    """Count the classes of a node, and tabulate n log n of both children for every count of a class on the left.

    A weighted class has w n log n there. What is missing to w n log (w n) is the same before and after a split.

    Returns
    -------
    weight : of the node; its samples, where classes have no weights
    own : sum of the terms of the node itself
    """
    place, weight, own = 0, 0, 0
    for k in range(n_classes):
        total = 0
        for b in range(n_bins):
            total += counts[k * n_bins + b]
        totals[k] = total
        if weights is None:
            factor = 1
        else:
            factor = of_code[k]
        for left in range(total + 1):
            terms[place + left] = factor * (n_log_n[left] + n_log_n[total - left])
        place += total + 1
        weight += factor * total
        own += factor * n_log_n[total]
    return weight, own


@njit(cache=True, inline="always")
def _of_weight(n, n_log_n, weights):
    """Look up n log n of the weight of a node: weighted ones may be beyond the table."""
    if weights is None:
        return n_log_n[n]
    return n_log_n_beyond(n, n_log_n)


@njit(cache=True, inline="always")
def _sweep(counts, first_cell, n_bins, n_classes, totals, weight, terms, n_log_n, weights, of_code, scratch):
    """Best threshold of one feature: (sum of n_c log n_c - n log n over both children, its bin).

    Maximising that sum maximises the information gain, because the term of the parent is constant. Only bins that hold
    samples are thresholds: an empty one repeats the threshold before it. One class is swept after the other. Where
    classes are weighted, n is a weight.
    """
    used, n_left, weight_left, scores = scratch
    for b in range(n_bins):
        n_left[b] = 0
        scores[b] = 0
        if weights is not None:
            weight_left[b] = 0
    for k in range(n_classes):
        row = first_cell + k * n_bins
        for b in range(n_bins):
            n_left[b] += counts[np.uint64(row + b)]
    n_used = 0
    for b in range(n_bins):  # without a branch
        used[n_used] = b
        n_used += n_left[b] != 0
    place = 0
    for k in range(n_classes):
        row = first_cell + k * n_bins
        at = place
        for j in range(n_used - 1):  # beyond the last bin in use, nothing is left
            at += counts[np.uint64(row + used[j])]
            scores[j] += terms[np.uint64(at)]
            if weights is not None:
                weight_left[j] += of_code[k] * (at - place)
        place += totals[k] + 1
    best_score, best_bin, left = NO_SPLIT, -1, 0
    for j in range(n_used - 1):
        left = left + n_left[used[j]] if weights is None else weight_left[j]
        score = scores[j] - _of_weight(left, n_log_n, weights) - _of_weight(weight - left, n_log_n, weights)
        if score > best_score:
            best_score, best_bin = score, used[j]
    return best_score, best_bin


@njit(cache=True, parallel=True)
def _block_best_splits(bins, samples, n_classes, starts, ranges, n_bins, n_log_n, weights, out):
    labels, codes = samples
    gains, features, best_bins = out
    n_features, n_blocks, n_ranges = bins.shape[1], gains.shape[1], len(ranges) - 1
    max_classes, max_samples = 0, 0
    for node in range(len(starts) - 1):
        max_classes = max(max_classes, n_classes[node])
        max_samples = max(max_samples, starts[node + 1] - starts[node])
    for task in prange(n_blocks * n_ranges):  # each task writes its own cells of the outputs
        block, part = task // n_ranges, task % n_ranges
        first = block * FEATURE_BLOCK
        width = min(FEATURE_BLOCK, n_features - first)
        counts = np.empty(width * max_classes * n_bins, np.int32)
        terms, totals = np.empty(max_samples + max_classes, np.int64), np.empty(max_classes, np.int32)
        of_code = np.empty(max_classes, np.int64)
        used, n_left = np.empty(n_bins, np.int32), np.empty(n_bins, np.int32)
        scratch = used, n_left, np.empty(n_bins, np.int64), np.empty(n_bins, np.int64)
        for node in range(ranges[part], ranges[part + 1]):
            start, end, classes = starts[node], starts[node + 1], np.int64(n_classes[node])
            _count(bins, codes, start, end, first, width, n_bins, classes, counts)
            if weights is not None:
                for s in range(start, end):
                    of_code[codes[s]] = weights[labels[s]]
            weight, own = _class_terms(counts, n_bins, classes, n_log_n, totals, terms, weights, of_code)
            best_score, best_feature, best_bin = NO_SPLIT, -1, -1
            for f in range(width):
                first_cell = f * classes * n_bins
                score, b = _sweep(
                    counts,
                    first_cell,
                    n_bins,
                    classes,
                    totals,
                    weight,
                    terms,
                    n_log_n,
                    weights,
                    of_code,
                    scratch,
                )
                if score > best_score:  # ties go to the first feature
                    best_score, best_feature, best_bin = score, first + f, b
            gains[node, block] = best_score - own + _of_weight(weight, n_log_n, weights)
            features[node, block] = best_feature
            best_bins[node, block] = best_bin


def best_splits(
    bins: np.ndarray, labels: np.ndarray, starts: np.ndarray, n_bins: int, class_weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the feature and threshold bin of maximum information gain for each node.

    Parameters
    ----------
    bins : uint8 (N, F), the bin of every response; samples of one node are adjacent
    labels : uint8 (N,), class of every sample
    starts : int64 (M + 1,), first sample of every node, then N
    n_bins : int, bins are 0..n_bins - 1
    class_weights : int64 (C,), of a sample of each class; None = 1 each

    Returns
    -------
    gain : float64 (M,), bits; negative infinity where no split separates the samples
    feature : int32 (M,), column of ``bins``; ties go to the first
    threshold_bin : int32 (M,); bins up to it go to the first child

    References
    ----------
    Gain: Quinlan 1986. Naive twin: tests/reference/learn/histogram.py
    """
    n_nodes, n_blocks = len(starts) - 1, -(-bins.shape[1] // FEATURE_BLOCK)
    sizes = np.diff(starts)
    largest = int(sizes.max(initial=1))
    n_log_n = n_log_n_table(largest if class_weights is None else max(largest, WEIGHT_TABLE))
    codes, n_classes = np.empty(len(labels), np.uint8), np.empty(n_nodes, np.int32)
    _code_classes(labels, starts, codes, n_classes)
    gains = np.empty((n_nodes, n_blocks), np.int64)
    features, best_bins = np.empty((n_nodes, n_blocks), np.int32), np.empty((n_nodes, n_blocks), np.int32)
    ranges = np.searchsorted(starts[:-1], np.linspace(0, starts[-1], NODE_RANGES + 1)[1:-1])
    ranges = np.concatenate([[0], ranges, [n_nodes]])
    if class_weights is not None:
        class_weights = np.array(class_weights, np.int64)  # from another process they come readonly
    out = gains, features, best_bins
    _block_best_splits(bins, (labels, codes), n_classes, starts, ranges, n_bins, n_log_n, class_weights, out)
    rows = np.arange(n_nodes)
    block = gains.argmax(axis=1)  # the first maximum, so ties go to the first feature
    feature, threshold_bin = features[rows, block], best_bins[rows, block]
    weight = sizes if class_weights is None else _weight_of_nodes(class_weights[labels], starts)
    gain = gains[rows, block] / np.maximum(weight, 1) / BIT
    return np.where(threshold_bin >= 0, gain, -np.inf), feature, threshold_bin


def _weight_of_nodes(weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Add up the weights of the samples of each node: int64 (M,)."""
    up_to = np.concatenate([np.zeros(1, np.int64), np.cumsum(weights)])
    return np.diff(up_to[starts])
