"""Misclassification costs: validation rows choose the tree that is cheapest, not the one that is right most often."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.learn import CartClassifier, CostComplexityCV
from posepipe.learn.cost_complexity import cost_complexity_path
from posepipe.learn.impurity import GINI, MISCLASSIFICATION, impurity
from posepipe.learn.pruning import validation_errors
from posepipe.learn.tree import LEAF, Tree

COSTS = np.array([[0.0, 1], [10, 0]])
STUMP = Tree(
    feature=np.array([0, LEAF, LEAF]),
    threshold=np.array([0.5, 0, 0]),
    first_child=np.array([1, 0, 1]),
    leaf_statistics=np.array([[95.0, 5], [70, 30]]),
)


def rare_errors(seed):
    """Class 1 is rare on one side and less rare, though still the rarer one, on the other."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, 4000)
    return x[:, None].astype(float), (rng.random(4000) < np.where(x, 0.30, 0.05)).astype(int)


@pytest.mark.parametrize(
    "learner",
    [
        CartClassifier(costs=COSTS, prune="reduced-error", random_state=0),
        CartClassifier(costs=COSTS, prune="cost-complexity", random_state=0),
        CartClassifier(costs=COSTS, prune="cost-complexity", standard_errors=1, random_state=0),
        CartClassifier(costs=COSTS, prune="cost-complexity", prune_criterion="misclassification", random_state=0),
        CartClassifier(costs=COSTS, stop="validation", random_state=0),
        CostComplexityCV(CartClassifier(costs=COSTS), cv=4),
    ],
    ids=["reduced error", "cost-complexity", "standard errors", "misclassification", "stop", "cross-validation"],
)
def test_a_split_that_saves_costs_is_kept(learner):
    learner.fit(*rare_errors(0))
    np.testing.assert_array_equal(learner.predict([[0.0], [1.0]]), [0, 1])


def test_validation_errors_are_costs_of_the_cheapest_class():
    validation = np.array([[160.0, 40], [90, 10], [70, 30]])
    errors, total = validation_errors(STUMP, validation, GINI, COSTS)
    # predicting 0 costs 10 for each row of class 1, predicting 1 costs 1 for each of class 0
    assert (errors.tolist(), total) == ([160, 100, 70], 200)
    assert validation_errors(STUMP, validation, GINI, COSTS, power=2)[0].tolist() == [160, 1000, 70]


def test_standard_errors_are_those_of_costs():
    path = cost_complexity_path(STUMP, GINI, COSTS)
    validation = np.array([[160.0, 40], [90, 10], [70, 30]])
    assert path.errors(validation)[0] == pytest.approx(0.85)
    assert path.errors(validation, power=2)[0] == pytest.approx(5.35)


def test_misclassification_is_the_cost_of_the_cheapest_class():
    counts = np.array([[95.0, 5], [70, 30], [0, 0]])
    assert impurity(MISCLASSIFICATION, counts, COSTS) == pytest.approx([0.5, 0.7, 0])
    assert impurity(MISCLASSIFICATION, counts, 1 - np.eye(2)) == pytest.approx([0.05, 0.3, 0])


def test_importances_are_decreases_of_the_impurity_with_costs():
    X = np.array([[0.0, 0], [0, 0], [1, 0], [1, 1], [1, 1]])
    y, costs = [0, 0, 1, 2, 2], np.array([[0.0, 1, 1], [1, 0, 9], [1, 9, 0]])
    plain, dear = CartClassifier().fit(X, y), CartClassifier(costs=costs).fit(X, y)
    decrease = [0.0, 0.0]
    statistics, tree = dear.tree_.tree.node_statistics(), dear.tree_.tree
    total = impurity(GINI, statistics, costs) * statistics.sum(axis=1)
    for node in np.flatnonzero(~tree.is_leaf):
        decrease[tree.feature[node]] += total[node] - total[list(tree.children(node))].sum()
    assert dear.feature_importances_ == pytest.approx(np.array(decrease) / sum(decrease))
    assert not np.allclose(dear.feature_importances_, plain.feature_importances_)
