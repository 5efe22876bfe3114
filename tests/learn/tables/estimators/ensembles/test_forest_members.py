"""Forests seen from inside: their trees, leaves and paths, beside scikit-learn's; best-first growth; pruned ID3."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from posepipe.learn.tables.estimators.ensembles.bagging import BaggingClassifier
from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
from posepipe.learn.tables.examples import load_example
from posepipe.learn.tables.plotting.tree_drawing import draw_tree
from posepipe.learn.tables.plotting.tree_text import tree_text


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(n_estimators=5, random_state=0).fit(*load_iris(return_X_y=True))


def test_the_mean_of_the_members_is_the_forest(forest):
    X, _ = load_iris(return_X_y=True)
    members = forest.estimators_
    assert [type(member) for member in members] == [CartClassifier] * 5
    np.testing.assert_allclose(np.mean([m.predict_proba(X) for m in members], axis=0), forest.predict_proba(X))
    X, y = load_diabetes(return_X_y=True)
    numbers = RandomForestRegressor(n_estimators=4, random_state=0).fit(X, y)
    np.testing.assert_allclose(np.mean([m.predict(X) for m in numbers.estimators_], axis=0), numbers.predict(X))


def test_a_member_is_written_and_drawn(forest):
    member = forest.estimators_[2]
    text = tree_text(member, load_iris().feature_names)
    assert text.count("\n") + 1 == member.tree_.tree.n_nodes
    assert text.startswith(("petal", "sepal"))
    assert f"Decision tree of {member.get_n_leaves()} leaves" in draw_tree(member)


def test_an_unfitted_forest_has_no_members():
    with pytest.raises(NotFittedError):
        _ = RandomForestClassifier().estimators_


def test_leaves_and_paths_lead_to_the_prediction(forest):
    X, _ = load_iris(return_X_y=True)
    leaves, (paths, starts) = forest.apply(X), forest.decision_path(X)
    assert leaves.shape == (150, 5)
    assert paths.shape == (150, starts[-1])
    for t, tree in enumerate(forest.trees_):
        own = paths[:, starts[t] : starts[t + 1]].toarray()
        assert own[:, 0].all()
        assert own[np.arange(150), leaves[:, t]].all()
        np.testing.assert_array_equal(own.sum(axis=1), tree.tree.levels()[leaves[:, t]] + 1)
        np.testing.assert_array_equal(forest.estimators_[t].apply(X), leaves[:, t])


def test_paths_and_leaves_of_a_tree_are_scikit_learn_s():
    X, y = load_iris(return_X_y=True)
    ours = CartClassifier(max_depth=2).fit(X, y)
    theirs = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    # the nodes of two levels have different numbers, but hold the same rows
    columns = {tuple(column) for column in ours.decision_path(X).toarray().T.tolist()}
    assert columns == {tuple(column) for column in theirs.decision_path(X).toarray().astype(bool).T.tolist()}


def test_the_oob_score_is_the_accuracy_or_the_determination():
    X, y = load_wine(return_X_y=True)
    for learner in (RandomForestClassifier(n_estimators=20, random_state=0), BaggingClassifier(random_state=0)):
        learner.fit(X, y)
        shares = learner.oob_decision_function_
        known = ~np.isnan(shares[:, 0])
        expected = accuracy_score(y[known], learner.classes_[shares[known].argmax(axis=1)])
        assert learner.oob_score_ == pytest.approx(expected)
    X, y = load_diabetes(return_X_y=True)
    numbers = RandomForestRegressor(n_estimators=30, random_state=0).fit(X, y)
    assert numbers.oob_score_ == pytest.approx(r2_score(y, numbers.oob_prediction_))
    theirs = ensemble.RandomForestRegressor(30, max_features=1 / 3, oob_score=True, random_state=0).fit(X, y)
    assert abs(numbers.oob_score_ - theirs.oob_score_) < 0.08


# Best-first growth


@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 5])
def test_best_first_growth_is_scikit_learn_s(max_leaf_nodes):
    X, y = load_wine(return_X_y=True)
    for criterion in ("gini", "entropy"):
        parameters = {"criterion": criterion, "max_leaf_nodes": max_leaf_nodes}
        ours = CartClassifier(**parameters).fit(X, y)
        theirs = DecisionTreeClassifier(random_state=0, **parameters).fit(X, y)
        assert ours.get_n_leaves() == theirs.get_n_leaves() == max_leaf_nodes
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    X, y = load_diabetes(return_X_y=True)
    ours = CartRegressor(max_leaf_nodes=max_leaf_nodes).fit(X, y)
    theirs = DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


def test_multiway_splits_stay_within_the_leaves():
    weather = load_example("weather")
    sizes = [Id3Classifier(max_leaf_nodes=n).fit(weather.rows, weather.target).get_n_leaves() for n in (2, 3, 4, 5, 9)]
    assert sizes == [1, 3, 4, 5, 5]  # outlook has three branches


def test_trees_of_a_forest_stay_within_the_leaves():
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=5, max_leaf_nodes=4, random_state=0).fit(X, y)
    assert [tree.tree.n_leaves for tree in forest.trees_] == [4] * 5


# Cost-complexity pruning of ID3 and C4.5


@pytest.mark.parametrize("learner", [Id3Classifier(), C45Classifier(prune=None, min_samples_leaf=1)], ids=repr)
def test_weak_links_of_multiway_trees_are_closed(learner):
    weather = load_example("weather")
    path = learner.cost_complexity_pruning_path(weather.rows, weather.target)
    # humidity and wind save 0.971 bits of 5/14 of the rows with one leaf more, outlook 0.247 bits with two
    assert path.leaves.tolist() == [5, 1]
    assert path.alphas.tolist() == pytest.approx([0, 0.940286 / 4], abs=1e-6)
    for alpha, leaves in ((0.1, 5), (0.3, 1)):
        pruned = type(learner)(**learner.get_params() | {"ccp_alpha": alpha}).fit(weather.rows, weather.target)
        assert pruned.get_n_leaves() == leaves
