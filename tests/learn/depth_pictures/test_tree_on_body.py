"""A tree drawn on a person: pixels keep their number, and probes go where the tree looks."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth_pictures import tree_on_body
from posepipe.learn.depth_pictures.tree_on_body import PersonView, draw_tree_on_body
from posepipe.learn.tree import LEAF, Tree
from tests.support.toy_person import TOY, toy_frame


@pytest.fixture
def forest():
    """One split: is there background 0.3 m above the pixel?"""
    shares = np.zeros((2, TOY.n_classes))
    shares[0, 2] = shares[1, 1] = 1
    feature, first_child = np.array([0, LEAF, LEAF], np.int32), np.array([1, 0, 1], np.int32)
    tree = Tree(feature, np.array([4.0005, 0, 0], np.float32), first_child, shares)
    return DepthForest([tree], [np.array([[[-0.3, 0], [0, 0]]], np.float32)], TOY)


@pytest.fixture
def view():
    frame = toy_frame(1)
    return PersonView(frame.depth.depth_m, frame.people > 0, frame.depth.intrinsics)


def test_the_children_share_the_pixels_of_their_parent(forest, view):
    picture = draw_tree_on_body(forest, 0, view, levels=1)
    shown = {colour: (picture == colour).all(axis=2).sum() for colour in (tree_on_body._LEFT, tree_on_body._RIGHT)}
    assert min(shown.values()) > 20
    leaves = forest.find_leaves(view.depth_m, view.mask, np.argwhere(view.mask).astype(np.int32), view.intrinsics)
    assert 0 < leaves.mean() < 1


def test_more_levels_than_the_tree_has_are_left_white(forest, view):
    picture = draw_tree_on_body(forest, 0, view, levels=3)
    height = picture.shape[0] // 4
    assert (picture[2 * height + 10 :] == 255).all()
    assert not (picture[: 2 * height] == 255).all()


def test_a_picture_needs_a_person_and_a_few_levels(forest, view):
    with pytest.raises(ValueError, match="1 to 5 levels"):
        draw_tree_on_body(forest, 0, view, levels=6)
    nobody = PersonView(view.depth_m, np.zeros_like(view.mask), view.intrinsics)
    with pytest.raises(ValueError, match="nobody"):
        draw_tree_on_body(forest, 0, nobody)
