"""Weights of rows: their scale changes no tree, and boosting, bagging and class weights work as with scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from posepipe.learn.tables.estimators.ensembles.bagging import BaggingClassifier
from posepipe.learn.tables.estimators.ensembles.extra_trees import ExtraTreesClassifier
from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
from posepipe.learn.tables.row_weights import weight_of_a_row

LEARNERS = [
    Id3Classifier(),
    C45Classifier(),
    C45Classifier(prune="reduced-error", random_state=0, min_samples_leaf=0.05),
    CartClassifier(min_samples_leaf=5),
    CartClassifier(prune="cost-complexity", standard_errors=1, random_state=0),
    CartClassifier(stop="chi-square"),
    CartRegressor(min_samples_leaf=5),
    BaggingClassifier(n_estimators=3, random_state=0),
    BaggingClassifier(C45Classifier(), n_estimators=3, random_state=0),
]


@pytest.mark.parametrize("scale", [1 / 150, 1e-9, 7])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_scale_of_weights_changes_no_tree(learner, scale):
    X, y = load_iris(return_X_y=True)
    plain, scaled = clone(learner).fit(X, y), clone(learner).fit(X, y, np.full(150, scale))
    np.testing.assert_allclose(plain.predict(X), scaled.predict(X), atol=1e-12)
    weight = np.random.default_rng(0).uniform(0.1, 3, 150)
    one, other = clone(learner).fit(X, y, weight), clone(learner).fit(X, y, scale * weight)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-12)


def test_a_gap_counts_by_its_share_whatever_the_weights():
    # the first column divides the row of unknown half; the second then has 2.5 rows on each side
    X = np.array([[0.0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 0], [np.nan, 1]])
    y = [0, 0, 1, 1, 2, 2, 2, 2, 1]
    for weight in (None, np.full(9, 0.01)):
        leaves = [CartClassifier(min_samples_leaf=n).fit(X, y, weight).get_n_leaves() for n in (2, 3)]
        assert leaves == [3, 2]


@pytest.mark.parametrize("parameters", [{"min_samples_leaf": 7}, {"min_samples_leaf": 0.1}, {"min_samples_split": 0.4}])
def test_limits_count_rows_as_scikit_learn_s_do(parameters):
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(2).uniform(0.01, 5, len(y))
    ours = CartClassifier(max_depth=3, **parameters).fit(X, y, weight)
    theirs = DecisionTreeClassifier(max_depth=3, random_state=0, **parameters).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(2).uniform(0.01, 5, len(y))
    ours = CartRegressor(max_depth=3, **parameters).fit(X, y, weight)
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0, **parameters).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier, RandomForestRegressor])
@pytest.mark.parametrize("light", [0.01, 1.0])
def test_weights_leave_the_rows_of_a_forest_s_leaves(forest, light):
    X, y = load_wine(return_X_y=True)
    weight = np.ones(len(y))
    weight[0] = light
    grown = forest(n_estimators=3, min_samples_leaf=20, bootstrap=False, random_state=0).fit(X, y, weight)
    for leaves in grown.apply(X).T:
        assert np.unique(leaves, return_counts=True)[1].min() >= 20


def test_class_weights_count_in_given_validation_rows():
    X, y = load_wine(return_X_y=True)
    half = np.arange(len(y)) % 2 == 0
    options = {"prune": "reduced-error", "class_weight": {0: 1.0, 1: 6.0, 2: 1.0}}
    tree = CartClassifier(**options).fit(X[half], y[half], validation=(X[~half], y[~half]))
    weight = np.array([1.0, 6.0, 1.0])[y[~half]]
    wrong = tree.predict(X[~half]) != y[~half]
    assert tree.validation_error_ == pytest.approx(np.average(wrong, weights=weight))


def test_a_minimum_share_of_the_weight_is_scikit_learn_s():
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(2).uniform(0.01, 5, len(y))
    parameters = {"min_weight_fraction_leaf": 0.1, "max_depth": 3}
    ours, theirs = CartClassifier(**parameters), DecisionTreeClassifier(random_state=0, **parameters)
    np.testing.assert_allclose(ours.fit(X, y, weight).predict_proba(X), theirs.fit(X, y, weight).predict_proba(X))


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1e-4, 1: 5e-4, 2: 2e-4}], ids=str)
def test_class_weights_do_not_prune(class_weight):
    X, y = load_wine(return_X_y=True)
    parameters = {"class_weight": class_weight, "min_samples_leaf": 9, "max_depth": 3}
    theirs = DecisionTreeClassifier(random_state=0, **parameters).fit(X, y)
    np.testing.assert_allclose(CartClassifier(**parameters).fit(X, y).predict_proba(X), theirs.predict_proba(X))
    assert C45Classifier(class_weight=class_weight).fit(X, y).score(X, y) > 0.97


def test_boosted_stumps_are_scikit_learn_s():
    X, y = load_wine(return_X_y=True)
    stumps = CartClassifier(max_depth=1), DecisionTreeClassifier(max_depth=1, random_state=0)
    ours, theirs = (ensemble.AdaBoostClassifier(stump, n_estimators=30, random_state=0).fit(X, y) for stump in stumps)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert len(ours.estimators_) == 30


def test_boosted_c45_keeps_pruning():
    """Weights that add up to the number of rows keep the leaf sizes and errors in rows (Quinlan 1996)."""
    X, y = load_iris(return_X_y=True)
    boosted = ensemble.AdaBoostClassifier(C45Classifier(max_depth=2), n_estimators=10, random_state=0).fit(X, y)
    assert len(boosted.estimators_) == 10
    assert boosted.score(X, y) > C45Classifier(max_depth=2).fit(X, y).score(X, y)


@pytest.mark.parametrize("bag", [ensemble.BaggingClassifier, ensemble.AdaBoostClassifier])
def test_scikit_learn_s_ensembles_take_our_trees(bag):
    X, y = load_iris(return_X_y=True)
    trees = CartClassifier(min_samples_leaf=3), DecisionTreeClassifier(min_samples_leaf=3, random_state=0)
    scores = [bag(tree, n_estimators=10, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) for tree in trees]
    assert abs(scores[0] - scores[1]) < 0.03


@pytest.mark.parametrize(
    ("weight", "row"),
    [
        *[(None, 1), ([1, 1, 1], 1), ([2, 4, 2], 2), ([1 / 150] * 3, 1 / 150), ([0.3, 0.9, 0.6], 0.3)],
        *[([1, 1.5, 2], 1.5), ([1e-30, 1, 2], 1), ([1e-300, 1e300], 5e299), ([1, 10**8], 1)],
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_row_weighs_the_unit_of_repeated_rows_or_the_mean(weight, row):
    assert weight_of_a_row(None if weight is None else np.array(weight, float)) == pytest.approx(row)


@pytest.mark.parametrize("learner", [C45Classifier(), LEARNERS[3], *LEARNERS[5:7]], ids=repr)
def test_a_row_of_hardly_any_weight_is_not_the_unit(learner):
    """Else limits and errors would count the others as very many rows each."""
    X, y = load_iris(return_X_y=True)
    weight = np.r_[np.ones(149), 1e-30]
    beside, alone = clone(learner).fit(X, y, weight), clone(learner).fit(X[:149], y[:149])
    np.testing.assert_array_equal(beside.tree_.tree.n_leaves, alone.tree_.tree.n_leaves)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_weights_far_apart_are_no_overflow(learner):
    X, y = load_iris(return_X_y=True)
    learner = clone(learner).fit(X, y, np.where(np.arange(150) % 3 == 0, 1e-300, 1e300))
    assert np.mean(np.abs(learner.predict(X) - y) < 0.6) > 0.9


@pytest.mark.parametrize(
    "learner", [*LEARNERS[:2], LEARNERS[3], CartRegressor(), RandomForestClassifier(n_estimators=2)]
)
def test_weights_beyond_the_range_of_numbers_are_refused(learner):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="add up to a finite number, got up to 1e"):
        clone(learner).fit(X, y, np.full(150, 1e307))
    with pytest.raises(ValueError, match="below 2e-308 are rounded, got up to 1e-310; scale them up"):
        clone(learner).fit(X, y, np.full(150, 1e-310))


def test_class_weights_that_add_up_to_infinity_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"add up to a finite number, got up to 1e\+307"):
        CartClassifier(class_weight={0: 1e307, 1: 1, 2: 1}).fit(X, y)
