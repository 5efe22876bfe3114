"""A model with another forest: its first trees, with coarser leaves, or with class 0 weighed."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.models.change_model import coarsen_leaves, keep_trees, weigh_background
from posepipe.models.pose_model import PoseModel
from tests.support.leaf_votes import random_model


def test_the_first_trees_are_kept_with_their_votes():
    model = random_model()
    first = keep_trees(model, 1)
    assert len(first.forest.trees) == len(first.forest.offsets) == len(first.votes) == 1
    np.testing.assert_array_equal(first.forest.trees[0].feature, model.forest.trees[0].feature)
    np.testing.assert_array_equal(first.votes[0].node_of_leaf, model.votes[0].node_of_leaf)
    for count in (0, 3):
        with pytest.raises(ValueError, match=rf"has 2 trees; keep 1 to 2, got {count}"):
            keep_trees(model, count)


@pytest.mark.parametrize("steps", [15, 17, 51])
def test_posteriors_are_multiples_of_one_step(steps, tmp_path):
    model = random_model()
    coarsen_leaves(model, steps).save(tmp_path / "coarse.npz")
    coarse = PoseModel.load(tmp_path / "coarse.npz")
    for tree, before in zip(coarse.forest.trees, model.forest.trees, strict=True):
        shares = tree.leaf_statistics / 255 * steps
        np.testing.assert_allclose(shares, np.rint(shares), atol=1e-6)
        np.testing.assert_allclose(shares.sum(axis=1), steps, atol=1e-6)
        assert np.abs(shares - before.leaf_statistics * steps).max() <= 1 + 1e-6
        np.testing.assert_array_equal(tree.feature, before.feature)
    assert coarse.metadata["leaf_steps"] == steps
    assert coarsen_leaves(coarse, 255).metadata["leaf_steps"] == steps


@pytest.mark.parametrize("steps", [0, 2, 16, 256, 510])
def test_steps_of_leaves_divide_255(steps):
    with pytest.raises(ValueError, match=f"15, 17, 51, 85 or 255 steps, got {steps}"):
        coarsen_leaves(random_model(), steps)


def test_the_odds_of_class_0_are_multiplied_by_its_weight():
    model = random_model()
    weighed = weigh_background(model, 0.5)
    for tree, before in zip(weighed.forest.trees, model.forest.trees, strict=True):
        odds, odds_before = (
            each.leaf_statistics[:, 0] / (1 - each.leaf_statistics[:, 0]).clip(1e-6) for each in (tree, before)
        )
        unsure = (before.leaf_statistics[:, 0] > 0.05) & (before.leaf_statistics[:, 0] < 0.9)
        assert unsure.any()
        np.testing.assert_allclose(odds[unsure], 0.5 * odds_before[unsure], rtol=0.15)  # stored as bytes
        np.testing.assert_allclose(tree.leaf_statistics.sum(axis=1), 1, atol=1e-6)
        np.testing.assert_array_equal(tree.feature, before.feature)
    assert weighed.metadata["background_weight"] == 0.5
    assert "figures" not in weighed.metadata  # they were those of the model as trained


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_a_weight_is_above_0(weight):
    with pytest.raises(ValueError, match="finite and above 0"):
        weigh_background(random_model(), weight)
