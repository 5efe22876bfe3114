"""Stopping rules of tables: the minimum impurity decrease by hand, with scikit-learn's weighting; not fitted."""

from __future__ import annotations

import csv
import io
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from posepipe.learn import C45Classifier, CartClassifier, CartRegressor, Id3Classifier, RandomForestClassifier
from posepipe.learn.growing import GrowthRules, OpenNodes
from posepipe.learn.tables.table_model import NumbersAsTextWarning, TableGrowthRules

#: nodes of 2, 3 and 5 rows; the second has a gap before it, as a selection of open nodes may have
NODES = OpenNodes(np.arange(12, dtype=np.int32), None, np.array([0, 3, 7]), np.array([2, 6, 12]))
GAIN = np.array([0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("minimum", "accepted"),
    [(0.05, [True, True, True]), (0.06, [False, True, True]), (0.08, [False, False, True]), (0.13, [False] * 3)],
)
def test_a_gain_counts_by_the_share_of_rows_at_the_node(minimum, accepted):
    # 2 / 20 x 0.5 = 0.05, 3 / 20 x 0.5 = 0.075, 5 / 20 x 0.5 = 0.125
    rules = TableGrowthRules(min_impurity_decrease=minimum, total_weight=20)
    assert rules.accept(GAIN, NODES).tolist() == accepted


def test_a_gain_counts_by_the_share_of_weight_at_the_node():
    weight = np.array([0.5, 0.25, 9, 1, 1, 1, 9, 2, 2, 2, 2, 2])
    rules = TableGrowthRules(min_impurity_decrease=0.075, total_weight=20)
    # 0.75 / 20 x 0.5 = 0.019, 3 / 20 x 0.5 = 0.075, 10 / 20 x 0.5 = 0.25
    assert rules.accept(GAIN, NODES._replace(weight=weight)).tolist() == [False, True, True]


def test_a_minimum_of_0_accepts_splits_without_gain_but_no_loss():
    rules = TableGrowthRules(min_impurity_decrease=0.0, total_weight=20)
    assert rules.accept(np.array([0.0, -1e-9, -np.inf]), NODES).tolist() == [True, False, False]


def test_no_split_at_all_is_never_accepted():
    rules = TableGrowthRules(min_impurity_decrease=1e-6, total_weight=20)
    assert not rules.accept(np.full(3, -np.inf), NODES).any()
    assert rules.accept(np.zeros(0), NODES._replace(starts=np.zeros(0, int), ends=np.zeros(0, int))).shape == (0,)


def test_the_depth_forest_s_rules_compare_the_gain_at_the_node():
    assert GrowthRules(min_gain=0.5).accept(np.array([0.5, 0.4999, -np.inf]), NODES).tolist() == [True, False, False]


@pytest.mark.parametrize("learner", [Id3Classifier, C45Classifier, CartClassifier, CartRegressor])
def test_a_tree_that_is_not_fitted_says_so(learner):
    rows = [[0.0, 1.0]]
    for ask in (
        lambda tree: tree.predict(rows),
        lambda tree: tree.apply(rows),
        lambda tree: tree.decision_path(rows),
        lambda tree: tree.get_depth(),
        lambda tree: tree.get_n_leaves(),
        lambda tree: tree.feature_importances_,
        lambda tree: tree.ties_,
    ):
        with pytest.raises(NotFittedError, match=f"This {learner.__name__} instance is not fitted yet"):
            ask(learner())


LENGTHS = list(csv.reader(io.StringIO("5.1,red,3\n4.9,blue,1\n6.0,red,2\n5.5,red,1\n")))


@pytest.mark.parametrize("learner", [Id3Classifier, C45Classifier, CartClassifier, RandomForestClassifier])
def test_numbers_that_are_text_are_told(learner):
    with pytest.warns(NumbersAsTextWarning, match=r"are categories, in 'column 0'; convert them with float\(\)"):
        learner().fit(LENGTHS, ["a", "b", "a", "b"])


def test_many_integers_that_are_text_are_told():
    few, many = [[str(k % 10)] for k in range(30)], [[str(k % 11)] for k in range(30)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CartClassifier().fit(few, np.arange(30) % 2)
    with pytest.warns(NumbersAsTextWarning):
        CartClassifier().fit(many, np.arange(30) % 2)


def test_declared_categories_and_texts_are_not_told():
    frame = pytest.importorskip("pandas").DataFrame(LENGTHS).astype({0: "category"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CartClassifier(categorical=[0, 1]).fit(LENGTHS, ["a", "b", "a", "b"])
        CartClassifier(categorical="all").fit(LENGTHS, ["a", "b", "a", "b"])
        CartClassifier().fit(frame.rename(columns=str), ["a", "b", "a", "b"])
        CartClassifier().fit([["5.1"], ["unknown"]], ["a", "b"])
