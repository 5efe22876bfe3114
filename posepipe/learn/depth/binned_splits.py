"""Split finding on histograms: responses are binned, and counts of bins x classes give the gain of every threshold."""

from __future__ import annotations

import numpy as np

from posepipe.learn.depth.histogram import best_splits
from posepipe.learn.depth.responses import Responses
from posepipe.learn.growing import GrowthRules, OpenNodes, Splits

BATCH_SAMPLES = 16_384
"""Samples whose bins are held in memory at once: 8 MB for 16,384 x 500 features."""


class BinnedSplits:
    """`SplitFinder` for many samples and features, as in depth images.

    Parameters
    ----------
    responses : Responses
    labels : uint8 (N,), class of every sample
    n_classes : int

    Raises
    ------
    ValueError
        When a label is not below ``n_classes``.
    """

    def __init__(self, responses: Responses, labels: np.ndarray, n_classes: int) -> None:
        if len(labels) and labels.max() >= n_classes:
            raise ValueError(f"labels must be below {n_classes}, the number of classes, got {labels.max()}")
        self._responses = responses
        self._labels = labels
        self._n_classes = n_classes

    def __len__(self) -> int:
        return len(self._responses)

    def best_splits(self, nodes: OpenNodes, rules: GrowthRules, rng: np.random.Generator) -> Splits:
        """Find the best split of each node of a level.

        All nodes try the same ``rules.candidates`` features, each on at most ``rules.split_samples`` samples.
        """
        candidates = self._responses.draw_features(rng, rules.candidates)
        n_nodes = len(nodes.starts)
        gain, feature, threshold_bin = np.empty(n_nodes), np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
        for batch in _batches(np.minimum(nodes.ends - nodes.starts, rules.split_samples)):
            samples, starts = _split_samples(nodes, batch, rules.split_samples)
            bins = np.empty((len(samples), len(candidates)), np.uint8)
            self._responses.fill_bins(samples, candidates, bins)
            gain[batch], feature[batch], threshold_bin[batch] = best_splits(
                bins, self._labels[samples], starts, self._responses.n_bins
            )
        threshold = self._responses.threshold(np.maximum(threshold_bin, 0))
        return Splits(gain, feature, threshold, np.full(n_nodes, 2, np.int32), candidates)

    def branches(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Child of each sample at its split: int32 (N,), 0 or 1."""
        return self._responses.go_right(samples, features, thresholds).astype(np.int32)

    def statistics(self, nodes: OpenNodes) -> np.ndarray:
        """Class counts of each node: int64 (M, C)."""
        cells = [
            k * self._n_classes + self._labels[nodes.order[start:end]].astype(np.int64)
            for k, (start, end) in enumerate(zip(nodes.starts, nodes.ends, strict=True))
        ]
        counts = np.bincount(np.concatenate([np.zeros(0, np.int64), *cells]), minlength=len(cells) * self._n_classes)
        return counts.reshape(-1, self._n_classes)


def _batches(sizes: np.ndarray) -> list[np.ndarray]:
    """Group adjacent nodes into batches of about BATCH_SAMPLES samples."""
    if len(sizes) == 0:
        return []
    batch_of = (np.cumsum(sizes) - 1) // BATCH_SAMPLES
    return np.split(np.arange(len(sizes)), np.nonzero(np.diff(batch_of))[0] + 1)


def _split_samples(nodes: OpenNodes, batch: np.ndarray, max_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples on which nodes choose their splits, evenly spaced in image order, and the first one of each node."""
    chosen = []
    for start, end in zip(nodes.starts[batch], nodes.ends[batch], strict=True):
        size = end - start
        chosen.append(
            nodes.order[start:end]
            if size <= max_samples
            else nodes.order[start + (np.arange(max_samples, dtype=np.int64) * size) // max_samples]
        )
    return np.concatenate(chosen), np.concatenate([[0], np.cumsum([len(c) for c in chosen])])
