"""One shard: the training pixels of some frames, what it tells of them, and where its pixels are in the tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from posepipe.learn.depth.splitting.binned_splits import BinnedSplits
from posepipe.learn.depth.splitting.responses import DepthResponses, PixelSamples
from posepipe.learn.depth.tree_frames import TreeFrames
from posepipe.learn.growing import Growth, OpenNodes, Splits, partition_samples
from posepipe.learn.shards.node_counts import NodeBins, count_histograms


class PixelShard:
    """The samples of some frames.

    Parameters
    ----------
    samples : PixelSamples
    frames : TreeFrames that they were drawn from
    """

    def __init__(self, samples: PixelSamples, frames: TreeFrames) -> None:
        self._samples = samples
        self.n_classes = frames.n_classes
        self.responses = DepthResponses(samples, frames.parameters.offsets)
        self.finder = BinnedSplits(self.responses, samples.label, frames.n_classes)

    def __len__(self) -> int:
        return len(self._samples.label)

    def __sizeof__(self) -> int:
        """Bytes of the samples: a scheduler weighs them against moving the shard."""
        s = self._samples
        image_bytes = 2 * int(s.shape.prod(axis=1, dtype=np.int64).sum())
        return image_bytes + sum(array.nbytes for array in (s.start, s.image, s.pixel, s.scale, s.label, s.frame))

    @property
    def labels(self) -> np.ndarray:
        """Class of every sample, uint8 (N,)."""
        return self._samples.label


class NodeRequest(NamedTuple):
    """Some nodes of a level, of which all shards tell their samples."""

    nodes: np.ndarray  #: int (M,), among the open nodes
    candidates: np.ndarray  #: float32 (F, 2, 2), metres
    max_samples: int  #: of a node that are told, over all shards
    as_histograms: bool


def read_shard(frames: TreeFrames, on_frames: Callable[[int], None]) -> PixelShard:
    """Read the frames of a shard; ``on_frames`` is called with 1 after each."""
    return PixelShard(frames.draw_samples(lambda: on_frames(1), may_lack_people=True), frames)


def root_node(shard: PixelShard) -> OpenNodes:
    """Put all samples of a shard into the root."""
    return OpenNodes(np.arange(len(shard), dtype=np.int32), None, np.zeros(1, np.int64), np.array([len(shard)]))


def hold(splits: tuple[np.ndarray, Splits]) -> tuple[np.ndarray, Splits]:
    """Keep the splits of a level where shards fetch them; the argument of `send_down`."""
    return splits


def send_down(shard: PixelShard, nodes: OpenNodes, splits: tuple[np.ndarray, Splits]) -> OpenNodes:
    """Send the samples of a shard to the children of the nodes that are split.

    Parameters
    ----------
    shard : PixelShard
    nodes : OpenNodes of one level, of this shard
    splits : which of them are split, bool (M,), and the Splits of these

    Returns
    -------
    OpenNodes of the next level; a node may have no sample here
    """
    growth = Growth(nodes.order, None, starts=nodes.starts, ends=nodes.ends)
    partition_samples(growth, *splits, shard.finder)
    return growth.open_nodes()


def class_counts(shard: PixelShard, nodes: OpenNodes) -> np.ndarray:
    """Count the samples of a shard by open node and class: int32 (M, C)."""
    node = np.repeat(np.arange(len(nodes.starts)), nodes.ends - nodes.starts)
    cell = node * shard.n_classes + shard.labels[nodes.order]
    counts = np.bincount(cell, minlength=len(nodes.starts) * shard.n_classes)
    return counts.reshape(-1, shard.n_classes).astype(np.int32)


def add_class_counts(*shards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add the class counts of all shards, in their order.

    Returns
    -------
    counts : int64 (M, C), of all shards
    sizes : int64 (S, M), samples of every node in each shard
    """
    sizes = np.array([counts.sum(axis=1, dtype=np.int64) for counts in shards])
    return np.array(shards).sum(axis=0, dtype=np.int64), sizes


def tell_samples(
    shard: PixelShard, nodes: OpenNodes, request: NodeRequest, sizes: np.ndarray, before: np.ndarray
) -> np.ndarray | NodeBins:
    """Tell the samples of some nodes, binned by the candidates.

    Parameters
    ----------
    shard : PixelShard
    nodes : OpenNodes of the level, of this shard
    request : NodeRequest of M nodes
    sizes : int64 (M,), samples of these nodes in all shards
    before : int64 (M,), samples of these nodes in the shards before this one

    Returns
    -------
    (M, F, B, C) histograms, or NodeBins
    """
    starts, ends = nodes.starts[request.nodes], nodes.ends[request.nodes]
    chosen = [
        nodes.order[start + ranks_here(int(size), int(first), int(end - start), request.max_samples)]
        for start, end, size, first in zip(starts, ends, sizes, before, strict=True)
    ]
    samples = np.concatenate(chosen)
    bins = np.empty((len(samples), len(request.candidates)), np.uint8)
    candidates = request.candidates.copy()  # from another process they come readonly, which kernels do not take
    shard.responses.fill_bins(samples, candidates, bins)
    told = NodeBins(bins, shard.labels[samples], np.array([len(each) for each in chosen], np.int64))
    if not request.as_histograms:
        return told
    return count_histograms(told, shard.responses.n_bins, shard.n_classes, np.min_scalar_type(request.max_samples))


def ranks_here(size: int, before: int, here: int, max_samples: int) -> np.ndarray:
    """Find which samples of a node a shard tells: those that one machine would choose among all.

    Parameters
    ----------
    size : int, samples of the node in all shards
    before : int, in the shards before this one
    here : int, in this shard
    max_samples : int, to be told by all shards, evenly spaced

    Returns
    -------
    int64 (n,), among the samples of this shard, ascending
    """
    if size <= max_samples:
        return np.arange(here)
    first, last = (-(-place * max_samples // size) for place in (before, before + here))
    return np.arange(first, last, dtype=np.int64) * size // max_samples - before
