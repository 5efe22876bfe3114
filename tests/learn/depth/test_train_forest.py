"""Frames that trees share: every tree has all of them, and pixels of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import LocalGrower, _share_done, train_forest
from posepipe.learn.depth.tree_frames import TreeFrames
from posepipe.learn.growing import GrowthRules
from tests.support.toy_person import TOY, toy_frames

PARAMETERS = ForestParameters(
    trees=3, pixels_per_person=20, growth=GrowthRules(max_depth=5, candidates=30, min_samples=4), share_frames=True
)


@pytest.fixture(scope="module")
def frames():
    return toy_frames(4)


def test_trees_share_frames_and_no_pixels(frames):
    drawn = [TreeFrames.of_tree(tree, frames, PARAMETERS, TOY.n_classes) for tree in range(3)]
    samples = [of_tree.draw_samples(lambda: None) for of_tree in drawn]
    pixels = [set(zip(each.image.tolist(), map(tuple, each.pixel.tolist()), strict=True)) for each in samples]
    assert [len(each) for each in pixels] == [4 * 20] * 3
    assert len(set.union(*pixels)) == 3 * 4 * 20
    for each in samples:
        np.testing.assert_array_equal(np.bincount(each.image), [20] * 4)


def test_what_is_read_once_grows_the_trees_of_what_each_reads(frames):
    read = []
    together = train_forest(frames, PARAMETERS, TOY, on_frame=lambda: read.append(1))
    assert len(read) == len(frames)
    alone = train_forest(frames, PARAMETERS, TOY, make_grower=LocalGrower.read)
    for one, other in zip(together.trees, alone.trees, strict=True):
        np.testing.assert_array_equal(one.threshold, other.threshold)
        np.testing.assert_array_equal(one.leaf_statistics, other.leaf_statistics)
    assert not np.array_equal(together.trees[0].threshold, together.trees[1].threshold)


def test_as_many_trees_as_one_likes_share_one_frame(frames):
    assert len(train_forest(frames[:1], PARAMETERS, TOY).trees) == 3
    with pytest.raises(ValueError, match=r"separate frames: 3 trees, 1 frame$"):
        train_forest(frames[:1], replace(PARAMETERS, share_frames=False), TOY)


def test_shares_of_levels_add_up_to_the_whole_training(frames):
    told = []
    train_forest(frames, PARAMETERS, TOY, told.append)
    by_level = [progress.done_by_level for progress in told if progress.level < PARAMETERS.growth.max_depth]
    assert min(by_level) > 0
    assert told[-1].done == pytest.approx(1)
    done = [progress.done for progress in told]
    assert done == sorted(done)


def test_a_first_level_is_not_taken_for_nothing():
    first = _share_done(1, 20_000_000, GrowthRules(max_depth=24, candidates=75))
    assert 0.002 < first < 1 / 25  # few samples try candidates, but all are sent to a child
