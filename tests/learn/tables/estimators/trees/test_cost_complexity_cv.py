"""Cross-validated cost-complexity: the folds' errors by hand, scikit-learn's alpha beside ours, and its checks."""

from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.cost_complexity_cv import CostComplexityCV

WEIGHTS = {"check_sample_weight_equivalence_on_dense_data": "rows of weight 2 and repeated rows fall into other folds"}


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes interpreted; smaller ones remain")
@pytest.mark.parametrize("learner", [CartClassifier(), pytest.param(CartRegressor(), marks=pytest.mark.slow)], ids=repr)
def test_scikit_learn_s_checks_pass(learner):
    check_estimator(CostComplexityCV(learner, cv=2), on_skip=None, expected_failed_checks=WEIGHTS)


@pytest.mark.parametrize("learner", [CartClassifier(), CartRegressor(), C45Classifier(prune=None)], ids=repr)
def test_errors_of_folds_are_those_of_pruned_trees(learner):
    X, y = load_diabetes(return_X_y=True)
    X = X[:120]
    y = y[:120] if isinstance(learner, CartRegressor) else (y[:120] > 140).astype(int)
    folds = list(KFold(3).split(X))
    chosen = CostComplexityCV(learner, cv=folds).fit(X, y)
    for k in (0, len(chosen.alphas_) // 2, len(chosen.alphas_) - 2):
        between = np.sqrt(chosen.alphas_[k] * chosen.alphas_[k + 1])
        for fold, (train, test) in enumerate(folds):
            pruned = type(learner)(**learner.get_params() | {"ccp_alpha": between}).fit(X[train], y[train])
            wrong = pruned.predict(X[test]) - y[test]
            expected = np.mean(wrong**2) if isinstance(learner, CartRegressor) else np.mean(wrong != 0)
            assert chosen.cv_errors_[k, fold] == pytest.approx(expected)


def test_the_tree_is_about_that_of_a_search_with_scikit_learn_s():
    X, y = load_breast_cancer(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    ours = CostComplexityCV(CartClassifier(), cv=folds).fit(X, y)
    theirs = GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": ours.alphas_[::4]}, cv=folds).fit(X, y)
    assert 1 - ours.cv_errors_.mean(axis=1).min() == pytest.approx(theirs.best_score_, abs=0.02)


def test_one_standard_error_gives_a_smaller_tree():
    X, y = make_friedman1(300, noise=2, random_state=0)
    sizes = [
        CostComplexityCV(CartRegressor(), cv=5, standard_errors=n).fit(X, y).estimator_.get_n_leaves() for n in (0, 1)
    ]
    assert 1 < sizes[1] < sizes[0] < 300


def test_noise_leaves_the_root_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.random(200) < 0.3
    assert CostComplexityCV(CartClassifier(), standard_errors=1).fit(X, y).estimator_.get_n_leaves() == 1


def test_weights_count_errors():
    X, y = np.arange(40.0)[:, None], np.arange(40) // 20
    y[5] = 1
    light = np.ones(40)
    light[5] = 1e-6
    assert CostComplexityCV(CartClassifier(), cv=4).fit(X, y, light).cv_errors_.min() < 1e-6


def test_a_class_of_one_row_counts_as_an_error_of_its_fold():
    X, y = np.array([[0.0], [0], [0], [0], [1], [1], [1], [1], [1]]), [0, 0, 0, 0, 1, 1, 1, 1, 2]
    chosen = CostComplexityCV(CartClassifier(), cv=KFold(3)).fit(X, y)
    np.testing.assert_allclose(chosen.cv_errors_[0], [0, 0, 1 / 3])


@pytest.mark.parametrize("learner", [CartClassifier(prune="reduced-error"), C45Classifier()], ids=["cart", "c45"])
def test_a_tree_that_prunes_in_another_way_stays_on_the_path(learner):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(2)
    y = np.where(rng.random(len(y)) < 0.2, rng.integers(0, 3, len(y)), y)
    found = CostComplexityCV(learner, cv=4).fit(X, y)
    k = int(np.flatnonzero(found.alphas_ == found.ccp_alpha_)[0])
    assert found.estimator_.get_n_leaves() == found.leaves_[k]


def test_a_category_that_a_fold_lacks_is_no_unknown_one():
    X = [["rare"], *[["red"], ["blue"]] * 20]
    y = np.arange(len(X)) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CostComplexityCV(CartClassifier(unseen="error"), cv=5).fit(X, y)
