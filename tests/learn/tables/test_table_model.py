"""Stopping rules of tables: the minimum impurity decrease by hand, with scikit-learn's weighting; not fitted."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from posepipe.learn import C45Classifier, CartClassifier, CartRegressor, Id3Classifier
from posepipe.learn.growing import GrowthRules, OpenNodes
from posepipe.learn.tables.table_model import TableGrowthRules

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
