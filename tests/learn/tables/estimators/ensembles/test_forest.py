"""Random forests against scikit-learn's checks and forests, small tables, and Breiman's statements."""

from __future__ import annotations

import math
import warnings

import numba
import numpy as np
import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.exceptions import SkipTestWarning
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_estimator

from posepipe.learn.tables.bounds import strength_bound
from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor
from posepipe.learn.tables.estimators.ensembles.forest_growth import n_candidate_columns

FORESTS = (RandomForestClassifier, RandomForestRegressor)

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes interpreted; smaller ones remain")
BAGS_DRAW_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "a bag draws two rows of weight 1 one by one, a row of 2 at once"
}


def table(n_rows=300, seed=0, **parameters):
    """Rows of two classes, and others to be predicted."""
    X, y = make_classification(2 * n_rows, 8, n_informative=4, random_state=seed, **parameters)
    return X[:n_rows], X[n_rows:], y[:n_rows], y[n_rows:]


def answers(forest, X):
    return forest.predict_proba(X) if hasattr(forest, "predict_proba") else forest.predict(X)


# scikit-learn's rules


@compiled
@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(n_estimators=5),
        RandomForestRegressor(n_estimators=5),
        pytest.param(RandomForestClassifier(), marks=pytest.mark.slow),
        pytest.param(RandomForestRegressor(), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_scikit_learn_s_checks_pass(forest):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(forest, expected_failed_checks=BAGS_DRAW_ROWS)


@pytest.mark.parametrize("kind", FORESTS)
def test_parameters_survive_cloning(kind):
    parameters = {"n_estimators": 7, "max_features": 0.5, "combine": 2, "importances": "permutation"}
    assert clone(kind(**parameters)).get_params() | parameters == kind(**parameters).get_params()


# As good as scikit-learn's forest


@compiled
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits, load_diabetes])
def test_errors_are_those_of_scikit_learn_s_forest(load):
    """Ten random splits of each data set, with both forests on the same rows.

    The bound is four standard errors of the difference, plus half a percent for data sets without variance.
    """
    X, y = load(return_X_y=True)
    regression = load is load_diabetes
    differences = []
    for seed in range(10):
        rows = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=None if regression else y)
        train, test, train_y, test_y = rows
        if regression:
            ours = RandomForestRegressor(n_estimators=20, oob_score=False, random_state=seed)
            theirs = ensemble.RandomForestRegressor(20, max_features=1 / 3, random_state=seed)
        else:
            ours = RandomForestClassifier(n_estimators=20, oob_score=False, random_state=seed)
            theirs = ensemble.RandomForestClassifier(20, random_state=seed)
        differences.append(
            ours.fit(train, train_y).score(test, test_y) - theirs.fit(train, train_y).score(test, test_y)
        )
    standard_error = np.std(differences, ddof=1) / math.sqrt(len(differences))
    assert abs(np.mean(differences)) <= 4 * standard_error + 0.005


@compiled
def test_a_forest_errs_less_than_its_trees():
    X, test, y, test_y = table(flip_y=0.1)
    forest = RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y)
    columns = np.ascontiguousarray(test.T)
    alone = []
    for tree in forest.trees_:
        out = np.zeros((len(test), 2))
        tree.add_predictions(columns, "fractional", out)
        alone.append(np.mean(forest.classes_[out.argmax(axis=1)] == test_y))
    assert forest.score(test, test_y) > np.mean(alone) + 0.03


# Rows outside the bags


@compiled
@pytest.mark.parametrize("vote", ["posterior", "majority"])
def test_the_out_of_bag_error_tells_the_error_on_new_rows(vote):
    X, test, y, test_y = table(1000, flip_y=0.1)
    forest = RandomForestClassifier(n_estimators=50, vote=vote, random_state=0).fit(X, y)
    error = np.mean(forest.predict(test) != test_y)
    # both are shares of 1000 rows: four standard deviations of their difference
    assert abs(forest.oob_error_ - error) < 4 * math.sqrt(2 * error * (1 - error) / 1000)


@compiled
def test_the_oob_error_of_numbers_estimates_the_test_error():
    X, y = make_friedman1(1000, noise=1, random_state=0)
    forest = RandomForestRegressor(n_estimators=50, random_state=0).fit(X[:500], y[:500])
    squares = (forest.predict(X[500:]) - y[500:]) ** 2
    assert abs(forest.oob_error_ - squares.mean()) < 4 * squares.std() * math.sqrt(2 / 500)
    known = ~np.isnan(forest.oob_prediction_)
    assert forest.oob_error_ == pytest.approx(np.mean((forest.oob_prediction_ - y[:500])[known] ** 2))


def test_oob_predictions_come_from_trees_without_the_row():
    X, _, y, _ = table(60)
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    shares = forest.oob_decision_function_
    seen_by_all = np.isnan(shares[:, 0])
    assert 0 < seen_by_all.mean() < 0.5  # a row is in three bags with a chance of 0.632^3 = 0.25
    np.testing.assert_allclose(shares[~seen_by_all].sum(axis=1), 1)
    wrong = forest.classes_[shares[~seen_by_all].argmax(axis=1)] != y[~seen_by_all]
    assert forest.oob_error_ == pytest.approx(wrong.mean())


def test_without_bags_there_is_no_oob_error():
    X, _, y, _ = table(60)
    forest = RandomForestClassifier(n_estimators=3, bootstrap=False, random_state=0).fit(X, y)
    assert not hasattr(forest, "oob_error_")
    assert forest.score(X, y) == 1
    assert not hasattr(RandomForestClassifier(n_estimators=3, oob_score=False).fit(X, y), "oob_error_")


def test_every_row_in_every_bag_leaves_the_error_unknown():
    forest = RandomForestClassifier(n_estimators=2, random_state=0).fit([[1.0]], ["a"])
    assert math.isnan(forest.oob_error_)
    assert math.isnan(forest.bound_)
    assert forest.predict([[3.0]]) == ["a"]


@compiled
def test_the_bound_follows_from_strength_and_correlation():
    X, test, y, test_y = table(600)
    forest = RandomForestClassifier(n_estimators=50, vote="majority", random_state=0).fit(X, y)
    assert forest.bound_ == strength_bound(forest.strength_, forest.correlation_)
    assert np.mean(forest.predict(test) != test_y) < forest.bound_ < 1


@compiled
def test_fewer_columns_a_node_make_trees_less_alike():
    X, _, y, _ = table(600)
    one, every = (RandomForestClassifier(n_estimators=40, max_features=m, random_state=0).fit(X, y) for m in (1, None))
    assert one.correlation_ < every.correlation_
    assert one.strength_ < every.strength_


# Seeds


@pytest.mark.parametrize("kind", FORESTS)
def test_the_seed_decides_the_forest_for_any_number_of_threads(kind):
    X, test, y, _ = table(200)
    found = []
    for threads in {1, numba.config.NUMBA_NUM_THREADS}:
        numba.set_num_threads(threads)
        try:
            found.append(answers(kind(n_estimators=10, random_state=3).fit(X, y), test))
        finally:
            numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    found.append(answers(kind(n_estimators=10, random_state=3).fit(X, y), test))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    assert (answers(kind(n_estimators=10, random_state=4).fit(X, y), test) != found[0]).any()


def test_a_larger_forest_begins_with_the_trees_of_a_smaller_one():
    X, _, y, _ = table(100)
    small, large = (RandomForestClassifier(n_estimators=n, random_state=0).fit(X, y) for n in (3, 6))
    for tree, same in zip(small.trees_, large.trees_, strict=False):
        np.testing.assert_array_equal(tree.tree.threshold, same.tree.threshold)


def test_trees_have_bags_and_columns_of_their_own():
    X, _, y, _ = table(100)
    forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    assert len({tree.tree.threshold.tobytes() for tree in forest.trees_}) == 10


# Importances


@compiled
@pytest.mark.parametrize("combine", [None, 2])
@pytest.mark.parametrize("kind", FORESTS)
def test_permutation_importance_separates_signal_from_noise(kind, combine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] > 0).astype(int) if kind is RandomForestClassifier else 3 * X[:, 0]
    forest = kind(n_estimators=40, max_features=3, combine=combine, importances="permutation", random_state=0).fit(X, y)
    importances = forest.feature_importances_
    assert importances[0] > 10 * np.abs(importances[1:]).max()
    assert np.abs(importances[1:]).max() < 0.05 * np.var(y)


@compiled
def test_permuting_the_only_signal_gives_half_the_rows_wrong():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=2000), np.zeros(2000)])
    forest = RandomForestClassifier(max_features=None, importances="permutation", random_state=0)
    importances = forest.fit(X, X[:, 0] > 0).feature_importances_
    # of shuffled halves, half are wrong; four standard deviations of a tree's 736 rows, had each the same
    assert importances[0] == pytest.approx(0.5, abs=4 * math.sqrt(0.25 / 736))
    assert importances[1] == 0  # is never used


@pytest.mark.parametrize("importances", ["impurity", "permutation"])
def test_columns_that_are_alike_share_the_credit(importances):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(200, 2)), 2, axis=1)
    forest = RandomForestClassifier(n_estimators=60, max_features=3, importances=importances, random_state=0)
    shares = forest.fit(X, X[:, 0] + X[:, 2] > 0).feature_importances_
    assert shares.max() < 1.5 * shares.min()


def test_impurity_importances_are_shares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, X[:, 2] > 0)
    assert forest.feature_importances_.sum() == pytest.approx(1)
    assert forest.feature_importances_.argmax() == 2


# Linear combinations


@compiled
def test_combinations_fit_an_oblique_boundary_better():
    rng = np.random.default_rng(0)
    X, test = rng.normal(size=(600, 6)), rng.normal(size=(4000, 6))
    X[:, 0] *= 1000  # another unit
    test[:, 0] *= 1000

    def classes(rows):
        return rows[:, 0] / 1000 + rows[:, 1] - rows[:, 2] > 0

    single = RandomForestClassifier(n_estimators=40, random_state=0).fit(X, classes(X))
    combined = RandomForestClassifier(n_estimators=40, combine=3, max_features=8, random_state=0).fit(X, classes(X))
    errors = [np.mean(forest.predict(test) != classes(test)) for forest in (single, combined)]
    assert errors[1] < 0.7 * errors[0]


@pytest.mark.parametrize("combine", [0, 4])
def test_more_columns_than_there_are_cannot_be_combined(combine):
    with pytest.raises(ValueError, match=r"^combine must lie between 1 and the 3 columns, got"):
        RandomForestClassifier(combine=combine).fit(np.eye(3), [0, 1, 0])


def test_categories_cannot_be_combined():
    rows = np.array([["a", 1.0], ["b", 2.0]], object)
    with pytest.raises(ValueError, match=r"^combine needs columns of numbers, got categories in 'column 0'"):
        RandomForestClassifier(combine=1).fit(rows, [0, 1])


# Classes that are rare


def rare(seed=0):
    return table(1500, seed, weights=[0.93], class_sep=0.7)


@compiled
def test_class_weights_find_more_of_a_rare_class():
    X, test, y, test_y = rare()
    leaves = {"min_weight_fraction_leaf": 0.01, "n_estimators": 30, "random_state": 0}
    plain = RandomForestClassifier(**leaves).fit(X, y)
    balanced = RandomForestClassifier(class_weight="balanced", **leaves).fit(X, y)
    named = RandomForestClassifier(class_weight={0: 1, 1: 13}, **leaves).fit(X, y)
    recalls = [recall_score(test_y, forest.predict(test)) for forest in (plain, balanced, named)]
    assert min(recalls[1:]) > recalls[0] + 0.2


@compiled
@pytest.mark.parametrize("vote", ["posterior", "majority"])
def test_votes_by_inverse_frequency_find_more_of_a_rare_class(vote):
    X, test, y, test_y = rare()
    plain, weighted = (
        RandomForestClassifier(n_estimators=30, vote=vote, vote_weight=weight, random_state=0).fit(X, y)
        for weight in (None, "inverse-frequency")
    )
    assert weighted.vote_weights_[1] / weighted.vote_weights_[0] == pytest.approx(np.sum(y == 0) / np.sum(y == 1))
    recalls = [recall_score(test_y, forest.predict(test)) for forest in (plain, weighted)]
    assert recalls[1] > recalls[0] + 0.1
    # the same trees, whose votes for the rare class count more
    odds, weighted_odds = (np.divide(*forest.predict_proba(test).T[::-1]) for forest in (plain, weighted))
    some = np.isfinite(odds)
    np.testing.assert_allclose(weighted_odds[some], odds[some] * np.divide(*weighted.vote_weights_[::-1]))


def test_a_majority_counts_trees():
    X, test, y, _ = table(100)
    shares = (
        RandomForestClassifier(n_estimators=10, vote="majority", max_depth=2, random_state=0)
        .fit(X, y)
        .predict_proba(test)
    )
    np.testing.assert_allclose(shares * 10, np.round(shares * 10), atol=1e-12)


# Weights of rows


@pytest.mark.parametrize("kind", FORESTS)
def test_rows_of_weight_0_are_as_good_as_absent(kind):
    X, test, y, _ = table(100)
    weight = np.tile([1.0, 0.0, 2.0, 1.0], 25)
    some = weight > 0
    forest = kind(n_estimators=5, random_state=0).fit(X, y, sample_weight=weight)
    fewer = kind(n_estimators=5, random_state=0).fit(X[some], y[some], sample_weight=weight[some])
    np.testing.assert_array_equal(answers(forest, test), answers(fewer, test))
    assert forest.oob_error_ == fewer.oob_error_


@pytest.mark.parametrize("kind", FORESTS)
def test_the_unit_of_weights_does_not_matter(kind):
    X, test, y, _ = table(100)
    weight = np.tile([1.0, 3.0], 50)
    one, other = (kind(n_estimators=5, random_state=0).fit(X, y, sample_weight=weight * unit) for unit in (1, 2.0**-20))
    np.testing.assert_array_equal(answers(one, test), answers(other, test))


def test_the_unit_of_a_number_does_not_matter():
    X, test, y, _ = table(100)
    y = y + X[:, 0]
    one, other = (RandomForestRegressor(n_estimators=5, random_state=0).fit(X, y * unit) for unit in (1, 2.0**-40))
    np.testing.assert_allclose(one.predict(test), other.predict(test) * 2.0**40, rtol=1e-9)


@pytest.mark.parametrize("weight", [np.zeros(4), np.array([1.0, 1, 1, -1])])
@pytest.mark.parametrize("kind", FORESTS)
def test_invalid_weights_are_refused(kind, weight):
    with pytest.raises(ValueError, match=r"sample_weight must be non-negative|must contain at least one non-zero"):
        kind(n_estimators=2).fit(np.eye(4), [0, 1, 0, 1], sample_weight=weight)


# Tables of all kinds


@pytest.mark.parametrize("missing", ["fractional", "most_common"])
def test_missing_cells_cost_little(missing):
    X, y = load_iris(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    forest = RandomForestClassifier(n_estimators=40, missing=missing, random_state=0).fit(X[::2], y[::2])
    assert forest.score(X[1::2], y[1::2]) > 0.9
    assert forest.oob_error_ < 0.1


def mixed(n_rows=200, seed=0):
    """Numbers, categories and missing cells; a category and a number together determine the class."""
    rng = np.random.default_rng(seed)
    colour, size = rng.choice(["red", "green", "blue"], n_rows), rng.normal(size=n_rows)
    rows = np.empty((n_rows, 3), object)
    rows[:, 0], rows[:, 1], rows[:, 2] = colour, size, rng.choice(["x", None], n_rows)
    return rows, np.where((colour == "red") == (size > 0), "yes", "no")


@compiled
def test_a_mixed_table_is_learned_as_it_comes():
    (rows, y), (test, test_y) = mixed(), mixed(seed=1)
    forest = RandomForestClassifier(random_state=0).fit(rows, y)
    assert forest.score(test, test_y) > 0.95
    test[0, 0] = "violet"  # never seen: like a missing cell
    assert forest.predict(test[:1])[0] in ("yes", "no")


def test_a_data_frame_is_learned_as_it_comes():
    pandas = pytest.importorskip("pandas")
    rows, y = mixed()
    frame = pandas.DataFrame({"colour": rows[:, 0], "size": rows[:, 1].astype(float), "mark": rows[:, 2]})
    frame["colour"] = frame["colour"].astype("category")
    forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(frame, y)
    plain = RandomForestClassifier(n_estimators=10, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(forest.predict_proba(frame), plain.predict_proba(rows))
    assert forest.feature_names_in_.tolist() == ["colour", "size", "mark"]


@pytest.mark.parametrize("labels", [["b", "a"], [True, False], [7, -3]])
def test_classes_keep_their_names(labels):
    X, test, y, _ = table(60)
    named = np.array(labels)[y]
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, named)
    assert forest.classes_.tolist() == sorted(labels)
    assert set(forest.predict(test)) <= set(labels)


# What is refused


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter of .* must be .* Got 0 instead"),
        ({"max_depth": 0}, "'max_depth' parameter of .* must be .* Got 0 instead"),
        ({"min_samples_split": 1}, "'min_samples_split' parameter of .* must be .* Got 1 instead"),
        ({"min_samples_leaf": -1}, "'min_samples_leaf' parameter of .* must be .* Got -1 instead"),
        ({"max_features": 0}, "'max_features' parameter of .* must be .* Got 0 instead"),
        ({"max_features": 1.5}, "'max_features' parameter of .* must be .* Got 1.5 instead"),
        ({"max_features": "all"}, "'max_features' parameter of .* must be .* Got 'all' instead"),
        ({"criterion": "squared_error"}, "'criterion' parameter of .* must be .* Got 'squared_error' instead"),
        ({"vote": "mean"}, "'vote' parameter of .* must be .* Got 'mean' instead"),
        ({"vote_weight": "balanced"}, "'vote_weight' parameter of .* must be .* Got 'balanced' instead"),
        ({"importances": "gain"}, "'importances' parameter of .* must be .* Got 'gain' instead"),
        ({"importances": "permutation", "bootstrap": False}, "it needs bootstrap=True"),
        ({"missing": "drop"}, "'missing' parameter of .* must be .* Got 'drop' instead"),
    ],
)
def test_a_parameter_that_does_not_fit_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**parameters).fit(np.eye(3), [0, 1, 0])


@pytest.mark.parametrize(("wanted", "tried"), [("sqrt", 4), ("log2", 4), (0.25, 4), (4, 4), (None, 16), (0.01, 1)])
def test_max_features_sets_the_candidate_columns(wanted, tried):
    assert n_candidate_columns(wanted, 16) == tried
