"""Trees grown on shards are those of one machine, to the bit, however the samples are dealt out."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial

import numpy as np
import pytest

from posepipe.learn.depth.checkpoints import Checkpoints
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import LocalGrower, train_tree
from posepipe.learn.growing import GrowthRules
from posepipe.learn.shards import sharded_growth
from posepipe.learn.shards.sharded_growth import ShardedGrower
from tests.learn.same_trees import assert_same_growth
from tests.support.toy_person import TOY, toy_frame, toy_frames
from tests.support.workers.inline_workers import InlineWorkers

RULES = GrowthRules(max_depth=7, candidates=40, min_gain=0.005, min_samples=8, split_samples=500)
PARAMETERS = ForestParameters(trees=1, pixels_per_person=150, growth=RULES, seed=3)


def grower(workers):
    return lambda frames, on_frame: ShardedGrower(frames, InlineWorkers(workers), on_frame)


def grow(frames, make_grower=LocalGrower.read, **options):
    return train_tree(frames, PARAMETERS, TOY, 0, make_grower=make_grower, **options)


@pytest.fixture(scope="module")
def frames():
    return toy_frames(9)


@pytest.fixture(scope="module")
def tree(frames):
    return grow(frames)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_shards_grow_the_tree_of_one_machine(frames, tree, workers):
    read = []
    assert_same_growth(grow(frames, grower(workers), on_frame=lambda: read.append(1)), tree)
    assert len(read) == len(frames)
    assert tree[0].n_nodes > 20


@pytest.mark.parametrize("n_thresholds", [5, 41])
def test_shards_grow_the_weighted_tree_of_one_machine(frames, tree, n_thresholds):
    """With few thresholds, large nodes are told as histograms."""
    offsets = replace(PARAMETERS.offsets, n_thresholds=n_thresholds)
    weighted = replace(PARAMETERS, class_weight="balanced", offsets=offsets)
    here = train_tree(frames, weighted, TOY, 0)
    assert_same_growth(train_tree(frames, weighted, TOY, 0, make_grower=grower(2)), here)
    assert here[0].n_nodes != tree[0].n_nodes


@pytest.mark.parametrize("histogram_bytes", [1, 10**9])
def test_small_batches_grow_the_same_tree(frames, tree, monkeypatch, histogram_bytes):
    monkeypatch.setattr(sharded_growth, "BATCH_SAMPLES", 300)
    monkeypatch.setattr(sharded_growth, "HISTOGRAM_BYTES", histogram_bytes)
    assert_same_growth(grow(frames, grower(2)), tree)


def test_large_nodes_are_told_as_histograms(frames):
    """With few thresholds histograms take less room than bins."""
    offsets = replace(PARAMETERS.offsets, n_thresholds=5)
    few = replace(PARAMETERS, offsets=offsets, growth=replace(RULES, split_samples=20_000))
    told = []

    class Recorded(InlineWorkers):
        def submit(self, function, *args):
            told.append(function.__name__)
            return super().submit(function, *args)

    on_shards = train_tree(frames, few, TOY, 0, make_grower=lambda f, on: ShardedGrower(f, Recorded(1), on))
    assert {"splits_of_histograms", "splits_of_bins"} <= set(told)
    assert_same_growth(on_shards, train_tree(frames, few, TOY, 0))


def test_a_shard_without_people_is_read(frames):
    """Its pixels are background, as those of furniture."""
    room = toy_frame(0)
    room = replace(room, parts=np.zeros_like(room.parts), joints_m=room.joints_m[:0], visible=room.visible[:0])
    mixed = [*frames[:4], *[room] * 4]
    assert_same_growth(grow(mixed, grower(2)), grow(mixed))
    with pytest.raises(ValueError, match="no person"):
        grow([room] * 4, grower(2))


@pytest.mark.parametrize(("first", "then"), [("shards", "here"), ("here", "shards"), ("shards", "shards")])
def test_an_interrupted_training_goes_on_here_or_on_shards(frames, tree, tmp_path, first, then):
    growers = {"here": LocalGrower.read, "shards": grower(2)}

    class Interrupted(Exception):
        pass

    def interrupt(progress):
        if progress.level == 3:
            raise Interrupted

    open_checkpoints = partial(Checkpoints, tmp_path, asdict(PARAMETERS), "toy")
    with pytest.raises(Interrupted):
        grow(frames, growers[first], on_level=interrupt, checkpoints=open_checkpoints(resume=False))
    levels = []
    checkpoints = open_checkpoints(resume=True)
    again = grow(frames, growers[then], on_level=lambda p: levels.append(p.level), checkpoints=checkpoints)
    assert levels[0] == 4
    assert_same_growth(again, tree)
