"""Splits of CART by sets of categories, and ordered categories: Breiman's theorem, bounded search, words."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.learn.impurity import CRITERIA, gain
from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.plotting.tree_text import tree_text
from posepipe.learn.tables.rules import extract_rules

SETS = {"category_split": "subset"}


def best_of_all_sets(criterion, codes, y) -> float:
    """Best gain of all binary splits of the categories, one set after the other."""
    best, present = -np.inf, np.unique(codes)
    for size in range(1, len(present)):
        for inside in itertools.combinations(present, size):
            sides = [y[np.isin(codes, inside)], y[~np.isin(codes, inside)]]
            if criterion == "squared_error":
                children = [[len(side), side.sum(), (side**2).sum()] for side in sides]
            else:
                children = [np.bincount(side, minlength=4) for side in sides]
            best = max(best, float(gain(CRITERIA[criterion], np.array(children, float))))
    return best


def root_gain(criterion, tree) -> float:
    return float(gain(CRITERIA[criterion], tree.node_statistics()[list(tree.children(0))]))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@settings(max_examples=25)
@given(data=st.data())
def test_the_best_of_all_sets_is_found(criterion, data):
    n_classes = 7 if criterion == "squared_error" else data.draw(st.integers(2, 4))
    codes = np.array(data.draw(st.lists(st.integers(0, 5), min_size=4, max_size=25)))
    y = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=len(codes), max_size=len(codes))))
    words = np.array(list("abcdef"))[codes][:, None]
    if criterion == "squared_error":
        learner = CartRegressor(max_depth=1, **SETS)
    else:
        learner = CartClassifier(max_depth=1, criterion=criterion, **SETS)
    tree = learner.fit(words, y).tree_.tree
    if tree.n_nodes == 1:
        assert len(np.unique(codes)) == 1 or len(np.unique(y)) == 1
        return
    expected = best_of_all_sets(criterion, codes, y.astype(float) if criterion == "squared_error" else y)
    assert root_gain(criterion, tree) == pytest.approx(expected, abs=1e-9)


def test_many_categories_of_three_classes_go_by_shares():
    words = np.array([[f"{k:02}"] for k in range(20)] * 5)
    y = np.array([0 if k < 7 else 1 if k < 13 else 2 for k in range(20)] * 5)
    learner = CartClassifier(**SETS).fit(words, y)
    assert learner.score(words, y) == 1
    assert learner.get_n_leaves() == 3
    assert CartClassifier().fit(words, y).get_n_leaves() > 10  # one category against the rest


def test_a_set_is_written_and_made_a_rule():
    words = np.array([["a"], ["b"], ["c"], ["d"]] * 3)
    learner = CartClassifier(**SETS).fit(words, [0, 1, 0, 1] * 3)
    assert tree_text(learner, ["letter"]) == "letter\n|- a or c: 0 (6)\n'- b or d: 1 (6)"
    rules = extract_rules(learner, ["letter"])
    assert "if letter is a or c then 0" in rules.text()
    np.testing.assert_array_equal(rules.predict(words), learner.predict(words))


def test_a_category_that_a_node_lacks_counts_as_missing():
    X = np.array([["x", "a"], ["x", "b"], ["y", "a"], ["y", "c"]])
    learner = CartRegressor(**SETS).fit(X, [0, 1, 10, 11])
    assert learner.predict([["x", "b"], ["x", "c"], ["x", None]]).tolist() == pytest.approx([1, 0.5, 0.5])


def test_ordered_categories_are_split_at_thresholds():
    pandas = pytest.importorskip("pandas")
    sizes = ["small", "medium", "large", "huge"] * 4
    frame = pandas.DataFrame({"size": pandas.Categorical(sizes, sizes[:4], ordered=True)})
    y = [0, 0, 1, 1] * 4
    learner = CartClassifier().fit(frame, y)
    assert tree_text(learner) == "size\n|- <= medium: 0 (8)\n'- > medium: 1 (8)"
    assert "size <= medium" in extract_rules(learner).text()
    np.testing.assert_array_equal(learner.predict(frame), y)
    np.testing.assert_array_equal(learner.predict(frame.astype(object)), y)
    with pytest.warns(UserWarning, match="'Large' in column 'size'"):
        learner.predict(pandas.DataFrame({"size": ["Large"]}))
    unordered = CartClassifier(categorical=["size"]).fit(frame, y)
    assert unordered.get_n_leaves() > 2
    assert RandomForestClassifier(n_estimators=3, random_state=0).fit(frame, y).score(frame, y) == 1
