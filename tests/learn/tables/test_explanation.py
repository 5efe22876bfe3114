"""Paths in words, the candidates of every split, and drawings that notebooks and Graphviz show."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

from posepipe.learn.impurity import gain_ratio, information_gain
from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
from posepipe.learn.tables.examples import load_example
from posepipe.learn.tables.explanation import explain, split_log
from posepipe.learn.tables.plotting.graphviz import graphviz_text
from posepipe.learn.tables.plotting.tree_drawing import draw_tree
from posepipe.learn.tables.splitting.unseen import UnseenCategoryWarning


def fitted(learner, name, **options):
    example = load_example(name)
    return learner.fit(example.rows, example.target, **options), example


def test_a_row_of_numbers_is_led_to_its_leaf_in_words():
    X, y = load_iris(return_X_y=True)
    learner = CartClassifier(max_depth=2).fit(X, y)
    text = str(explain(learner, X[0], load_iris().feature_names))
    assert text.splitlines() == [
        "all rows: 0 50, 1 50, 2 50",
        "petal length (cm) <= 2.45 (here 1.4): 0 50",
        "prediction: 0",
    ]


def test_a_number_is_explained_by_the_means():
    example = load_example("steps")
    learner = CartRegressor(max_depth=2, min_samples_leaf=3).fit(example.rows.astype(float), example.target)
    explanation = explain(learner, [2.0], ["x"])
    assert [step.condition for step in explanation.steps] == ["x <= 6.5", "x <= 3.5"]
    assert explanation.steps[-1].rows == "3 rows, mean 5.72333"
    assert explanation.prediction == "5.72333"


def test_a_missing_cell_is_told():
    learner, weather = fitted(C45Classifier(min_samples_leaf=1), "weather")
    explanation = explain(learner, [None, "mild", "high", "weak"], weather.columns)
    assert explanation.steps[0].answer == "missing"
    assert explanation.is_shared
    assert "mean of several leaves" in str(explanation)
    assert not explain(learner, ["rain", None, "high", "weak"], weather.columns).is_shared  # never asked


def test_a_category_named_missing_is_not_missing():
    learner = CartClassifier().fit(np.array([["missing"], ["there"]] * 2, object), [0, 1, 0, 1])
    explanation = explain(learner, ["missing"])
    assert explanation.steps[0].answer == "missing"
    assert not explanation.is_shared


def test_a_category_that_no_row_of_the_node_has_is_told():
    rows = [[0, "c"]] * 9 + [[1, "a"]] * 3 + [[1, "b"]] * 2 + [[0, "a"]]
    learner = CartClassifier(category_split="subset").fit(np.array(rows, object), [0] * 9 + [1] * 3 + [2] * 2 + [0])
    explanation = explain(learner, [1, "c"], ["number", "letter"])
    assert learner.predict_proba(np.array([[1, "c"]], object)).tolist() == [[0.0, 0.6, 0.4]]
    assert explanation.steps[1].answer == "c, which no row of the node has"
    assert explanation.is_shared


@pytest.mark.parametrize("number", [0.10000001, 1000001.3, 1700000000.1234])
def test_a_number_close_to_its_threshold_is_told_from_it(number):
    threshold = np.nextafter(number, 0)
    learner = CartClassifier().fit([[threshold], [np.nextafter(threshold, 0)]], [0, 1])
    step = explain(learner, [number]).steps[0]
    assert float(step.condition.split(" > ")[1]) < float(step.answer)


def test_a_member_of_a_forest_is_explained():
    X, y = load_iris(return_X_y=True)
    member = RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y).estimators_[1]
    explanation = explain(member, X[100])
    assert explanation.prediction == str(member.predict(X[100:101])[0])
    assert len(explanation.steps) == member.tree_.tree.levels()[member.apply(X[100:101])[0]]


def test_more_than_one_row_is_refused():
    learner, weather = fitted(Id3Classifier(), "weather")
    with pytest.raises(ValueError, match="explain takes one row, got 2"):
        explain(learner, weather.rows[:2])


@pytest.mark.parametrize("learner", [Id3Classifier(), C45Classifier(min_samples_leaf=1, prune=None)], ids=repr)
def test_the_log_holds_the_gain_of_every_candidate(learner):
    learner, weather = fitted(learner, "weather", log=True)
    log = split_log(learner, weather.columns)
    assert {candidate.node for candidate in log.candidates} == {0, 2, 3}
    for k, candidate in enumerate(log.of(0)):
        values, target = weather.rows[:, k], weather.target == "yes"
        children = np.array(
            [[np.sum((values == v) & (target == t)) for t in (False, True)] for v in np.unique(values.astype(str))]
        )
        assert candidate.gain == pytest.approx(information_gain(children.sum(axis=0), children))
        assert candidate.ratio == pytest.approx(gain_ratio(children.sum(axis=0), children))
        assert candidate.is_chosen == (candidate.column == "outlook")


def test_the_log_tells_why_a_higher_ratio_is_not_chosen():
    # of fourteen days: gains 0.113 and 0.236, 0.175 on average; one day alone has the highest ratio
    rows = [[int(day == 0), int(day < 8)] for day in range(14)]
    target = ["no"] + ["yes"] * 7 + ["no"] * 4 + ["yes"] * 2
    guarded, free = (
        split_log(C45Classifier(min_samples_leaf=1, prune=None, average_gain_guard=guard).fit(rows, target, log=True))
        for guard in (True, False)
    )
    alone, half = guarded.of(0)
    assert alone.ratio > half.ratio
    assert (alone.is_chosen, half.is_chosen) == (False, True)
    assert (alone.is_below_average, half.is_below_average) == (True, False)
    assert str(guarded).splitlines()[0].endswith("below the average gain")
    assert str(guarded).splitlines()[1].endswith("<- split")
    assert "average" not in str(free)


def test_a_log_changes_no_tree():
    X, y = load_iris(return_X_y=True)
    plain, logged = CartClassifier().fit(X, y), CartClassifier().fit(X, y, log=True)
    np.testing.assert_array_equal(plain.tree_.tree.threshold, logged.tree_.tree.threshold)
    assert len(split_log(logged).candidates) == 4 * (~logged.tree_.tree.is_leaf).sum()
    with pytest.raises(ValueError, match="fit the tree with log=True"):
        split_log(plain)


def test_a_drawing_is_a_picture_in_a_notebook():
    learner, weather = fitted(Id3Classifier(), "weather")
    drawing = draw_tree(learner, weather.columns)
    assert drawing._repr_svg_() == drawing
    assert drawing.startswith("<svg")


def test_a_tree_is_written_for_graphviz():
    learner, weather = fitted(Id3Classifier(), "weather")
    text = graphviz_text(learner, ['the "outlook"', *weather.columns[1:]])
    assert text.splitlines()[:4] == [
        "digraph tree {",
        "  node [shape=box];",
        '  0 [label="the \\"outlook\\""];',
        '  0 -> 1 [label="overcast"];',
    ]
    assert text.count("->") == learner.tree_.tree.n_nodes - 1
    assert text.count("shape=ellipse") == learner.get_n_leaves()


def test_an_unseen_category_is_told_once():
    tree = CartRegressor().fit(np.array([["a"], ["b"], ["a"]], object), [1.0, 2.0, 1.0])
    with pytest.warns(UnseenCategoryWarning) as told:
        text = str(explain(tree, ["c"]))
    assert len(told) == 1
    assert "1 rows" not in text


def test_a_row_of_a_dataframe_is_explained_by_its_names():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    table = pandas.DataFrame({"size": [1.0, 2.0, 30.0, 40.0], "colour": ["red", "blue", "red", "blue"]})
    tree = CartClassifier().fit(table, ["a", "a", "b", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "size <= 16 (here 2): a 2" in str(explain(tree, table.iloc[1]))
    with pytest.raises(ValueError, match="same order"):
        explain(tree, table[["colour", "size"]].iloc[1])
    with pytest.warns(UserWarning, match="feature names") as told:
        explain(tree, [2.0, "blue"])
    assert len(told) == 1
