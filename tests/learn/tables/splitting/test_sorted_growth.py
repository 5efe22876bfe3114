"""Growth from columns sorted once gives the tree of the growth loop, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.learn.tables.estimators.c45 import C45Classifier
from posepipe.learn.tables.estimators.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.splitting.column_splits import ColumnSplits

LEARNERS = [
    CartClassifier(),
    CartClassifier(criterion="entropy", min_samples_leaf=2, max_depth=3),
    CartClassifier(criterion="misclassification", min_impurity_decrease=0.01),
    CartClassifier(costs=[[0, 1, 9], [2, 0, 3], [1, 1, 0]]),
    CartRegressor(min_samples_split=3),
]


def by_the_loop(learner, monkeypatch, *rows):
    with monkeypatch.context() as patch:
        patch.setattr(ColumnSplits, "grow_sorted", lambda *_: None)
        return learner.fit(*rows).tree_.tree, learner.ties_


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@settings(max_examples=25)
@given(data=st.data())
def test_the_tree_is_that_of_the_growth_loop(learner, data):
    n_rows = data.draw(st.integers(3, 14))
    X = np.array(data.draw(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=n_rows, max_size=n_rows)), float)
    y = np.array([0, 1, 2, *data.draw(st.lists(st.integers(0, 2), min_size=n_rows - 3, max_size=n_rows - 3))])
    weight = data.draw(st.none() | st.lists(st.sampled_from([0.3, 1, 2.7]), min_size=n_rows, max_size=n_rows))
    with pytest.MonkeyPatch.context() as monkeypatch:
        expected, ties = by_the_loop(learner, monkeypatch, X, y, weight)
    tree = learner.fit(X, y, weight).tree_.tree
    for name in ("feature", "threshold", "first_child", "n_children", "leaf_statistics"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(expected, name))
        assert getattr(tree, name).dtype == getattr(expected, name).dtype
    assert learner.ties_ == ties


@pytest.mark.parametrize(
    ("learner", "X"),
    [
        (CartClassifier(), [[0.0], [1], [np.nan]]),
        (CartClassifier(), [["a"], ["b"], ["c"]]),
        (CartClassifier(oblique=True), [[0.0, 1], [1, 3], [2, 1]]),
        (C45Classifier(), [[0.0], [1], [2]]),
    ],
    ids=["missing", "categories", "combinations", "gain ratio"],
)
def test_other_tables_and_learners_take_the_loop(learner, X, monkeypatch):
    returned = []
    grow_sorted = ColumnSplits.grow_sorted

    def watched(*arguments):
        returned.append(grow_sorted(*arguments))
        return returned[-1]

    monkeypatch.setattr(ColumnSplits, "grow_sorted", watched)
    learner.fit(X, [0, 1, 0])
    assert returned == [None]
