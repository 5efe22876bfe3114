"""Growth from columns sorted once gives the tree of the growth loop, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.splitting.column_splits import ColumnSplits
from tests.learn.same_trees import assert_same_tree

LEARNERS = [
    CartClassifier(),
    CartClassifier(criterion="entropy", min_samples_leaf=2, max_depth=3),
    CartClassifier(criterion="misclassification", min_impurity_decrease=0.01),
    CartClassifier(costs=[[0, 1, 9], [2, 0, 3], [1, 1, 0]]),
    CartRegressor(min_samples_split=3),
]

FORESTS = [
    RandomForestClassifier(n_estimators=2, max_features=1, random_state=0),
    RandomForestClassifier(n_estimators=2, max_features=2, criterion="entropy", min_samples_leaf=2, random_state=1),
    RandomForestClassifier(n_estimators=2, max_features=2, bootstrap=False, max_leaf_nodes=5, random_state=2),
    RandomForestRegressor(n_estimators=2, max_features=2, max_depth=3, random_state=3),
]


def by_the_loop(learner, monkeypatch, *rows):
    with monkeypatch.context() as patch:
        patch.setattr(ColumnSplits, "grow_sorted", lambda *_: None)
        return learner.fit(*rows).tree_.tree, learner.ties_


def drawn_table(data):
    """Some rows of three small numbers, with many ties, their classes and weights."""
    n_rows = data.draw(st.integers(3, 14))
    X = np.array(data.draw(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=n_rows, max_size=n_rows)), float)
    y = np.array([0, 1, 2, *data.draw(st.lists(st.integers(0, 2), min_size=n_rows - 3, max_size=n_rows - 3))])
    return X, y, data.draw(st.none() | st.lists(st.sampled_from([0.3, 1, 2.7]), min_size=n_rows, max_size=n_rows))


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@settings(max_examples=25)
@given(data=st.data())
def test_the_tree_is_that_of_the_growth_loop(learner, data):
    rows = drawn_table(data)
    with pytest.MonkeyPatch.context() as monkeypatch:
        expected, ties = by_the_loop(learner, monkeypatch, *rows)
    assert_same_tree(learner.fit(*rows).tree_.tree, expected)
    assert learner.ties_ == ties


@pytest.mark.parametrize("forest", FORESTS, ids=repr)
@settings(max_examples=25)
@given(data=st.data())
def test_trees_of_a_forest_are_those_of_the_growth_loop(forest, data):
    rows = drawn_table(data)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(ColumnSplits, "grow_sorted", lambda *_: None)
        expected = forest.fit(*rows).trees_
    for own, other in zip(forest.fit(*rows).trees_, expected, strict=True):
        assert_same_tree(own.tree, other.tree)


@pytest.mark.parametrize("scale", [1, 1e-100, 1e100])
def test_rows_with_any_weights_grow_the_tree_of_the_loop(scale, monkeypatch):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(2000, 3)), scale * rng.uniform(0.1, 1, 2000)
    y = (X.sum(axis=1) + rng.normal(size=2000) > 0).astype(int) + (rng.random(2000) < 0.1)
    expected, _ = by_the_loop(CartClassifier(), monkeypatch, X, y, weight)
    assert_same_tree(CartClassifier().fit(X, y, weight).tree_.tree, expected)


def test_a_wide_table_with_few_candidates_takes_the_loop(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 13)), rng.integers(0, 2, 30)
    returned = []
    grow_sorted = ColumnSplits.grow_sorted
    monkeypatch.setattr(
        ColumnSplits, "grow_sorted", lambda *given: returned.append(grow_sorted(*given)) or returned[-1]
    )
    for candidates in (1, 2):
        RandomForestClassifier(n_estimators=1, max_features=candidates, random_state=0).fit(X, y)
    assert [tree is None for tree in returned] == [True, False]


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
