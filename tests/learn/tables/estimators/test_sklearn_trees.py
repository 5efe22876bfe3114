"""Trees and forests given to scikit-learn predict as ours do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.tree import export_text

from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor
from posepipe.learn.tables.estimators.sklearn_trees import to_sklearn
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor


def rows(load):
    X, y = load(return_X_y=True)
    return X.astype(np.float32).astype(np.float64), y


@pytest.mark.parametrize(
    "learner",
    [CartClassifier(max_depth=4), CartClassifier(criterion="entropy"), RandomForestClassifier(n_estimators=5)],
    ids=repr,
)
def test_classes_are_predicted_alike(learner):
    X, y = rows(load_wine)
    y = np.array(["a", "b", "c"])[y]
    learner.set_params(missing="most_common", **{k: 0 for k in learner.get_params() if k == "random_state"})
    theirs = to_sklearn(learner.fit(X, y))
    np.testing.assert_allclose(theirs.predict_proba(X), learner.predict_proba(X))
    np.testing.assert_array_equal(theirs.predict(X), learner.predict(X))
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    np.testing.assert_allclose(theirs.predict_proba(X), learner.predict_proba(X))


@pytest.mark.parametrize("learner", [CartRegressor(max_depth=5), RandomForestRegressor(n_estimators=5)], ids=repr)
def test_numbers_are_predicted_alike(learner):
    X, y = rows(load_diabetes)
    theirs = to_sklearn(learner.set_params(random_state=0).fit(X, y))
    np.testing.assert_allclose(theirs.predict(X), learner.predict(X))
    assert theirs.score(X, y) == pytest.approx(learner.score(X, y))


def test_tools_of_scikit_learn_read_the_tree():
    X, y = rows(load_wine)
    ours = CartClassifier(max_depth=2).fit(X, y)
    theirs = to_sklearn(ours)
    assert export_text(theirs).count("class:") == ours.get_n_leaves()
    np.testing.assert_allclose(theirs.feature_importances_, ours.feature_importances_)
    assert (theirs.get_depth(), theirs.get_n_leaves()) == (ours.get_depth(), ours.get_n_leaves())


@pytest.mark.parametrize(
    ("learner", "X", "message"),
    [
        (CartClassifier(), [["a"], ["b"]], "got categories or combinations"),
        (CartClassifier(costs=[[0, 1], [2, 0]]), [[1.0], [2]], "got costs"),
        (RandomForestClassifier(n_estimators=2, vote="majority"), [[1.0], [2]], "vote='posterior'"),
    ],
    ids=["categories", "costs", "votes"],
)
def test_what_scikit_learn_s_trees_lack_is_refused(learner, X, message):
    with pytest.raises(ValueError, match=message):
        to_sklearn(learner.fit(X * 2, [0, 1] * 2))
