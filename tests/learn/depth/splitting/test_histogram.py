"""The best split: seen by eye first, then planted, then what no split may do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.learn.depth.splitting.histogram import FEATURE_BLOCK, best_splits
from posepipe.learn.impurity import entropy, information_gain


def one_node(bins, labels, n_bins=8):
    bins, labels = np.array(bins, np.uint8), np.array(labels, np.uint8)
    gain, feature, threshold_bin = best_splits(bins, labels, np.array([0, len(labels)]), n_bins)
    return float(gain[0]), int(feature[0]), int(threshold_bin[0])


def test_eight_pixels_are_parted_where_the_eye_parts_them():
    first = [0, 5, 2, 7, 1, 4, 3, 6]  # says nothing of the labels
    second = [0, 1, 1, 2, 5, 5, 6, 7]  # bins up to 2 are class 3, from 5 on class 9
    labels = [3, 3, 3, 3, 9, 9, 9, 9]
    assert one_node(np.transpose([first, second]), labels) == (1.0, 1, 2)


@pytest.mark.parametrize("planted", [0, FEATURE_BLOCK - 1, FEATURE_BLOCK, 2 * FEATURE_BLOCK + 3])
def test_a_planted_split_is_found_in_any_block_of_features(planted):
    rng = np.random.default_rng(planted)
    bins = rng.integers(0, 42, (500, 3 * FEATURE_BLOCK), dtype=np.uint8)
    labels = np.where(bins[:, planted] > 17, 4, 30).astype(np.uint8)
    gain, feature, threshold_bin = one_node(bins, labels, 42)
    assert (feature, threshold_bin) == (planted, 17)
    assert gain == pytest.approx(entropy(np.bincount(labels)), abs=1e-6)


def test_ties_go_to_the_first_feature():
    column = np.array([0, 0, 1, 1])
    bins = np.tile(column[:, None], (1, 2 * FEATURE_BLOCK))
    assert one_node(bins, column)[1] == 0
    bins[:, :FEATURE_BLOCK] = 3
    assert one_node(bins, column)[1] == FEATURE_BLOCK


def test_the_last_threshold_may_be_the_best():
    assert one_node([[6], [6], [6], [7]], [1, 1, 1, 2])[2] == 6


def test_samples_of_equal_features_are_never_separated():
    assert one_node([[3, 5], [3, 5], [3, 5]], [1, 2, 3])[0] == -np.inf


def test_a_node_of_one_sample_or_none_is_never_parted():
    bins, labels = np.array([[1], [5]], np.uint8), np.array([1, 2], np.uint8)
    gain, _, _ = best_splits(bins, labels, np.array([0, 1, 1, 2]), 8)
    assert gain.tolist() == [-np.inf, -np.inf, -np.inf]


def test_splitting_a_pure_node_gains_nothing():
    assert one_node([[1], [5], [7]], [4, 4, 4])[0] == 0


def test_every_class_code_of_a_byte_may_occur():
    codes = np.arange(256)
    gain, _, threshold_bin = one_node((codes // 128)[:, None], codes, 2)
    assert gain == pytest.approx(1.0, abs=1e-5)
    assert threshold_bin == 0


def test_equal_weights_change_no_split_and_no_gain():
    rng = np.random.default_rng(3)
    bins, labels = rng.integers(0, 42, (3000, 20), dtype=np.uint8), rng.integers(0, 32, 3000, dtype=np.uint8)
    starts = np.array([0, 700, 701, 3000])
    without = best_splits(bins, labels, starts, 42)
    for weight in (1, 1024, 10**6):  # of nodes within the table and far beyond it
        gain, *places = best_splits(bins, labels, starts, 42, np.full(32, weight))
        np.testing.assert_allclose(gain, without[0], atol=2e-6)
        for one, other in zip(places, without[1:], strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_rare_class_of_great_weight_decides_the_split():
    labels = np.array([0] * 6 + [1] * 6 + [2])
    bins = np.stack([labels == 1, labels == 2], axis=1)
    weights = np.array([10, 10, 1000])
    assert best_splits(bins.view(np.uint8), labels.astype(np.uint8), np.array([0, 13]), 2)[1] == 0
    gain, feature, _ = best_splits(bins.view(np.uint8), labels.astype(np.uint8), np.array([0, 13]), 2, weights)
    assert feature == 1
    assert gain[0] == pytest.approx(entropy(np.array([120, 1000])), abs=1e-6)


@given(st.integers(0, 10_000))
def test_the_gain_is_that_of_the_split_and_counts_add_up(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 40, 6)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    bins = rng.integers(0, 6, (starts[-1], 5), dtype=np.uint8)
    labels = rng.integers(0, 4, starts[-1], dtype=np.uint8)
    gain, feature, threshold_bin = best_splits(bins, labels, starts, 6)
    for node in np.flatnonzero(gain > -np.inf):
        own = slice(starts[node], starts[node + 1])
        left = bins[own, feature[node]] <= threshold_bin[node]
        children = np.array([np.bincount(labels[own][side], minlength=4) for side in (left, ~left)])
        parent = np.bincount(labels[own], minlength=4)
        assert children.sum(1).min() > 0
        np.testing.assert_array_equal(children.sum(0), parent)
        assert gain[node] == pytest.approx(information_gain(parent, children), abs=1e-5)


def test_nodes_are_split_as_if_each_stood_alone():
    rng = np.random.default_rng(1)
    starts = np.array([0, 30, 31, 90, 200])
    bins, labels = rng.integers(0, 9, (200, 20), dtype=np.uint8), rng.integers(0, 5, 200, dtype=np.uint8)
    together = best_splits(bins, labels, starts, 9)
    for node in range(4):
        own = slice(starts[node], starts[node + 1])
        alone = best_splits(bins[own], labels[own], np.array([0, starts[node + 1] - starts[node]]), 9)
        assert [part[node] for part in together] == [part[0] for part in alone]


def test_the_order_of_samples_changes_no_split():
    rng = np.random.default_rng(2)
    bins, labels = rng.integers(0, 42, (1000, 20), dtype=np.uint8), rng.integers(0, 32, 1000, dtype=np.uint8)
    order = rng.permutation(1000)
    assert one_node(bins, labels, 42) == one_node(bins[order], labels[order], 42)
