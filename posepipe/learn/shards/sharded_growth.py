"""A tree grown on shards in other processes, level by level: the same tree, bit for bit, as on one machine.

This process holds the nodes and no samples. Each level is two exchanges: shards tell their samples of every open node,
which gives the splits, and send their samples down, which gives the class counts of the next level.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from posepipe.learn.class_weights import weights_of
from posepipe.learn.depth.splitting.pixel_sampling import sample_pixels
from posepipe.learn.depth.splitting.responses import DepthResponses
from posepipe.learn.depth.tree_frames import TreeFrames
from posepipe.learn.growing import Growth, GrowthRules, Splits, record_level
from posepipe.learn.replay import splits_of_level
from posepipe.learn.shards.node_counts import splits_of_bins, splits_of_histograms
from posepipe.learn.shards.pixel_shard import (
    NodeRequest,
    add_class_counts,
    class_counts,
    hold,
    read_shard,
    root_node,
    send_down,
    tell_samples,
)

SHARDS_PER_WORKER = 2
"""More than one, so that the shards of a lost worker go to several others."""
BATCH_SAMPLES = 65_536
"""Samples, over all shards, whose bins are in memory at once where they meet: 33 MB for 500 features."""
HISTOGRAM_BYTES = 64_000_000
"""Histograms of one shard that are in memory at once."""


class Workers(Protocol):
    """Processes that compute. Results stay with them, and one that is lost is computed again from its arguments."""

    @property
    def count(self) -> int:
        """Number of workers."""

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Start ``function(*args)``; arguments may be handles of earlier results, also in lists. Returns a handle."""

    def submit_reporting(self, function: Callable[..., Any], *args: Any, on_progress: Callable[[int], None]) -> Any:
        """Start ``function(*args, report)``; what it reports reaches ``on_progress`` in this process, counted once."""

    def result(self, handle: Any) -> Any:
        """Wait for a result and fetch it; raises what the function raised."""


class ShardedGrower:
    """`posepipe.learn.depth.train_forest.TreeGrower` with its samples in other processes.

    Parameters
    ----------
    frames : TreeFrames, pickled into the workers
    workers : Workers
    on_frame : called after every frame that is read

    Raises
    ------
    ValueError
        When the frames show no person.
    """

    def __init__(self, frames: TreeFrames, workers: Workers, on_frame: Callable[[], object] = lambda: None) -> None:
        self._workers = workers
        no_samples = sample_pixels((), 1, (), may_lack_people=True)
        self._responses = DepthResponses(no_samples, frames.parameters.offsets)  # draws candidates, knows the bins

        def on_frames(count: int) -> None:
            for _ in range(count):
                on_frame()

        self._shards = [
            workers.submit_reporting(read_shard, shard, on_progress=on_frames)
            for shard in frames.split(SHARDS_PER_WORKER * workers.count)
        ]
        self._put(None)
        if not self._counts[:, 1:].any():
            raise ValueError("the training frames show no person: every label is 0; check the dataset's labels")
        self._n_samples = int(self._counts.sum())
        self._class_weights = weights_of(frames.parameters.class_weight, self._counts[0])

    @classmethod
    def read(cls, workers: Workers, frames: TreeFrames, on_frame: Callable[[], object]) -> ShardedGrower:
        """Let workers read the frames of a tree; with its first argument a `MakeGrower`."""
        return cls(frames, workers, on_frame)

    def __len__(self) -> int:
        return self._n_samples

    def start(self, growth: Growth | None) -> Growth:
        """Put all samples into the root, or send them down the levels of a growth."""
        levels = range(0) if growth is None else range(growth.level)
        growth = growth or Growth(np.zeros(0, np.int32))
        growth.order = np.zeros(0, np.int32)
        for level in levels:
            self._put(splits_of_level(growth, level))
        self._describe_nodes(growth)
        return growth

    def grow_level(self, growth: Growth, rules: GrowthRules, seed: tuple[int, ...]) -> float:
        """Split every open node or make it a leaf; see `posepipe.learn.growing.grow_level`."""
        rng = np.random.default_rng([*seed, growth.level])
        sizes = self._counts.sum(axis=1)
        eligible = (sizes >= rules.min_samples) & (growth.level < rules.max_depth)
        splits = self._best_splits(np.flatnonzero(eligible), rules, rng)
        split = np.zeros(len(sizes), bool)
        split[eligible] = rules.accept(splits.gain, growth.open_nodes(eligible))
        chosen = splits.of(split[eligible])
        leaves = self._counts[~split]
        record_level(growth, split, chosen, leaves if self._class_weights is None else leaves * self._class_weights)
        used, feature = np.unique(chosen.feature, return_inverse=True)
        self._put((split, chosen._replace(feature=feature.astype(np.int32), features=chosen.features[used])))
        self._describe_nodes(growth)
        growth.level += 1
        return float(np.average(chosen.gain, weights=sizes[split])) if split.any() else 0.0

    def _put(self, level: tuple[np.ndarray, Splits] | None) -> None:
        """Put the samples of all shards into the root, or send them down a level; then count their classes."""
        submit = self._workers.submit
        if level is None:
            self._nodes = [submit(root_node, shard) for shard in self._shards]
        else:
            splits = submit(hold, level)  # sent once, and not with every shard
            self._nodes = [submit(send_down, *pair, splits) for pair in zip(self._shards, self._nodes, strict=True)]
        counts = [submit(class_counts, *pair) for pair in zip(self._shards, self._nodes, strict=True)]
        self._counts, sizes = self._workers.result(submit(add_class_counts, *counts))
        self._before = np.cumsum(sizes, axis=0) - sizes  # int64 (S, M), samples of a node in the shards before each

    def _describe_nodes(self, growth: Growth) -> None:
        """Give the open nodes of a growth their places, and no samples."""
        growth.ends = self._counts.sum(axis=1).cumsum()
        growth.starts = growth.ends - self._counts.sum(axis=1)

    def _best_splits(self, nodes: np.ndarray, rules: GrowthRules, rng: np.random.Generator) -> Splits:
        """Best split of each of some open nodes, int (M,)."""
        candidates = self._responses.draw_features(rng, rules.candidates)
        gain, feature = np.empty(len(self._counts)), np.empty(len(self._counts), np.int32)
        threshold_bin = np.empty(len(self._counts), np.int32)
        waiting: deque[tuple[np.ndarray, Any]] = deque()
        batches = self._batches(nodes, rules)
        while waiting or batches:
            while batches and len(waiting) < 2 * self._workers.count:  # bounds what is in memory between the workers
                batch, as_histograms = batches.pop()
                request = NodeRequest(batch, candidates, rules.split_samples, as_histograms)
                waiting.append((batch, self._splits_of_batch(request)))
            batch, found = waiting.popleft()
            gain[batch], feature[batch], threshold_bin[batch] = self._workers.result(found)
        threshold = self._responses.threshold(np.maximum(threshold_bin[nodes], 0))
        return Splits(gain[nodes], feature[nodes], threshold, np.full(len(nodes), 2, np.int32), candidates)

    def _splits_of_batch(self, request: NodeRequest) -> Any:
        """Handle of the best splits of a batch of nodes: counted on every shard, added in one place."""
        sizes = self._counts[request.nodes].sum(axis=1)
        told = [
            self._workers.submit(tell_samples, shard, nodes, request, sizes, before[request.nodes])
            for shard, nodes, before in zip(self._shards, self._nodes, self._before, strict=True)
        ]
        if request.as_histograms:
            return self._workers.submit(splits_of_histograms, told, self._class_weights)
        return self._workers.submit(splits_of_bins, told, self._responses.n_bins, self._class_weights)

    def _batches(self, nodes: np.ndarray, rules: GrowthRules) -> list[tuple[np.ndarray, bool]]:
        """Batches of nodes, and whether they are told as histograms: where these take less room than bins."""
        told = np.minimum(self._counts.sum(axis=1), rules.split_samples)
        histogram = self._responses.n_bins * self._counts.shape[1] * np.min_scalar_type(rules.split_samples).itemsize
        large = told[nodes] > len(self._shards) * histogram
        each = max(1, HISTOGRAM_BYTES // (histogram * rules.candidates))
        batches = [(batch, True) for batch in _cut(nodes[large], np.ones(large.sum(), np.int64), each)]
        return batches + [(batch, False) for batch in _cut(nodes[~large], told[nodes[~large]], BATCH_SAMPLES)]


def _cut(nodes: np.ndarray, sizes: np.ndarray, limit: int) -> Iterator[np.ndarray]:
    """Cut nodes into groups of about ``limit`` in size."""
    if len(nodes):
        group = (np.cumsum(sizes) - 1) // limit
        yield from np.split(nodes, np.flatnonzero(np.diff(group)) + 1)
