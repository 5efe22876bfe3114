"""Trees that must be the same to the bit, however they were grown."""

from __future__ import annotations

import numpy as np

from posepipe.learn.tree import Tree

ARRAYS = ("feature", "threshold", "first_child", "n_children", "leaf_statistics")


def assert_same_tree(tree: Tree, expected: Tree) -> None:
    """All arrays of two trees are equal, and of the same type."""
    for name in ARRAYS:
        own, other = getattr(tree, name), getattr(expected, name)
        np.testing.assert_array_equal(own, other, err_msg=name)
        assert own.dtype == other.dtype, name


def assert_same_growth(grown: tuple[Tree, np.ndarray], expected: tuple[Tree, np.ndarray]) -> None:
    """Trees on depth images are the same, and so are the offsets of their features."""
    assert_same_tree(grown[0], expected[0])
    np.testing.assert_array_equal(grown[1], expected[1])
