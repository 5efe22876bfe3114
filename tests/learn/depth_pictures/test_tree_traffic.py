"""Pixels at the nodes of a tree, what its splits tell, and where the probes of these look."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.learn.depth_pictures.probe_map import CELL_M, draw_probe_map, probe_map
from posepipe.learn.depth_pictures.tree_traffic import TreeTraffic
from posepipe.learn.tree import LEAF, Tree

#: a root, a leaf, and a node with two leaves: parts 1, 1 and 2
TREE = Tree(
    feature=np.array([0, LEAF, 1, LEAF, LEAF], np.int32),
    threshold=np.zeros(5, np.float32),
    first_child=np.array([1, 0, 3, 1, 2], np.int32),
    leaf_statistics=np.array([[0, 4, 0], [0, 2, 0], [0, 0, 1]], np.float64),
)
LEAVES = np.array([0, 0, 0, 0, 1, 1, 2, 2])


def test_every_pixel_passes_the_nodes_above_its_leaf():
    traffic = TreeTraffic.of(TREE, LEAVES)
    np.testing.assert_array_equal(traffic.pixels, [8, 4, 4, 2, 2])
    np.testing.assert_allclose(traffic.posteriors[0], [0, 0.75, 0.25])
    np.testing.assert_allclose(traffic.posteriors[2], [0, 0.5, 0.5])


def test_splits_together_tell_the_entropy_of_the_root():
    """The leaves are pure: nothing is left to be told."""
    told = TreeTraffic.of(TREE, LEAVES).information()
    entropy = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert told.sum() == pytest.approx(8 * entropy)
    assert told[2] == pytest.approx(4)
    np.testing.assert_array_equal(told[[1, 3, 4]], 0)


def test_nodes_without_pixels_tell_nothing():
    traffic = TreeTraffic.of(TREE, np.zeros(3, np.int64))
    np.testing.assert_array_equal(traffic.information(), 0)
    assert np.isfinite(traffic.posteriors).all()


def test_the_map_has_the_information_where_probes_look():
    offsets = np.zeros((2, 2, 2), np.float32)
    offsets[0, 0] = 3 * CELL_M, 0  # the root: one probe, below the pixel
    offsets[1, 0], offsets[1, 1] = (0, 2 * CELL_M), (0, -2 * CELL_M)  # the other: one to each side
    traffic = TreeTraffic.of(TREE, LEAVES)
    root, other = traffic.information()[[0, 2]] / traffic.information().sum()
    shares = probe_map([traffic], [offsets])
    wanted = np.zeros((7, 7))
    wanted[6, 3] = root
    wanted[3, 5] = wanted[3, 1] = other / 2
    np.testing.assert_allclose(shares, wanted)


def test_a_map_is_drawn_darkest_where_it_has_most():
    shares = np.zeros((21, 21))
    shares[4, 16] = 1
    picture = draw_probe_map(shares, "probes").sum(axis=2)
    top = 30  # of the title
    assert picture[top + 4 * 6 + 3, 4 + 16 * 6 + 3] < picture[top + 4 * 6 + 3, 4 + 3 * 6 + 3]
