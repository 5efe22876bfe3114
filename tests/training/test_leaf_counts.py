"""Pixels by leaf and part are those of each tree alone, pixel by pixel; a mirrored walk counts as the mirrored part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.training.leaf_counts import chosen_rows, count_pixels
from tests.support.toy_person import TOY, toy_frames

RULES = GrowthRules(max_depth=5, candidates=20, min_samples=4)


@pytest.fixture(scope="module")
def frames():
    return toy_frames(6)


@pytest.fixture(scope="module")
def forest(frames):
    return train_forest(frames, ForestParameters(trees=2, pixels_per_person=60, growth=RULES, symmetric=False), TOY)


def naive_counts(forest, frames):
    """One tree and one pixel at a time; a mirrored walk is that of probes on the other side."""
    counts = [np.zeros(tree.leaf_statistics.shape) for tree in forest.trees]
    sides = [(1.0, np.arange(TOY.n_classes))] + [(-1.0, TOY.mirrored_classes())] * forest.symmetric
    for frame in frames:
        depth_m, intrinsics, mask = frame.depth.depth_m, frame.depth.intrinsics, frame.people > 0
        for k, tree in enumerate(forest.trees):
            for side, part_there in sides:
                offsets = (forest.offsets[k] * np.array([1.0, side])).astype(np.float32)
                pixels, leaves = DepthForest([tree], [offsets], TOY).reach_leaves(depth_m, mask, intrinsics)
                for (row, col), leaf in zip(pixels, leaves[:, 0], strict=True):
                    counts[k][leaf, part_there[frame.parts[row, col]]] += 1
    return counts


@pytest.mark.parametrize("symmetric", [False, True])
def test_pixels_are_counted_at_the_leaf_they_reach(forest, frames, symmetric):
    forest = forest.with_symmetry(symmetric)
    for found, wanted in zip(count_pixels(forest, frames), naive_counts(forest, frames), strict=True):
        assert wanted.any()
        np.testing.assert_array_equal(found, wanted)


def test_frames_are_evenly_spaced(forest, frames):
    assert chosen_rows(10, 4) == [0, 2, 5, 7]
    assert chosen_rows(3, 10) == [0, 1, 2]
    limited = count_pixels(forest, frames, max_frames=2)
    for found, wanted in zip(limited, count_pixels(forest, [frames[0], frames[3]]), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_frames_without_people_are_refused(forest, frames):
    nobody = [replace(frame, people=np.zeros_like(frame.people)) for frame in frames]
    with pytest.raises(ValueError, match="needs people in them"):
        count_pixels(forest, nobody)
