"""Pixels by leaf and part are those of each tree alone, pixel by pixel; a mirrored walk counts as the mirrored part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.train_forest import ForestParameters, train_forest
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
    """One tree and one pixel at a time; the mirrored walk is that of the mirrored picture."""
    counts = [np.zeros(tree.leaf_statistics.shape) for tree in forest.trees]
    mirrored = TOY.mirrored_classes()
    for frame in frames:
        depth_m, intrinsics, mask = frame.depth.depth_m, frame.depth.intrinsics, frame.people > 0
        views = [(depth_m, mask, frame.parts, intrinsics)]
        if forest.symmetric:
            flipped = replace(intrinsics, cx=depth_m.shape[1] - 1 - intrinsics.cx)
            views.append((depth_m[:, ::-1].copy(), mask[:, ::-1].copy(), mirrored[frame.parts[:, ::-1]], flipped))
        for k, tree in enumerate(forest.trees):
            alone = DepthForest([tree], [forest.offsets[k]], TOY)
            for depth, own, parts, lens in views:
                for (row, col), leaf in zip(*alone.reach_leaves(depth, own, lens), strict=True):
                    counts[k][leaf[0], parts[row, col]] += 1
    return counts


@pytest.mark.parametrize("symmetric", [False, True])
def test_pixels_are_counted_at_the_leaf_they_reach(forest, frames, symmetric):
    forest = forest.with_symmetry(symmetric)
    for found, wanted in zip(count_pixels(forest, frames), naive_counts(forest, frames), strict=True):
        assert found.sum() == wanted.sum() > 0
        if not symmetric:  # a mirrored picture rounds half pixels to the other side
            np.testing.assert_array_equal(found, wanted)
        else:
            assert np.abs(found - wanted).sum() < 0.1 * wanted.sum()


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
