"""Class weights: scikit-learn's definition, and what they make of a tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import compute_class_weight

from posepipe.learn.class_weights import WEIGHT_UNIT, balanced_weights
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.splitting.pixel_sampling import sample_pixels
from posepipe.learn.depth.train_forest import train_forest, train_tree
from posepipe.learn.growing import GrowthRules
from tests.support.toy_person import TOY, toy_frames

PARAMETERS = ForestParameters(
    trees=1, pixels_per_person=100, growth=GrowthRules(max_depth=6, candidates=30, min_samples=8), symmetric=False
)
BALANCED = replace(PARAMETERS, class_weight="balanced")


@given(st.lists(st.integers(0, 100), min_size=1, max_size=32).filter(any))
def test_balanced_weights_are_those_of_scikit_learn(counts):
    classes = np.flatnonzero(counts)
    wanted = compute_class_weight("balanced", classes=classes, y=np.repeat(np.arange(len(counts)), counts))
    found = balanced_weights(np.array(counts)) / WEIGHT_UNIT
    np.testing.assert_allclose(found[classes], wanted, atol=0.5001 / WEIGHT_UNIT + 1e-12)


def test_classes_without_samples_weigh_1_and_none_weighs_nothing():
    weights = balanced_weights(np.array([0, 10, 10**9]))
    assert weights[0] == WEIGHT_UNIT
    assert weights[2] == round(WEIGHT_UNIT / 2)
    assert balanced_weights(np.array([1, 10**9, 10**9])).min() >= 1


def test_in_the_root_all_classes_weigh_the_same():
    """Leaves add up to the root; weights are rounded to 1 / 1024."""
    frames = toy_frames(4)
    tree, _ = train_tree(frames, BALANCED, TOY, 0)
    shares = tree.node_statistics()[0] / tree.node_statistics()[0].sum()
    np.testing.assert_allclose(shares[1:], 1 / len(TOY.parts), rtol=2e-3)
    counts = np.bincount(sample_pixels(enumerate(frames), 100, (0, 0)).label, minlength=TOY.n_classes)
    np.testing.assert_array_equal(tree.node_statistics()[0], counts * balanced_weights(counts))


def test_a_weighted_forest_finds_more_of_rare_parts():
    frames = toy_frames(8)
    recalls = []
    for parameters in (PARAMETERS, BALANCED):
        shallow = replace(parameters, growth=replace(parameters.growth, max_depth=2))
        forest = train_forest(frames, shallow, TOY)
        right = np.zeros(TOY.n_classes)
        for frame in toy_frames(4, first=50):
            found = forest.predict(frame.depth.depth_m, frame.people > 0, frame.depth.intrinsics)
            truth = frame.parts[found.pixels[:, 0], found.pixels[:, 1]]
            right += np.bincount(truth[found.probabilities.argmax(axis=1) == truth], minlength=TOY.n_classes)
        recalls.append(right[TOY.part_code("head")])
    assert recalls[1] > recalls[0]


def test_unknown_weights_are_refused():
    with pytest.raises(ValueError, match="class_weight is one of"):
        ForestParameters(class_weight="heavy")


def test_parameters_without_weights_are_stored_without_them():
    assert "class_weight" not in PARAMETERS.to_dict()
    assert BALANCED.to_dict()["class_weight"] == "balanced"
    assert PARAMETERS.to_dict()["growth"]["candidates"] == 30
