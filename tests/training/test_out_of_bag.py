"""Out-of-bag part accuracy: every frame is judged by the trees that have not seen it, and by no other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.evaluation.metrics.part_metrics import PartScores
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.segmentation.label_map import draw_labels
from posepipe.training.out_of_bag import out_of_bag_accuracy, scored_rows
from tests.support.toy_person import TOY, toy_frames

FRAMES = 13
RULES = GrowthRules(max_depth=5, candidates=20, min_samples=4)


@pytest.fixture(scope="module")
def frames():
    return toy_frames(FRAMES)


@pytest.fixture(scope="module")
def forest(frames):
    return train_forest(frames, ForestParameters(trees=3, pixels_per_person=60, growth=RULES, symmetric=False), TOY)


def scores_of(forests, frames) -> float:
    """Mean part accuracy over frames, each by a forest of its own."""
    scores = PartScores(TOY)
    for forest, frame in zip(forests, frames, strict=True):
        mask = frame.people > 0
        scores.add(frame.parts, draw_labels(forest.predict(frame.depth.depth_m, mask, frame.depth.intrinsics), mask))
    return scores.mean_accuracy()


def some_trees(forest, trees) -> DepthForest:
    kept = [forest.trees[tree] for tree in trees]
    return DepthForest(kept, [forest.offsets[tree] for tree in trees], TOY, forest.symmetric)


@pytest.mark.parametrize("symmetric", [False, True])
def test_it_is_that_of_forests_without_the_tree_of_a_frame(forest, frames, symmetric):
    forest = forest.with_symmetry(symmetric)
    found = out_of_bag_accuracy(forest, frames[:12])
    others = [some_trees(forest, [tree for tree in range(3) if tree != row % 3]) for row in range(12)]
    assert found.part_accuracy == scores_of(others, frames[:12])
    for tree in range(3):
        unseen = [frame for row, frame in enumerate(frames[:12]) if row % 3 != tree]
        assert found.of_trees[tree] == scores_of([some_trees(forest, [tree])] * len(unseen), unseen)
    assert found.frames == 12


def test_trees_score_worse_out_of_the_bag(frames):
    rng = np.random.default_rng(4)
    shuffled = [  # labels without any sense: a tree knows those that it has seen
        replace(frame, parts=np.where(frame.people > 0, rng.integers(1, 6, frame.parts.shape), 0).astype(np.uint8))
        for frame in frames
    ]
    rules = GrowthRules(max_depth=14, candidates=60, min_gain=0, min_samples=2)
    parameters = ForestParameters(trees=2, pixels_per_person=5000, growth=rules, symmetric=False)
    forest = train_forest(shuffled, parameters, TOY)
    found = out_of_bag_accuracy(forest, shuffled)
    own = scores_of([some_trees(forest, [row % 2]) for row in range(FRAMES)], shuffled)
    assert found.part_accuracy < 0.3 < own


def test_a_single_tree_has_no_frame_out_of_its_bag(forest, frames):
    assert out_of_bag_accuracy(some_trees(forest, [0]), frames) is None


def test_every_tree_has_as_many_frames_evenly_spaced():
    rows = scored_rows(9000, 3, 600)
    assert np.bincount(np.array(rows) % 3).tolist() == [200, 200, 200]
    assert np.diff(rows[::3]).tolist() == [45] * 199
    assert scored_rows(7, 3, 600) == [0, 1, 2, 3, 4, 5]
    assert scored_rows(2, 2, 1) == [0, 1]


def test_frames_are_scored_up_to_the_limit(forest, frames):
    seen = []
    found = out_of_bag_accuracy(forest, frames, lambda: seen.append(1), max_frames=6)
    assert found.frames == len(seen) == 6


def test_metadata_has_four_digits_and_no_nan(forest, frames):
    nobody = [replace(frame, parts=np.zeros_like(frame.parts)) for frame in frames]
    assert out_of_bag_accuracy(forest, nobody).to_dict()["part_accuracy"] is None
    about = out_of_bag_accuracy(forest, frames).to_dict()
    assert about.keys() == {"part_accuracy", "of_trees", "frames"}
    assert all(value == round(value, 4) for value in about["of_trees"])
