"""Growth: a planted tree is found, the stop rules hold, and nothing but the seed decides."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.learn.depth.splitting.binned_splits import FEATURE_BLOCK, BinnedSplits
from posepipe.learn.depth.splitting.responses import DepthResponses, OffsetRange
from posepipe.learn.growing import GrowthRules, OpenNodes, finish, grow_level, start_growth
from posepipe.learn.replay import replay
from posepipe.learn.tree import LEAF, Tree
from tests.support import random_inputs

SEED = (5, 0)
EVERY_COLUMN = GrowthRules(max_depth=10, candidates=64, min_gain=1e-6, min_samples=2, split_samples=10_000)


@dataclass
class Columns:
    """Responses that are columns of a table of bins: a feature is the number of a column."""

    table: np.ndarray  #: uint8 (N, F)
    n_bins: int = 16

    def __len__(self) -> int:
        return len(self.table)

    def draw_features(self, rng, count):
        return rng.integers(self.table.shape[1], size=(count, 1))

    def fill_bins(self, samples, features, out, rows):
        out[rows] = self.table[samples][:, features[:, 0]]

    def threshold(self, threshold_bin):
        return (threshold_bin + 0.5).astype(np.float32)

    def go_right(self, samples, features, thresholds):
        return self.table[samples, features[:, 0]] > thresholds


class InOrder(Columns):
    """Columns that are all tried, in their order."""

    def draw_features(self, rng, count):
        return np.arange(count)[:, None]


def random_columns(seed: int, rows: int = 600, columns: int = 8) -> Columns:
    return Columns(np.random.default_rng(seed).integers(0, 16, (rows, columns), dtype=np.uint8))


def grow(responses, labels, n_classes, rules=EVERY_COLUMN, seed=SEED, on_level=lambda growth: None):
    finder = BinnedSplits(responses, labels, n_classes)
    growth = start_growth(len(finder))
    while not growth.finished:
        grow_level(growth, finder, rules, seed)
        on_level(growth)
    return growth


def walk(tree: Tree, features: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The nodes (N, depth + 1) that each row of a table passes, its leaf repeated at the end."""
    path = np.zeros((len(table), tree.depth() + 1), int)
    for n, row in enumerate(table):
        node = 0
        for level in range(path.shape[1]):
            path[n, level] = node
            if tree.feature[node] != LEAF:
                node = tree.first_child[node] + (row[features[tree.feature[node], 0]] > tree.threshold[node])
    return path


def counts_of(tree: Tree, features: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Samples that pass each node."""
    path = walk(tree, features, table)
    passed = np.zeros(tree.n_nodes, int)
    for nodes in path:
        passed[np.unique(nodes)] += 1
    return passed


def same_tree(one, other) -> bool:
    (a, features_a), (b, features_b) = one, other
    pairs = [(getattr(a, name), getattr(b, name)) for name in Tree.__dataclass_fields__]
    return all(np.array_equal(x, y) for x, y in [*pairs, (features_a, features_b)])


def test_features_are_compared_across_blocks():
    """A table of more columns than are binned together; the first of two equal ones wins."""
    table = np.random.default_rng(8).integers(0, 16, (400, 3 * FEATURE_BLOCK), dtype=np.uint8)
    table[:, 2 * FEATURE_BLOCK + 5] = table[:, FEATURE_BLOCK + 9]
    labels = (table[:, FEATURE_BLOCK + 9] > 6).astype(np.uint8)
    finder = BinnedSplits(InOrder(table), labels, 2)
    nodes = OpenNodes(np.arange(400, dtype=np.int32), None, np.array([0, 130]), np.array([130, 400]))
    rules = replace(EVERY_COLUMN, candidates=table.shape[1])
    splits = finder.best_splits(nodes, rules, np.random.default_rng(0))
    assert splits.feature.tolist() == [FEATURE_BLOCK + 9] * 2
    assert splits.threshold.tolist() == [6.5, 6.5]


def test_a_large_node_is_split_on_evenly_spaced_samples():
    table = np.tile(np.arange(10, dtype=np.uint8)[:, None], (3, 1))
    labels = np.zeros(30, np.uint8)
    labels[[1, 3, 4, 15, 25]] = 1  # the first node is split on samples 0, 2, 5, 7, the second on 10, 15, 20, 25
    nodes = OpenNodes(np.arange(30, dtype=np.int32), None, np.array([0, 10]), np.array([10, 30]))
    rules = replace(EVERY_COLUMN, candidates=1, split_samples=4)
    splits = BinnedSplits(InOrder(table), labels, 2).best_splits(nodes, rules, np.random.default_rng(0))
    assert splits.gain.tolist() == [0, 1]


def test_a_planted_tree_is_found():
    # left: class 0; right: class 1 below bin 4 of column 5, class 2 above
    responses = random_columns(1)
    table = responses.table
    labels = np.where(table[:, 3] <= 7, 0, np.where(table[:, 5] <= 3, 1, 2)).astype(np.uint8)
    tree, features = finish(grow(responses, labels, 3))
    assert (tree.n_nodes, tree.depth()) == (5, 2)
    assert features[tree.feature[0], 0] == 3
    assert tree.threshold[0] == 7.5
    right = tree.first_child[0] + 1
    assert features[tree.feature[right], 0] == 5
    assert tree.threshold[right] == 3.5
    leaves = tree.first_child[walk(tree, features, table)[:, -1]]
    np.testing.assert_array_equal(tree.leaf_statistics[leaves] > 0, np.eye(3, dtype=bool)[labels])


def test_leaves_count_their_samples():
    responses = random_columns(2)
    labels = np.random.default_rng(3).integers(0, 4, 600, dtype=np.uint8)
    tree, features = finish(grow(responses, labels, 5, GrowthRules(max_depth=4, candidates=64, min_samples=20)))
    leaves = tree.first_child[walk(tree, features, responses.table)[:, -1]]
    for leaf in range(tree.n_leaves):
        np.testing.assert_array_equal(tree.leaf_statistics[leaf], np.bincount(labels[leaves == leaf], minlength=5))
    assert (tree.leaf_statistics[:, 4] == 0).all()  # a class without samples keeps its column


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(2, 60))
@settings(max_examples=20)
def test_growth_keeps_its_rules_and_loses_no_sample(seed, max_depth, min_samples):
    responses = random_columns(seed, rows=200)
    labels = np.random.default_rng(seed).integers(0, 3, 200, dtype=np.uint8)
    rules = GrowthRules(max_depth=max_depth, candidates=20, min_gain=0.02, min_samples=min_samples)
    tree, features = finish(grow(responses, labels, 3, rules))
    tree.check(len(features))
    passed = counts_of(tree, features, responses.table)
    inner = np.flatnonzero(tree.feature != LEAF)
    assert passed[0] == 200
    np.testing.assert_array_equal(passed[tree.first_child[inner]] + passed[tree.first_child[inner] + 1], passed[inner])
    assert (passed > 0).all()
    assert (passed[inner] >= min_samples).all()
    assert tree.depth() <= max_depth
    np.testing.assert_array_equal(tree.node_statistics().sum(1), passed)


def entropy_of(labels) -> float:
    share = np.bincount(labels) / len(labels)
    return float(-(share[share > 0] * np.log2(share[share > 0])).sum())


@pytest.mark.parametrize("min_gain", [0.01, 0.1])
def test_every_split_has_at_least_the_minimum_gain(min_gain):
    responses = random_columns(4)
    noise = np.random.default_rng(5).random(600) < 0.2
    labels = np.where(noise, 1 - (responses.table[:, 0] > 8), responses.table[:, 0] > 8).astype(np.uint8)
    rules = GrowthRules(candidates=64, min_gain=min_gain, min_samples=2)
    tree, features = finish(grow(responses, labels, 2, rules))
    path = walk(tree, features, responses.table)
    assert tree.n_nodes > 1
    for node in np.flatnonzero(tree.feature != LEAF):
        own = (path == node).any(1)
        children = [labels[(path == tree.first_child[node] + side).any(1)] for side in (0, 1)]
        rest = sum(len(child) * entropy_of(child) for child in children) / own.sum()
        assert entropy_of(labels[own]) - rest >= min_gain - 1e-5


def test_a_minimum_gain_that_no_split_reaches_leaves_the_root():
    responses = random_columns(6)
    labels = (responses.table[:, 0] > 7).astype(np.uint8)
    tree, features = finish(grow(responses, labels, 2, GrowthRules(candidates=64, min_gain=1.1)))
    assert (tree.n_nodes, len(features)) == (1, 0)
    np.testing.assert_array_equal(tree.leaf_statistics[0], np.bincount(labels))


def test_depth_0_is_a_single_leaf():
    responses = random_columns(7)
    labels = (responses.table[:, 0] > 7).astype(np.uint8)
    assert finish(grow(responses, labels, 2, GrowthRules(max_depth=0)))[0].n_nodes == 1


def test_a_node_of_exactly_the_minimum_samples_is_split():
    table = np.array([[0]] * 5 + [[9]] * 5, np.uint8)
    labels = np.array([0] * 5 + [1] * 5, np.uint8)
    split, kept = (GrowthRules(candidates=4, min_samples=n) for n in (10, 11))
    assert finish(grow(Columns(table), labels, 2, split))[0].n_nodes == 3
    assert finish(grow(Columns(table), labels, 2, kept))[0].n_nodes == 1


def test_a_large_node_finds_its_split_on_a_subsample():
    responses = random_columns(8, rows=5000)
    labels = (responses.table[:, 2] > 9).astype(np.uint8)
    rules = GrowthRules(candidates=64, min_samples=2, split_samples=400)
    tree, features = finish(grow(responses, labels, 2, rules))
    assert tree.n_nodes == 3
    assert features[tree.feature[0], 0] == 2
    assert tree.threshold[0] == 9.5


def test_a_node_the_size_of_many_batches_is_split_as_one():
    responses = random_columns(9, rows=40_000, columns=4)
    labels = (responses.table[:, 1] > 4).astype(np.uint8)
    rules = GrowthRules(candidates=8, min_samples=2, split_samples=100_000)
    tree, features = finish(grow(responses, labels, 2, rules))
    assert tree.n_nodes == 3
    assert features[tree.feature[0], 0] == 1


def test_the_seed_alone_decides_the_tree():
    responses = random_columns(10, columns=40)
    labels = np.random.default_rng(11).integers(0, 4, 600, dtype=np.uint8)
    rules = GrowthRules(max_depth=5, candidates=10, min_gain=0.001, min_samples=10)
    first, again = (finish(grow(responses, labels, 4, rules)) for _ in range(2))
    other = finish(grow(responses, labels, 4, rules, seed=(6, 0)))
    assert same_tree(first, again)
    assert not same_tree(first, other)


def test_one_thread_grows_the_tree_of_many():
    rng = np.random.default_rng(12)
    samples = random_inputs.pixel_samples(rng, 30, 2000)
    rules = GrowthRules(max_depth=6, candidates=40, min_gain=0.001, min_samples=10)
    trees = []
    threads = numba.get_num_threads()
    for count in (1, threads):
        numba.set_num_threads(count)
        try:
            trees.append(finish(grow(DepthResponses(samples, OffsetRange()), samples.label, 4, rules)))
        finally:
            numba.set_num_threads(threads)
    assert same_tree(*trees)
    assert trees[0][0].n_nodes > 10


def test_a_level_depends_on_the_seed_and_its_number_alone():
    responses = random_columns(13, columns=40)
    labels = np.random.default_rng(14).integers(0, 4, 600, dtype=np.uint8)
    rules = GrowthRules(max_depth=5, candidates=10, min_gain=0.001, min_samples=10)
    whole = grow(responses, labels, 4, rules)
    for broken_after in range(1, whole.level):
        growth = start_growth(600)
        for _ in range(broken_after):
            grow_level(growth, BinnedSplits(responses, labels, 4), rules, SEED)
        taken_up = deepcopy(growth)
        while not taken_up.finished:
            grow_level(taken_up, BinnedSplits(responses, labels, 4), rules, SEED)
        assert same_tree(finish(taken_up), finish(whole))


def test_a_growth_that_lost_its_samples_goes_on_to_the_same_tree():
    labels = np.random.default_rng(18).integers(0, 4, 600, dtype=np.uint8)
    finder = BinnedSplits(random_columns(17, columns=40), labels, 4)
    rules = GrowthRules(max_depth=5, candidates=10, min_gain=0.001, min_samples=10)
    growth = start_growth(600)
    while not growth.finished:
        again = deepcopy(growth)
        again.order = np.zeros(0, np.int32)
        replay(again, finder)
        for name in ("order", "starts", "ends"):
            np.testing.assert_array_equal(getattr(again, name), getattr(growth, name))
        growth = again
        grow_level(growth, finder, rules, SEED)
    assert growth.level == 6
    whole = start_growth(600)
    while not whole.finished:
        grow_level(whole, finder, rules, SEED)
    assert same_tree(finish(growth), finish(whole))


def test_every_level_draws_candidates_of_its_own():
    drawn = []

    class Recorded(Columns):
        def draw_features(self, rng, count):
            drawn.append(rng.random(4).tolist())
            return super().draw_features(rng, count)

    labels = np.random.default_rng(19).integers(0, 4, 600, dtype=np.uint8)
    grow(Recorded(random_columns(20).table), labels, 4, GrowthRules(max_depth=5, candidates=10, min_samples=10))
    assert len(drawn) > 3
    assert len({tuple(numbers) for numbers in drawn}) == len(drawn)


def test_open_samples_stay_together_by_node_and_in_rising_order():
    responses = random_columns(15)
    labels = np.random.default_rng(16).integers(0, 4, 600, dtype=np.uint8)

    def check(growth):
        assert len(np.unique(growth.order)) == len(growth.order)
        assert (growth.ends > growth.starts).all()
        np.testing.assert_array_equal(growth.starts[1:], growth.ends[:-1])
        for start, end in zip(growth.starts, growth.ends, strict=True):
            assert (np.diff(growth.order[start:end]) > 0).all()

    grow(responses, labels, 4, GrowthRules(max_depth=5, candidates=10, min_samples=10), on_level=check)


def test_the_mean_gain_of_a_perfect_split_is_the_entropy():
    table = np.array([[0]] * 50 + [[9]] * 50, np.uint8)
    labels = np.array([0] * 50 + [1] * 50, np.uint8)
    growth = start_growth(100)
    assert grow_level(growth, BinnedSplits(Columns(table), labels, 2), EVERY_COLUMN, SEED) == pytest.approx(1, abs=1e-5)
    assert grow_level(growth, BinnedSplits(Columns(table), labels, 2), EVERY_COLUMN, SEED) == 0


def test_no_samples_grow_no_tree():
    with pytest.raises(ValueError):
        start_growth(0)


def test_a_growth_with_open_nodes_is_no_tree_yet():
    with pytest.raises(ValueError):
        finish(start_growth(10))
