"""Boosted trees: their score, and arrays that are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF

STUMP = BoostedTrees(
    ("width", "area"),
    number=np.array([1, LEAF, LEAF], np.int32),
    threshold=np.array([0.5, 0, 0], np.float32),
    child=np.array([1, 0, 0], np.int32),
    value=np.array([0, -2, 3], np.float32),
    roots=np.array([0], np.int32),
)


def test_evidence_up_to_the_threshold_leads_to_the_first_child():
    assert [STUMP.score(np.array([9, area], np.float32)) for area in (0.4, 0.5, 0.6)] == [-2, -2, 3]


def test_the_score_is_the_sum_of_all_trees():
    two = replace(STUMP, roots=np.array([0, 2], np.int32))
    assert [two.score(np.array([9, area], np.float32)) for area in (0.4, 0.6)] == [1, 6]


def test_trees_find_their_own_evidence_among_more():
    measured = np.array([10, 11, 12, 13], np.float32)
    for names in (("width", "area", "height", "depth"), ("depth", "area", "height", "width")):
        own = measured[STUMP.places_among(names)]
        assert own.tolist() == [10 + names.index(name) for name in STUMP.names]
    with pytest.raises(ValueError, match="need 'area', which this posepipe does not measure"):
        STUMP.places_among(("width", "height"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"number": np.array([99, LEAF, LEAF], np.int32)}, "outside"),
        ({"number": np.array([-2, LEAF, LEAF], np.int32)}, "outside"),
        ({"child": np.array([0, 0, 0], np.int32)}, "come after"),
        ({"child": np.array([2, 0, 0], np.int32)}, "come after"),
        ({"roots": np.array([3], np.int32)}, "roots"),
        ({"roots": np.array([], np.int32)}, "roots"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(STUMP, **changes)


@pytest.mark.parametrize(("levels", "refused"), [(200, False), (300, True)])
def test_a_chain_of_nodes_is_bounded(levels, refused):
    size = 2 * levels + 1
    inner = np.arange(size) % 2 == 0
    inner[-1] = False  # nodes 0, 2, 4 ...: each has a leaf and the next one as children
    number = np.where(inner, 0, LEAF).astype(np.int32)
    child = np.where(inner, np.arange(size) + 1, 0).astype(np.int32)
    chain = {"number": number, "child": child, "threshold": np.zeros(size, np.float32)}
    chain |= {"value": np.zeros(size, np.float32), "roots": np.zeros(1, np.int32)}
    if refused:
        with pytest.raises(ValueError, match="at most 10000 trees of 256 levels"):
            replace(STUMP, **chain)
    else:
        replace(STUMP, **chain)
