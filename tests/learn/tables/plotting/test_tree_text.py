"""Trees as text, against hand-written ones; ties are recomputed row by row."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from posepipe.learn import RandomForestClassifier, explain
from posepipe.learn.impurity import information_gain
from posepipe.learn.tables.estimators.sklearn_trees import to_sklearn
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
from posepipe.learn.tables.examples import load_example
from posepipe.learn.tables.plotting.graphviz import graphviz_text
from posepipe.learn.tables.plotting.tree_drawing import draw_tree
from posepipe.learn.tables.plotting.tree_text import tree_text
from posepipe.learn.tables.single_tree import SingleTreeClassifier
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.schema import Schema
from posepipe.learn.tables.splitting.split_gain import NUMERIC
from posepipe.learn.tree import LEAF, Tree


def text_of(learner, name: str) -> list[str]:
    example = load_example(name)
    return tree_text(learner.fit(example.rows, example.target), example.columns).splitlines()


@pytest.mark.parametrize(
    "values", [[1700000000.1, 1700000000.2, 1700000000.3, 1700000000.4], [0.1234561, 0.1234562, 0.1234563, 0.1234564]]
)
def test_thresholds_are_told_apart(values):
    lines = tree_text(CartClassifier().fit(np.array(values)[:, None], [0, 1, 0, 1])).splitlines()
    shown = sorted({float(line.split("<= ")[1].split(":")[0]) for line in lines if "<=" in line})
    assert len(shown) == 3
    for low, threshold, high in zip(values, shown, values[1:], strict=False):
        assert low <= threshold < high


def test_small_weights_are_not_shown_as_nothing():
    text = tree_text(CartClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1], np.full(3, 1 / 150)))
    assert "0 (0.0067)" in text
    assert "1 (0.013)" in text


def test_a_tree_of_another_kind_is_refused_in_one_line():
    X, y = [[0.0], [1.0]], [0, 1]
    with pytest.raises(NotFittedError):
        tree_text(CartClassifier())
    forest = RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y)
    for show in (tree_text, draw_tree, graphviz_text, partial(explain, row=X[0])):
        with pytest.raises(ValueError, match="wanted one of its estimators_, got RandomForestClassifier"):
            show(forest)
        show(forest.estimators_[0])
    assert forest.estimators_[0].ties_ == {}
    with pytest.raises(ValueError, match="scikit-learn has CART trees"):
        to_sklearn(C45Classifier().fit(X, y))


def chain(n_levels: int) -> SingleTreeClassifier:
    """A hand-made tree that splits off one leaf per level."""
    n_nodes = 2 * n_levels + 1
    inner = np.arange(n_nodes) % 2 == 0
    inner[-1] = False
    feature = np.where(inner, 0, LEAF).astype(np.int32)
    first_child = np.where(inner, np.arange(n_nodes) + 1, np.cumsum(~inner) - 1).astype(np.int32)
    threshold = np.where(inner, np.arange(n_nodes) / 2, 0.0)
    tree = Tree(feature, threshold, first_child, np.tile([[1.0, 0.0], [0.0, 2.0]], (n_levels, 1))[: n_levels + 1])
    learner = SingleTreeClassifier()
    learner.tree_ = TableTree(tree, np.array([NUMERIC], np.uint8), np.zeros((0, 1)), False)
    learner.schema_, learner.classes_ = Schema(("x",), (None,), (None,)), np.array(["no", "yes"])
    return learner


def test_the_weather_tree_is_written():
    assert text_of(Id3Classifier(), "weather") == [
        "outlook",
        "|- overcast: yes (4)",
        "|- rain: wind",
        "|  |- strong: no (2)",
        "|  '- weak: yes (3)",
        "'- sunny: humidity",
        "   |- high: no (3)",
        "   '- normal: yes (2)",
    ]


def test_binary_branches_and_their_ties_are_written():
    assert text_of(CartClassifier(), "defaulted_loans") == [
        "marital   (as good: income)",
        "|- married: no (4)",
        "'- not married: house   (as good: income)",
        "   |- no: income",
        "   |  |- <= 77.5: no (1)",
        "   |  '- > 77.5: yes (3)",
        "   '- yes: no (2)",
    ]


def test_empty_and_impure_leaves_are_marked():
    assert "|     |- French: No (no rows)" in text_of(Id3Classifier(), "restaurant")
    assert text_of(C45Classifier(min_samples_leaf=1), "restaurant")[1] == "|- Full: No (No: 4, Yes: 2)"


def test_rows_in_part_are_counted_in_part():
    tree = CartClassifier(max_depth=1, min_samples_leaf=1).fit([[1.0], [2.0], [3.0], [np.nan]], [0, 0, 1, 1])
    assert tree_text(tree).splitlines() == [
        "column 0",
        "|- <= 2.5: 0 (0: 2, 1: 0.67)",
        "'- > 2.5: 1 (1.33)",
    ]


def test_a_tree_of_numbers_shows_means():
    steps = load_example("steps")
    tree = CartRegressor(max_depth=2, min_samples_leaf=3).fit(steps.rows.astype(float), steps.target)
    assert tree_text(tree, ["x"]).splitlines() == [
        "x",
        "|- <= 6.5: x",
        "|  |- <= 3.5: 5.72333 (3 rows)",
        "|  '- > 3.5: 6.75 (3 rows)",
        "'- > 6.5: 8.9125 (4 rows)",
    ]


def test_a_combination_of_columns_is_written_out():
    rng = np.random.default_rng(0)
    points = rng.random((200, 2))
    tree = CartClassifier(oblique=True, max_depth=1).fit(points, points @ [2, -1] > 0.5)
    question = tree_text(tree, ["a", "b"]).splitlines()[0]
    signs = question.split()
    assert signs[1::3] == ["a", "b"]
    assert signs[2] in "+-"


def test_a_single_leaf_is_one_line():
    assert tree_text(CartClassifier().fit([[1.0], [2.0]], ["yes", "yes"])) == "yes (2)"
    assert tree_text(CartRegressor().fit([[1.0]], [7.0])) == "7 (1 row)"


def test_names_of_many_lines_stay_on_one():
    tree = CartClassifier().fit(np.array([["a\nb"], [""]], object), ["x\ty", "z"])
    assert tree_text(tree, ["two\nlines"]).splitlines() == ["two lines", "|- '': z (1)", "'- a b: x y (1)"]


def test_five_thousand_levels_print():
    lines = tree_text(chain(5000)).splitlines()
    assert len(lines) == 10_001
    assert lines[1] == "|- <= 0: no (1)"
    assert lines[-1] == "   " * 4999 + "'- > 4999: no (1)"


def test_ties_of_the_full_restaurant_are_named():
    # Hun, Price, Res, Type and Est all save 0.252 bits there
    assert text_of(Id3Classifier(), "restaurant")[1] == "|- Full: Hun   (as good: Price, Res, Type, Est)"


def best_columns(rows: np.ndarray, classes: np.ndarray) -> tuple[int, ...]:
    """Columns of categories with the maximum gain, from the definition."""
    counts = np.array([np.sum(classes == c) for c in np.unique(classes)])
    gains = []
    for column in rows.T:
        branches = [[np.sum((column == v) & (classes == c)) for c in np.unique(classes)] for v in np.unique(column)]
        gains.append(float(information_gain(counts, branches)))
    return tuple(np.flatnonzero(np.isclose(gains, max(gains), atol=1e-9)).tolist())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), prune=st.booleans())
def test_ties_follow_the_definition_before_and_after_pruning(seed, prune):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (30, 4)).astype(str).astype(object)
    classes = np.where(rng.random(30) < 0.7, rows[:, 1] == rows[:, 2], rng.random(30) < 0.5)
    fitted = Id3Classifier(min_impurity_decrease=1e-6, prune="reduced-error" if prune else None)
    fitted.fit(rows, classes, validation=(rows[:10], ~classes[:10]))
    tree, codes = fitted.tree_.tree, fitted._encode(rows).T
    reached = [(0, np.ones(len(rows), bool))]
    expected = {}
    while reached:
        node, here = reached.pop()
        if tree.is_leaf[node]:
            continue
        best = best_columns(rows[here], classes[here])
        assert tree.feature[node] == best[0]
        if len(best) > 1:
            expected[node] = best
        column = codes[:, tree.feature[node]]
        reached += [(child, here & (column == branch)) for branch, child in enumerate(tree.children(node))]
    assert fitted.ties_ == expected


@pytest.mark.parametrize(
    "learner", [C45Classifier(), CartClassifier(min_impurity_decrease=0.02), CartClassifier(oblique=True)]
)
def test_the_split_column_is_the_first_of_its_ties(learner):
    rng = np.random.default_rng(5)
    points = rng.integers(0, 4, (60, 3)).astype(float)
    points = np.column_stack([points, points[:, 0]])  # the last column ties with the first wherever that is best
    learner.fit(points, points[:, 0] + points[:, 1] + rng.random(60) > 3.5)
    assert learner.ties_
    asked = learner.tree_.tree.feature
    for node, columns in learner.ties_.items():
        assert asked[node] == columns[0]
        assert list(columns) == sorted(columns)
    for node in np.flatnonzero(asked == 0):
        assert 3 in learner.ties_[int(node)]


def test_finders_collect_no_ties_by_default():
    table = Table.of(np.eye(3), np.full(3, NUMERIC), np.zeros(3), np.arange(3) % 2, 2)
    assert ColumnSplits(table, 0).ties is None


def test_a_hand_made_tree_has_no_ties():
    assert not hasattr(chain(1), "ties_")
    assert tree_text(chain(1)).splitlines() == ["x", "|- <= 0: no (1)", "'- > 0: yes (2)"]
