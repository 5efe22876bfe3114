"""Single trees at their limits: any table, chains of thousands of levels, invalid parameters."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier

LEARNERS = [
    Id3Classifier(),
    Id3Classifier(min_impurity_decrease=0, missing="most_common", discretize="equal-frequency", n_bins=3),
    Id3Classifier(prune="reduced-error"),
    C45Classifier(),
    C45Classifier(prune=None, min_samples_leaf=1, average_gain_guard=False, missing="most_common"),
    C45Classifier(prune="reduced-error", column_costs={0: 3}, categorical="all"),
    CartClassifier(),
    CartClassifier(criterion="entropy", missing="most_common", class_weight="balanced", min_samples_leaf=0),
    CartClassifier(criterion="misclassification", oblique=True),
    CartClassifier(prune="cost-complexity", prune_criterion="misclassification", standard_errors=1),
    CartClassifier(prune="reduced-error", stop="chi-square", significance=0.5),
    CartClassifier(stop="validation", ccp_alpha=0.01),
    CartRegressor(),
    CartRegressor(missing="most_common", oblique=True, min_samples_leaf=2),
    CartRegressor(prune="cost-complexity", stop="validation"),
    CartRegressor(prune="reduced-error", ccp_alpha=0.01),
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)


@st.composite
def tables(draw):
    """Training rows, what they are, and other rows: numbers, words, one value, gaps, or nothing in a column."""
    kinds = {
        "number": st.one_of(st.none(), st.integers(-3, 3), st.floats(-1e9, 1e9, width=32)),
        "word": st.one_of(st.none(), st.sampled_from("abcd")),
        "mixed": st.one_of(st.none(), st.sampled_from(["a", "b", 1, 2.5, True])),
        "same": st.just(7),
        "empty": st.none(),
    }
    n_rows, n_new = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    columns, new = [], []
    for kind in draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=4)):
        columns.append(draw(st.lists(kinds[kind], min_size=n_rows, max_size=n_rows)))
        has_words = any(isinstance(cell, str | bool) for cell in columns[-1])
        unseen = st.one_of(kinds["number"], st.just("never seen"), st.booleans()) if has_words else kinds["number"]
        new.append(draw(st.lists(unseen, min_size=n_new, max_size=n_new)))
    y = draw(st.lists(st.sampled_from([0, 1, 4]), min_size=n_rows, max_size=n_rows))
    weight = draw(st.one_of(st.none(), st.lists(st.sampled_from([0, 0.5, 1, 3]), min_size=n_rows, max_size=n_rows)))
    return objects(columns), np.array(y), weight, objects(new)


def objects(columns) -> np.ndarray:
    cells = np.empty((len(columns[0]), len(columns)), object)
    for k, column in enumerate(columns):
        cells[:, k] = column
    return cells


def rows_that_count(learner, weight, n_rows: int) -> int:
    """How many rows the learner has to grow on."""
    return n_rows if weight is None else int(np.count_nonzero(weight))


@every_learner
@settings(max_examples=25)
@given(table=tables(), seed=st.integers(0, 3))
def test_any_table_is_fitted_and_predicted(learner, table, seed):
    X, y, weight, new = table
    learner = clone(learner).set_params(random_state=seed)
    least = 2 if learner._needs_validation() else 1
    if rows_that_count(learner, weight, len(y)) < least:
        with pytest.raises(ValueError, match=r"non-zero|at least 2 rows"):
            learner.fit(X, y, weight)
        return
    untouched = X.copy()
    learner.fit(X, y, weight)
    again = clone(learner).fit(X, y, weight)
    for rows in (X, new):
        answers = learner.predict(rows)
        np.testing.assert_array_equal(answers, again.predict(rows))
        if isinstance(learner, CartRegressor):
            assert (answers >= y.min() - 1e-6).all()
            assert (answers <= y.max() + 1e-6).all()
            continue
        posteriors = learner.predict_proba(rows)
        assert posteriors.shape == (len(rows), len(learner.classes_))
        assert (posteriors >= 0).all()
        assert posteriors.sum(axis=1) == pytest.approx(1)
        assert set(answers) <= set(y.tolist())
    assert (learner.apply(new) < learner.tree_.tree.n_nodes).all()
    assert learner.feature_importances_.sum() == pytest.approx(
        0
    ) or learner.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_array_equal(X, untouched)
    learner.tree_.tree.check(X.shape[1] + len(learner.tree_.combinations))


@every_learner
def test_rows_of_no_weight_are_as_good_as_left_out(learner):
    learner = clone(learner).set_params(random_state=1)
    if isinstance(learner, CartClassifier):
        learner.set_params(class_weight=None)  # "balanced" counts rows whatever their weight, as scikit-learn has it
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)).round(1), rng.integers(0, 3, 60)
    others = rng.normal(size=(30, 3)).round(1)
    place = rng.permutation(np.arange(90) < 60)
    both, target, weight = np.empty((90, 3)), np.empty(90, int), place.astype(float)
    both[place], both[~place], target[place], target[~place] = X, others, y, rng.integers(0, 3, 30)
    one, other = clone(learner).fit(X, y, np.ones(60)), clone(learner).fit(both, target, weight)
    new = rng.normal(size=(200, 3))
    np.testing.assert_allclose(one.predict(new), other.predict(new))


@every_learner
def test_the_seed_decides_only_the_held_out_rows(learner):
    rng = np.random.default_rng(3)
    X, y = rng.random((300, 4)), rng.integers(0, 2, 300)
    answers = [clone(learner).set_params(random_state=seed).fit(X, y).predict(X) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(answers[0], answers[1])
    if not learner._needs_validation():
        np.testing.assert_array_equal(answers[0], answers[2])


# Depth

DEEPER_THAN_PYTHON_RECURSES = 1100


def chain(depth: int = DEEPER_THAN_PYTHON_RECURSES) -> tuple[np.ndarray, np.ndarray]:
    """Classes that alternate along a column: the best split takes one row off its end, again and again."""
    return np.arange(depth + 1.0)[:, None], np.arange(depth + 1) % 2


def test_three_thousand_levels_are_grown_and_predicted():
    X, y = chain(3000)
    learner = CartClassifier().fit(X, y)
    assert learner.get_depth() > 2900
    np.testing.assert_array_equal(learner.predict(X), y)
    assert learner.predict_proba([[np.nan]])[0].tolist() == pytest.approx([1501 / 3001, 1500 / 3001])


@pytest.mark.parametrize(
    ("learner", "deep"),
    [
        (CartRegressor(), True),
        (C45Classifier(min_samples_leaf=1, min_impurity_decrease=0, prune=None), True),
        (C45Classifier(min_samples_leaf=1, min_impurity_decrease=0), False),
        (CartClassifier(ccp_alpha=1e-9), True),
        (CartClassifier(stop="chi-square", significance=1), True),
    ],
    ids=repr,
)
def test_a_long_chain_is_grown_pruned_and_predicted(learner, deep):
    X, y = chain()
    learner.fit(X, y)
    assert (learner.get_depth() > 1000) == deep
    if deep:
        np.testing.assert_allclose(learner.predict(X), y, atol=1e-9)
    assert learner.predict([[np.nan]])[0] == pytest.approx(y.mean() if isinstance(learner, CartRegressor) else 0)
    assert learner.apply(X).max() < learner.tree_.tree.n_nodes
    assert learner.feature_importances_.tolist() == pytest.approx([1.0 if deep else 0.0])


@pytest.mark.parametrize("kind", [CartClassifier, CartRegressor])
def test_a_long_chain_is_cut_where_other_rows_say_otherwise(kind):
    X, y = chain()
    others = np.where(np.arange(len(y)) < 60, y, 1 - y)
    assert 50 < kind(prune="reduced-error").fit(X, y, validation=(X, others)).get_depth() < 70


@pytest.mark.parametrize("kind", [CartClassifier, CartRegressor])
def test_a_long_chain_is_the_best_of_its_path_on_its_own_rows(kind):
    X, y = chain()
    assert kind(prune="cost-complexity").fit(X, y, validation=(X, y)).get_depth() > 1000


def test_the_path_of_a_long_chain_leads_from_all_leaves_to_one():
    path = CartClassifier().cost_complexity_pruning_path(*chain())
    assert path.leaves[0] == len(chain()[1])
    assert path.leaves[-1] == 1
    assert (np.diff(path.alphas) > 0).all()


def test_a_chain_of_categories_is_grown_and_predicted():
    X = np.eye(120).astype(int).astype(str)
    y = np.arange(120) % 2
    for learner in (
        Id3Classifier(min_impurity_decrease=0),
        C45Classifier(prune=None, min_samples_leaf=1),
        CartClassifier(),
    ):
        learner.fit(X, y)
        assert learner.get_depth() > 50
        np.testing.assert_array_equal(learner.predict(X), y)


# Refusals


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (
            CartClassifier(max_depth=0),
            "'max_depth' parameter of CartClassifier must be an int in the range [1, inf) or None. Got 0",
        ),
        (
            CartRegressor(max_depth=-3),
            "'max_depth' parameter of CartRegressor must be an int in the range [1, inf) or None. Got -3",
        ),
        (
            Id3Classifier(min_samples_split=1),
            "'min_samples_split' parameter of Id3Classifier must be an int in the range [2, inf) or a float",
        ),
        (
            C45Classifier(min_samples_leaf=-1),
            "'min_samples_leaf' parameter of C45Classifier must be an int in the range [0, inf) or a float",
        ),
        (CartClassifier(min_samples_leaf=np.nan), "Got nan instead"),
        (
            CartClassifier(min_impurity_decrease=-np.inf),
            "'min_impurity_decrease' parameter of CartClassifier must be a float in the range [0.0, inf)",
        ),
        (CartClassifier(criterion="squared_error"), "'criterion' parameter of CartClassifier must be a str among"),
        (CartClassifier(costs=[[0, 1]]), "costs must be (2, 2), finite and non-negative, with criterion 'gini'"),
        (CartClassifier(costs=[[0, np.inf], [1, 0]]), "finite and non-negative"),
        (CartClassifier(costs={"a": 1}), "costs must be (2, 2) numbers, got dict"),
        (CartClassifier(costs=[[0, -1], [1, 0]]), "non-negative"),
        (CartClassifier(costs=[[0, 1], [1, 0]], criterion="entropy"), "with criterion 'gini'"),
        (CartClassifier(stop="early"), "'stop' parameter of CartClassifier must be a str among"),
        (
            CartRegressor(stop="chi-square"),
            "'stop' parameter of CartRegressor must be a str among {'validation'} or None",
        ),
        (
            CartClassifier(stop="chi-square", significance=0),
            "'significance' parameter of CartClassifier must be a float in the range (0.0, 1.0]",
        ),
        (CartClassifier(prune="pessimistic"), "'prune' parameter of CartClassifier must be a str among"),
        (
            Id3Classifier(prune="pessimistic"),
            "'prune' parameter of Id3Classifier must be a str among {'reduced-error'} or None",
        ),
        (C45Classifier(prune="cost-complexity"), "'prune' parameter of C45Classifier must be a str among"),
        (
            CartClassifier(ccp_alpha=-0.1),
            "'ccp_alpha' parameter of CartClassifier must be a float in the range [0.0, inf). Got -0.1",
        ),
        (CartClassifier(ccp_alpha=np.nan), "Got nan instead"),
        (
            CartClassifier(standard_errors=-1),
            "'standard_errors' parameter of CartClassifier must be a float in the range [0.0, inf). Got -1",
        ),
        (CartRegressor(prune="cost-complexity", standard_errors=1), "standard error"),
        (CartRegressor(standard_errors=1), "moments give no standard error, got standard_errors=1; give 0"),
        (
            CartClassifier(prune_criterion="squared_error"),
            "'prune_criterion' parameter of CartClassifier must be a str among",
        ),
        (
            CartClassifier(prune="reduced-error", validation_fraction=1),
            "'validation_fraction' parameter of CartClassifier must be a float in the range (0.0, 1.0)",
        ),
        (CartClassifier(missing="drop"), "'missing' parameter of CartClassifier must be a str among"),
        (CartClassifier(class_weight="even"), "class_weight"),
        (CartClassifier(unseen="ignore"), "'unseen' parameter of CartClassifier must be a str among"),
        (C45Classifier(max_leaf_nodes=1), "'max_leaf_nodes' parameter of C45Classifier must be an int in the range"),
        (CartRegressor(min_samples_leaf=1.5), "a float in the range (0.0, 1.0). Got 1.5"),
        # checked although nothing is pruned, stopped or discretised
        (CartClassifier(validation_fraction=2), "'validation_fraction' parameter"),
        (CartClassifier(significance=7), "'significance' parameter"),
        (Id3Classifier(discretize="kmeans"), "'discretize' parameter of Id3Classifier must be a str among"),
        (Id3Classifier(n_bins=1), "'n_bins' parameter of Id3Classifier must be an int in the range [2, inf)"),
        (C45Classifier(column_costs={"age": 2}), "columns of the table (column 0) to costs above 0, got 'age': 2"),
        (C45Classifier(column_costs={1: 2}), "costs above 0, got 1: 2"),
        (C45Classifier(column_costs={0: 0}), "costs above 0, got 0: 0"),
        (C45Classifier(column_costs={0: "a"}), "costs above 0, got 0: 'a'"),
        (C45Classifier(column_costs={0: np.inf}), "costs above 0, got 0: inf"),
        (
            C45Classifier(column_costs=[2.0]),
            "'column_costs' parameter of C45Classifier must be an instance of 'collections.abc.Mapping' or None",
        ),
        (CartClassifier(categorical=["age"]), "categorical names the column 'age', the table has column 0"),
    ],
    ids=lambda value: repr(value) if not isinstance(value, str) else "",
)
def test_an_invalid_parameter_is_refused_by_name(learner, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        learner.fit([[1.0], [2], [3], [4]], [0, 1, 1, 0])


@pytest.mark.parametrize(
    ("given_weight", "message"),
    [
        ([1, 1, 1, -1], "Negative values in data passed to `sample_weight`"),
        ([0, 0, 0, 0], "at least one non-zero"),
        ([1, 1, np.nan, 1], "NaN"),
        ([1, 1], r"sample_weight.shape == \(2,\), expected \(4,\)"),
    ],
)
@pytest.mark.parametrize("learner", [Id3Classifier(), CartRegressor()], ids=repr)
def test_invalid_weights_are_refused(learner, given_weight, message):
    with pytest.raises(ValueError, match=message):
        learner.fit([[1.0], [2], [3], [4]], [0, 1, 1, 0], given_weight)


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        (([[1.0], [2]], [0, 7]), "validation rows hold the class 7, which training rows do not"),
        (([[1.0], [2]], [0, "1"]), "validation rows hold the class '0', which training rows do not"),
        (([[1.0], [2]], [[0, 1], [1, 0]]), "should be a 1d array"),
        (([[1.0], [2]], [0]), "inconsistent numbers of samples"),
        (([[1.0, 2]], [0]), "2 features"),
        ((np.zeros((0, 1)), []), "0 sample"),
    ],
)
def test_validation_rows_that_do_not_fit_are_refused(validation, message):
    with pytest.raises(ValueError, match=message):
        CartClassifier(prune="reduced-error").fit([[1.0], [2], [3], [4]], [0, 1, 1, 0], validation=validation)


@pytest.mark.parametrize("target", [[np.nan, 1.0], [np.inf, 1.0]])
def test_validation_targets_of_no_number_are_refused(target):
    with pytest.raises(ValueError, match="Input y contains"):
        CartRegressor(prune="reduced-error").fit([[1.0], [2], [3]], [0, 1, 1], validation=([[1.0], [2]], target))


def test_numbers_are_told_that_training_had_words():
    with pytest.raises(ValueError, match="validation rows hold the class 1, which training rows do not"):
        CartClassifier(prune="reduced-error").fit([[1.0], [2]], ["a", "b"], validation=([[1.0]], [1]))


def test_a_regressor_refuses_words_as_target():
    with pytest.raises(ValueError, match="could not convert string to float"):
        CartRegressor().fit([[1.0], [2]], ["a", "b"])


@pytest.mark.parametrize("learner", [Id3Classifier(), C45Classifier(), CartClassifier()], ids=repr)
def test_a_target_of_all_different_numbers_is_no_class(learner):
    with pytest.raises(ValueError, match="Unknown label type"):
        learner.fit([[1.0], [2], [3]], [0.5, 1.7, 2.9])
