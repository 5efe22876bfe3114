"""Kernels that grow depth forests and classify pixels."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.learn.depth.classify import classify, find_leaves, mean_posterior
from posepipe.learn.depth.packed_forest import pack_forest
from posepipe.learn.depth.probes.clamped_probes import find_clamped_leaves
from posepipe.learn.depth.splitting.depth_features import bordered_depth, depth_differences
from posepipe.learn.depth.splitting.histogram import best_splits
from posepipe.learn.depth.splitting.responses import DepthResponses, OffsetRange
from tests.kernels.kernel import Kernel
from tests.reference.learn import clamped_probes as naive_clamped_probes
from tests.reference.learn import classify as naive_classify
from tests.reference.learn import depth_features as naive_depth_features
from tests.reference.learn import histogram as naive_histogram
from tests.reference.learn import responses as naive_responses
from tests.support import random_inputs


def _bordered_depth(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, size, size * 4 // 3)
    return SimpleNamespace(depth_m=depth_m, mask=mask)


def _depth_differences(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, 120, 160)
    return SimpleNamespace(
        depth_m=depth_m,
        mask=mask,
        pixels=random_inputs.readable_pixels(rng, depth_m, mask, size),
        offsets=random_inputs.offset_pairs(rng, 20),
        intrinsics=Intrinsics(140.0, 150.0, 79.5, 59.5),
    )


def _classify(rng, size):
    inputs = _depth_differences(rng, size)
    inputs.image = bordered_depth(inputs.depth_m, inputs.mask)
    inputs.trees = [random_inputs.tree(rng, 8, 20, 5) for _ in range(3)]
    inputs.tables = [random_inputs.offset_pairs(rng, 20) for _ in range(3)]
    inputs.mirrored_classes = np.array([0, 2, 1, 4, 3])
    inputs.packed = pack_forest(inputs.trees, inputs.tables, inputs.mirrored_classes)
    mirrored = [
        naive_classify.mirrored(*walk, inputs.mirrored_classes)
        for walk in zip(inputs.trees, inputs.tables, strict=True)
    ]
    inputs.walks = [*zip(inputs.trees, inputs.tables, strict=True), *mirrored]
    return inputs


def _leaves_of_pixels(rng, size):
    inputs = _classify(rng, size)
    inputs.leaves = np.stack([rng.integers(t.n_leaves, size=size) for t, _ in inputs.walks], 1).astype(np.int32)
    return inputs


def _clamped_pixels(rng, size):
    """Pixels of an image whose person touches the border, and the text of a full tree of height 5."""
    depth_m, mask = random_inputs.depth_image(rng, 40, 50)
    mask[:, 25:] = True
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, size)
    nodes, labels = rng.integers(-300, 301, (31, 5)), np.arange(32)
    text = "\n".join(" ".join(map(str, row)) for row in ([5], *nodes, *labels[:, None]))
    inner = np.arange(31)
    children = np.stack([2 * inner + 1, 2 * inner + 2], 1)
    return SimpleNamespace(
        depth_m=depth_m,
        mask=mask,
        pixels=pixels,
        tree=naive_clamped_probes.read_tree(text),
        records=np.concatenate([nodes[:, [1, 0, 3, 2, 4]], np.zeros((31, 3))], axis=1).astype(np.float32),
        links=np.where(children < 31, children, 30 - children).astype(np.int32),
    )


def _naive_clamped_leaves(inputs):
    image_mm = np.where(inputs.mask & (inputs.depth_m > 0), np.rint(inputs.depth_m * 1000).astype(int), 32_767)
    image_mm = image_mm.tolist()
    return [[naive_clamped_probes.label_of(*inputs.tree, image_mm, *pixel, 45.5)] for pixel in inputs.pixels.tolist()]


def _best_splits(rng, size):
    """Nodes of 1 to 400 samples, one of them pure, one constant in every feature."""
    ends = np.unique(np.concatenate([[1, 3, 40, 80, size], rng.integers(80, size, size // 200)]))
    starts = np.concatenate([[0], ends]).astype(np.int64)
    labels = rng.integers(6, size=size).astype(np.uint8)
    bins = np.clip(rng.normal(8 + labels[:, None], 4, (size, 19)), 0, 15).astype(np.uint8)
    labels[3:40] = 7
    bins[40:80] = 5
    return SimpleNamespace(bins=bins, labels=labels, starts=starts, n_bins=16)


def _of_split_nodes(splits, min_gain=-np.inf):
    """Splits without the feature and bin of nodes that no split parts, of which nothing is said."""
    gain, feature, threshold_bin = splits
    parted = gain > min_gain
    return gain, np.where(parted, feature, -1), np.where(parted, threshold_bin, -1)


def _weighted_best_splits(rng, size):
    nodes = _best_splits(rng, size)
    weights = np.exp(rng.uniform(0, 10, 32)).astype(np.int64)
    return SimpleNamespace(nodes=(nodes.bins, nodes.labels, nodes.starts, nodes.n_bins), weights=weights)


def _responses(rng, size):
    samples = random_inputs.pixel_samples(rng, 6, max(50, size // 2))
    offset_range = OffsetRange()
    chosen = rng.integers(len(samples.label), size=size).astype(np.int32)
    return SimpleNamespace(
        samples=samples,
        responses=DepthResponses(samples, offset_range),
        thresholds_mm=offset_range.thresholds_mm(),
        chosen=chosen,
        offsets=random_inputs.offset_pairs(rng, 20),
        own_offsets=random_inputs.offset_pairs(rng, size),
        threshold_bins=rng.integers(offset_range.n_thresholds, size=size).astype(np.int32),
    )


def _fill_bins(inputs):
    out = np.empty((len(inputs.chosen), len(inputs.offsets)), np.uint8)
    inputs.responses.fill_bins(inputs.chosen, inputs.offsets, out)
    return out


KERNELS = (
    Kernel(
        "bordered_depth",
        lambda i: bordered_depth(i.depth_m, i.mask),
        lambda i: naive_depth_features.bordered(i.depth_m, i.mask),
        _bordered_depth,
        size=60,
        may_differ=0.03,
        reason="float32 times 1000 falls on either side of a half millimetre",
    ),
    Kernel(
        "depth_differences",
        lambda i: depth_differences(i.depth_m, i.mask, i.pixels, i.offsets, i.intrinsics),
        lambda i: naive_depth_features.depth_differences(
            i.depth_m, i.mask, i.pixels, i.offsets, i.intrinsics.fx, i.intrinsics.fy
        ),
        _depth_differences,
        size=400,
        tolerance=2e-6,
        may_differ=0.03,
        reason="float32 metres up to 10; half millimetres and the edges of pixels are rounded either way",
    ),
    Kernel(
        "classify",
        lambda i: classify(i.image, i.pixels, i.intrinsics.fx, i.intrinsics.fy, i.packed),
        lambda i: naive_classify.classify(
            i.depth_m, i.mask, i.pixels, i.intrinsics.fx, i.intrinsics.fy, i.trees, i.tables, i.mirrored_classes
        ),
        _classify,
        size=1000,
        tolerance=1e-6,
        may_differ=0.005,
        reason="float32 mean of six; a probe on the edge of two pixels is rounded either way",
    ),
    Kernel(
        "find_leaves",
        lambda i: find_leaves(i.image, i.pixels, i.intrinsics.fx, i.intrinsics.fy, i.packed),
        lambda i: [
            [
                naive_classify.leaf_of(tree, table, i.depth_m, i.mask, *pixel, i.intrinsics.fx, i.intrinsics.fy)
                for tree, table in i.walks
            ]
            for pixel in i.pixels
        ],
        _classify,
        size=1000,
        may_differ=0.005,
        reason="a probe on the edge of two pixels is rounded either way",
    ),
    Kernel(
        "find_clamped_leaves",
        lambda i: find_clamped_leaves(
            i.depth_m, i.mask, i.pixels, (45.5, 45.5), 525.0, i.records, i.links, np.zeros(1, np.int32)
        ),
        _naive_clamped_leaves,
        _clamped_pixels,
        size=300,
    ),
    Kernel(
        "mean_posterior",
        lambda i: mean_posterior(i.leaves, i.packed),
        lambda i: np.mean([t.leaf_statistics[i.leaves[:, k]] for k, (t, _) in enumerate(i.walks)], axis=0),
        _leaves_of_pixels,
        size=1000,
        tolerance=1e-6,
        reason="float32 mean of six",
    ),
    Kernel(
        "best_splits",
        lambda i: _of_split_nodes(best_splits(i.bins, i.labels, i.starts, i.n_bins)),
        lambda i: _of_split_nodes(naive_histogram.best_splits(i.bins, i.labels, i.starts, i.n_bins)),
        _best_splits,
        size=3000,
        tolerance=1e-6,
        reason="n log n is held in millionths of a bit; feature and bin are whole numbers, hence exact",
    ),
    Kernel(
        "weighted_best_splits",
        lambda i: _of_split_nodes(best_splits(*i.nodes, i.weights), 1e-6),
        lambda i: _of_split_nodes(naive_histogram.best_splits(*i.nodes, i.weights), 1e-6),
        _weighted_best_splits,
        size=3000,
        tolerance=1e-6,
        reason="n log n is held in millionths of a bit, and all splits of a pure node gain next to nothing",
    ),
    Kernel(
        "fill_bins",
        _fill_bins,
        lambda i: naive_responses.fill_bins(i.samples, i.chosen, i.offsets, i.thresholds_mm),
        _responses,
        size=200,
        may_differ=0.01,
        reason="a probe on the edge of two pixels is rounded either way",
    ),
    Kernel(
        "go_right",
        lambda i: i.responses.go_right(i.chosen, i.own_offsets, i.responses.threshold(i.threshold_bins)),
        lambda i: naive_responses.go_right(i.samples, i.chosen, i.own_offsets, i.thresholds_mm, i.threshold_bins),
        _responses,
        size=2000,
        may_differ=0.001,
        reason="a probe on the edge of two pixels is rounded either way",
    ),
)
