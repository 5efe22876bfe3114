"""Split finding on histograms: responses are binned, and counts of bins x classes give the gain of every threshold."""

from __future__ import annotations

import numpy as np

from posepipe.learn.depth.splitting.histogram import best_splits
from posepipe.learn.depth.splitting.responses import Responses
from posepipe.learn.growing import GrowthRules, OpenNodes, Splits

FEATURE_BLOCK = 64
"""Features that are binned together: the bins of a sample fill one line of the cache."""
BATCH_SAMPLES = 1 << 20
"""Samples whose bins are held in memory at once: 67 MB for 64 features. Few batches read the images few times."""


class BinnedSplits:
    """`SplitFinder` for many samples and features, as in depth images.

    Parameters
    ----------
    responses : Responses
    labels : uint8 (N,), class of every sample
    n_classes : int
    batch_samples : int, samples whose bins are held in memory at once; splits do not depend on it
    class_weights : int64 (C,), of a sample of each class; None = 1 each

    Raises
    ------
    ValueError
        When a label is not below ``n_classes``.
    """

    def __init__(
        self,
        responses: Responses,
        labels: np.ndarray,
        n_classes: int,
        batch_samples: int = BATCH_SAMPLES,
        class_weights: np.ndarray | None = None,
    ) -> None:
        if len(labels) and labels.max() >= n_classes:
            raise ValueError(f"labels must be below {n_classes}, the number of classes, got {labels.max()}")
        self._responses = responses
        self._labels = labels
        self._n_classes = n_classes
        self._batch_samples = batch_samples
        self._class_weights = class_weights

    def __len__(self) -> int:
        return len(self._responses)

    def best_splits(self, nodes: OpenNodes, rules: GrowthRules, rng: np.random.Generator) -> Splits:
        """Find the best split of each node of a level.

        All nodes try the same ``rules.candidates`` features, each on at most ``rules.split_samples`` samples.
        """
        candidates = self._responses.draw_features(rng, rules.candidates)
        n_nodes = len(nodes.starts)
        gain, feature, threshold_bin = np.empty(n_nodes), np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
        for batch in _batches(np.minimum(nodes.ends - nodes.starts, rules.split_samples), self._batch_samples):
            samples, starts = _split_samples(nodes, batch, rules.split_samples)
            gain[batch], feature[batch], threshold_bin[batch] = self._batch_splits(samples, starts, candidates)
        threshold = self._responses.threshold(np.maximum(threshold_bin, 0))
        return Splits(gain, feature, threshold, np.full(n_nodes, 2, np.int32), candidates)

    def _batch_splits(
        self, samples: np.ndarray, starts: np.ndarray, candidates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gain, feature and threshold bin of nodes, block by block of the candidates; ties go to the first feature."""
        labels = self._labels[samples]
        ascending, rows = _sort_samples(samples, len(self))
        n_nodes = len(starts) - 1
        best = np.full(n_nodes, -np.inf), np.zeros(n_nodes, np.int32), np.full(n_nodes, -1, np.int32)
        for first in range(0, len(candidates), FEATURE_BLOCK):
            block = candidates[first : first + FEATURE_BLOCK]
            bins = np.empty((len(samples), len(block)), np.uint8)
            self._responses.fill_bins(ascending, block, bins, rows)
            gain, column, threshold_bin = best_splits(bins, labels, starts, self._responses.n_bins, self._class_weights)
            better = gain > best[0]
            for kept, found in zip(best, (gain, first + column, threshold_bin), strict=True):
                kept[better] = found[better]
        return best

    def branches(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Child of each sample at its split: int32 (N,), 0 or 1."""
        return self._responses.go_right(samples, features, thresholds).astype(np.int32)

    def statistics(self, nodes: OpenNodes) -> np.ndarray:
        """Class counts of each node, times their weights: int64 (M, C)."""
        sizes = nodes.ends - nodes.starts
        labels = self._labels[nodes.order[_runs(nodes.starts, sizes)]]
        cells = np.repeat(np.arange(len(sizes)) * self._n_classes, sizes) + labels
        counts = np.bincount(cells, minlength=len(sizes) * self._n_classes).reshape(-1, self._n_classes)
        return counts if self._class_weights is None else counts * self._class_weights


def _batches(sizes: np.ndarray, batch_samples: int) -> list[np.ndarray]:
    """Group adjacent nodes into batches of at most some samples, or one node."""
    if len(sizes) == 0:
        return []
    batch_of = (np.cumsum(sizes) - 1) // batch_samples
    return np.split(np.arange(len(sizes)), np.nonzero(np.diff(batch_of))[0] + 1)


def _split_samples(nodes: OpenNodes, batch: np.ndarray, max_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples on which nodes choose their splits, evenly spaced in image order, and the first one of each node."""
    sizes = (nodes.ends - nodes.starts)[batch]
    counts = np.minimum(sizes, max_samples)
    rank = _runs(np.zeros(len(batch), np.int64), counts)
    places = np.repeat(nodes.starts[batch], counts) + rank * np.repeat(sizes, counts) // np.repeat(counts, counts)
    return nodes.order[places], np.concatenate([[0], np.cumsum(counts)])


def _runs(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Concatenate the ranges from each start, of each size: int64."""
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


def _sort_samples(samples: np.ndarray, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort different samples, int32 (N,), and tell the row that each had before."""
    row_of = np.full(n_samples, -1, np.int32)
    row_of[samples] = np.arange(len(samples), dtype=np.int32)
    ascending = np.flatnonzero(row_of >= 0).astype(np.int32)
    return ascending, row_of[ascending]
