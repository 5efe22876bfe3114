"""What shards tell of their samples adds up to what one machine counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.learn.depth.splitting.histogram import best_splits
from posepipe.learn.shards.node_counts import NodeBins, count_histograms, splits_of_bins, splits_of_histograms
from posepipe.learn.shards.pixel_shard import ranks_here

N_BINS, N_CLASSES, N_FEATURES = 6, 4, 70


def shards_of(rng, n_shards, n_nodes, most=40):
    """Binned samples of some nodes, and on which shard each lies; a node may be missing on a shard."""
    shards = []
    for _ in range(n_shards):
        sizes = rng.integers(0, most, n_nodes)
        bins = rng.integers(0, N_BINS, (sizes.sum(), N_FEATURES), dtype=np.uint8)
        labels = rng.integers(0, N_CLASSES, sizes.sum(), dtype=np.uint8)
        shards.append(NodeBins(bins, labels, sizes.astype(np.int64)))
    return shards


def whole(shards, weights=None):
    """Splits that one machine finds on the samples of all shards."""
    node = np.concatenate([np.repeat(np.arange(len(s.sizes)), s.sizes) for s in shards])
    order = np.argsort(node, kind="stable")
    bins, labels = (np.concatenate(column)[order] for column in ([s.bins for s in shards], [s.labels for s in shards]))
    starts = np.concatenate([[0], np.cumsum(np.sum([s.sizes for s in shards], axis=0))])
    return best_splits(np.ascontiguousarray(bins), labels, starts, N_BINS, weights)


@pytest.mark.parametrize("n_shards", [1, 2, 5])
@pytest.mark.parametrize("weights", [None, np.array([1024, 90_000, 7, 333])])
def test_histograms_of_shards_give_the_splits_of_one_machine(n_shards, weights):
    shards = shards_of(np.random.default_rng(n_shards), n_shards, 7)
    told = [count_histograms(shard, N_BINS, N_CLASSES, np.dtype(np.uint16)) for shard in shards]
    for found, wanted in zip(splits_of_histograms(told, weights), whole(shards, weights), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("n_shards", [1, 2, 5])
@pytest.mark.parametrize("weights", [None, np.array([1024, 90_000, 7, 333])])
def test_bins_of_shards_give_the_splits_of_one_machine(n_shards, weights):
    shards = shards_of(np.random.default_rng(n_shards), n_shards, 7)
    for found, wanted in zip(splits_of_bins(shards, N_BINS, weights), whole(shards, weights), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_equal_gains_go_to_the_first_feature_and_threshold():
    labels = np.array([0, 0, 1, 1], np.uint8)
    bins = np.array([[3, 0, 0], [3, 0, 0], [3, 4, 4], [3, 4, 4]], np.uint8)  # columns 1 and 2 are the same
    told = [count_histograms(NodeBins(bins, labels, np.array([4])), N_BINS, 2, np.dtype(np.uint8))]
    gain, feature, threshold_bin = splits_of_histograms(told)
    assert gain == pytest.approx(1)
    assert (feature, threshold_bin) == (1, 0)


def test_a_node_that_no_threshold_divides_has_no_split():
    samples = NodeBins(np.full((3, 2), 5, np.uint8), np.array([0, 1, 0], np.uint8), np.array([3]))
    gain, feature, threshold_bin = splits_of_histograms([count_histograms(samples, N_BINS, 2, np.dtype(np.uint8))])
    assert gain == -np.inf
    assert (feature, threshold_bin) == (-1, -1)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(1, 40))
def test_shards_together_choose_the_samples_of_one_machine(sizes, max_samples):
    total = sum(sizes)
    wanted = np.arange(total) if total <= max_samples else np.arange(max_samples) * total // max_samples
    before = np.cumsum(sizes) - sizes
    found = [
        first + ranks_here(total, int(first), size, max_samples) for first, size in zip(before, sizes, strict=True)
    ]
    np.testing.assert_array_equal(np.concatenate(found), wanted)
