"""Part accuracy of a second stage (auto-context) beside that of as many more trees.

    python -m benchmarks.auto_context data/train data/validation --frames 900

The trees of the second stage ask depth, and the posteriors of a first forest at offset pixels. They are grown on
out-of-fold posteriors: those of the trees of the first forest that were not grown on its frames, and ask the same trees
in use. They have as many candidates of depth as the first trees, and as many more of posteriors. Both alternatives
walk twice as many trees as the first forest. No tree is walked as its mirror image.

Reference: Tu, Auto-context and its application to high-level vision tasks, CVPR 2008.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from posepipe.datasets.dataset import open_datasets
from posepipe.evaluation.metrics.part_metrics import PartScores
from posepipe.learn.depth.classify import find_leaves
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.splitting.binned_splits import BinnedSplits
from posepipe.learn.depth.splitting.depth_features import BACKGROUND_MM
from posepipe.learn.depth.splitting.pixel_sampling import sample_pixels
from posepipe.learn.depth.splitting.responses import DepthResponses, OffsetRange, PixelSamples
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.depth.tree_frames import TreeFrames
from posepipe.learn.growing import GrowthRules, finish, grow
from posepipe.learn.tree import LEAF, Tree

OWN_PIXEL_SHARE = 0.1
"""Share of the candidates of posteriors that ask them at the pixel itself."""
WHOLE_MM = 600
"""Response of a posterior of 1: the largest threshold of depth, so that both have the same bins."""
FAR_M = 1000.0
"""Offset of a probe that reads the border of an image, which is 0 in images of posteriors."""
ALL = 10**9


def main() -> None:
    """Grow both alternatives on the same frames, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path, help="folder written by posepipe synth")
    parser.add_argument("validation", type=Path, help="folder whose frames are scored")
    parser.add_argument("--frames", type=int, default=900)
    parser.add_argument("--validation-frames", type=int, default=60)
    parser.add_argument("--trees", type=int, default=3, help="of each stage")
    parser.add_argument("--max-depth", type=int, default=18)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    frames = open_datasets([args.train])[: args.frames]
    growth = GrowthRules(max_depth=args.max_depth, candidates=args.candidates)
    parameters = ForestParameters(trees=args.trees, growth=growth, symmetric=False, seed=args.seed)
    first = train_forest(frames, parameters)
    other = train_forest(frames, replace(parameters, seed=args.seed + 1))
    others = [[each for each in range(args.trees) if each != tree] for tree in range(args.trees)]
    context = [_grow_context_tree(frames, first, tree, others[tree], parameters) for tree in range(args.trees)]

    scored = enumerate(open_datasets([args.validation])[: args.validation_frames])
    samples = sample_pixels(scored, ALL, (0,))
    everyone = range(args.trees)
    of_first, of_other = (np.concatenate(list(_posteriors(samples, each, everyone))) for each in (first, other))
    of_context = np.zeros_like(of_first)
    for each, asked in zip(context, others, strict=True):
        responses = ContextResponses(samples, _posterior_images(samples, first, asked), parameters.offsets)
        of_context += _walk(*each, responses) / args.trees
    rows = {
        f"{args.trees} trees": of_first,
        f"{2 * args.trees} trees": of_first + of_other,
        f"second stage of {args.trees} trees alone": of_context,
        "first and second stage": of_first + of_context,
    }
    print(f"{len(frames)} frames, {len(samples.label)} pixels scored   part accuracy   left and right confused")
    for name, posterior in rows.items():
        scores = PartScores(frames.body)
        predicted = 1 + posterior[:, 1:].argmax(axis=1)
        scores.add(samples.label, predicted)
        mirrored = frames.body.mirrored_classes()[samples.label]
        confused = ((predicted == mirrored) & (mirrored != samples.label))[samples.label > 0].mean()
        print(f"{name:40s}{scores.mean_accuracy():8.3f}{confused:8.3f}", flush=True)


class ContextResponses:
    """`posepipe.learn.depth.splitting.responses.Responses` to depth and to posteriors of a first forest.

    A feature is float32 (5,): 0 for depth, or the class whose posterior is asked, and two offsets in metres.

    Parameters
    ----------
    samples : PixelSamples
    posteriors : int16 (C, sum of H x W), images of the posterior of each class, laid out as those of the samples
    offsets : OffsetRange
    """

    def __init__(self, samples: PixelSamples, posteriors: np.ndarray, offsets: OffsetRange) -> None:
        images = [samples.images, *posteriors[1:]]
        self._channels = [DepthResponses(replace(samples, images=each), offsets) for each in images]
        self._range = offsets
        self.n_bins = self._channels[0].n_bins

    def __len__(self) -> int:
        return len(self._channels[0])

    def draw_features(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw ``count`` features of depth, and after them as many of posteriors."""
        features = np.zeros((2 * count, 5), np.float32)
        features[:count, 1:] = self._range.draw_offsets(rng, count).reshape(-1, 4)
        features[count:, 0] = rng.integers(1, len(self._channels), count)
        features[count:, 1:3] = self._range.draw_offsets(rng, count)[:, 0]
        features[count:, 1:3] *= rng.uniform(size=(count, 1)) >= OWN_PIXEL_SHARE
        features[count:, 3] = FAR_M
        return features

    def fill_bins(
        self, samples: np.ndarray, features: np.ndarray, out: np.ndarray, rows: np.ndarray | None = None
    ) -> None:
        """Write the bin of every response, channel by channel."""
        for channel, own in self._by_channel(features):
            part = np.empty((len(out), len(own)), np.uint8)
            channel.fill_bins(samples, features[own, 1:].reshape(-1, 2, 2), part, rows)
            out[:, own] = part

    def threshold(self, threshold_bin: np.ndarray) -> np.ndarray:
        """Upper bound of the responses of a bin: float32, metres."""
        return self._channels[0].threshold(threshold_bin)

    def go_right(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Whether the response of sample n to feature n exceeds threshold n: bool (N,)."""
        right = np.empty(len(samples), bool)
        for channel, own in self._by_channel(features):
            right[own] = channel.go_right(samples[own], features[own, 1:].reshape(-1, 2, 2), thresholds[own])
        return right

    def _by_channel(self, features: np.ndarray) -> Iterator[tuple[DepthResponses, np.ndarray]]:
        for channel in np.unique(features[:, 0]):
            yield self._channels[int(channel)], np.flatnonzero(features[:, 0] == channel)


def _grow_context_tree(
    frames, first: DepthForest, tree: int, others: Sequence[int], parameters: ForestParameters
) -> tuple[Tree, np.ndarray]:
    """Grow a tree of the second stage on the frames of one tree of the first forest, asking the others."""
    rows, seed = range(tree, len(frames), parameters.trees), (parameters.seed + 2, tree)
    samples = TreeFrames(frames, rows, parameters, seed, frames.body.n_classes).draw_samples(lambda: None)
    responses = ContextResponses(samples, _posterior_images(samples, first, others), parameters.offsets)
    finder = BinnedSplits(responses, samples.label, frames.body.n_classes)
    return finish(grow(finder, parameters.growth, (*seed, 1)))


def _posteriors(samples: PixelSamples, forest: DepthForest, trees: Sequence[int]) -> Iterator[np.ndarray]:
    """Posteriors of some trees at all pixels of a person, image by image: float32 (n, C)."""
    firsts = np.searchsorted(samples.image, np.arange(len(samples.start)))
    for image, first in zip(_images(samples), firsts, strict=True):
        depth_m = image[tuple(samples.pixel[first])] * np.float32(0.001)
        fy, fx = (samples.scale[first] * depth_m).tolist()
        pixels = np.argwhere(image < BACKGROUND_MM).astype(np.int32) - 1
        yield forest.posterior_of_trees(find_leaves(image, pixels, fx, fy, forest.packed), trees)


def _posterior_images(samples: PixelSamples, forest: DepthForest, trees: Sequence[int]) -> np.ndarray:
    """Images of the posteriors of some trees: int16 (C, sum of H x W), 0 beside the person."""
    out = np.zeros((forest.body.n_classes, len(samples.images)), np.int16)
    for start, image, values in zip(samples.start, _images(samples), _posteriors(samples, forest, trees), strict=True):
        places = start + np.flatnonzero(image < BACKGROUND_MM)
        out[:, places] = np.rint(WHOLE_MM * values.T)
    return out


def _images(samples: PixelSamples) -> list[np.ndarray]:
    return [
        samples.images[start : start + rows * cols].reshape(rows, cols)
        for start, (rows, cols) in zip(samples.start, samples.shape, strict=True)
    ]


def _walk(tree: Tree, features: np.ndarray, responses: ContextResponses) -> np.ndarray:
    """Posteriors of the leaves that all samples reach: float32 (N, C)."""
    node = np.zeros(len(responses), np.int64)
    going = np.arange(len(responses), dtype=np.int32)
    while len(going := going[tree.feature[node[going]] != LEAF]):
        at = node[going]
        right = responses.go_right(going, features[tree.feature[at]], tree.threshold[at])
        node[going] = tree.first_child[at] + right
    counts = tree.leaf_statistics[tree.first_child[node]]
    return (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)


if __name__ == "__main__":
    main()
