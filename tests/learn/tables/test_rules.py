"""Rules predict like their tree; for the weather, their pruning is checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
from posepipe.learn.tables.examples import load_example
from posepipe.learn.tables.rules import NO_RULE, extract_rules, observed_error, pessimistic_error, prune_rules

LEARNERS = {
    "ID3": lambda: Id3Classifier(),
    "C4.5": lambda: C45Classifier(),
    "C4.5, whole": lambda: C45Classifier(min_samples_leaf=1, prune=None),
    "CART": lambda: CartClassifier(min_samples_leaf=2),
    "oblique CART": lambda: CartClassifier(oblique=True),
    "CART with costs": lambda: CartClassifier(costs=[[0, 5, 1], [1, 0, 1], [2, 1, 0]], max_depth=3),
}
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def whole_tree(example):
    return C45Classifier(min_samples_leaf=1, prune=None).fit(example.rows, example.target)


def mixed_table(seed: int, n_rows: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of numbers, with ties, and two of categories; three classes that depend on them, with noise."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 12, (n_rows, 2)) / 4
    colours, flags = rng.choice(["red", "green", "blue"], n_rows), rng.choice([True, False], n_rows)
    rows = np.column_stack([numbers.astype(object), colours.astype(object), flags.astype(object)])
    classes = (numbers[:, 0] > 1).astype(int) + (colours == "red") * flags
    noisy = rng.random(n_rows) < 0.2
    return rows, np.where(noisy, rng.integers(0, 3, n_rows), classes)


def test_the_weather_tree_is_five_rules():
    weather = load_example("weather")
    assert extract_rules(whole_tree(weather), weather.columns).text().splitlines() == [
        "if outlook is overcast then yes                       (4 rows, 100 % right, estimated 71 %)",
        "if outlook is rain and wind is strong then no         (2 rows, 100 % right, estimated 50 %)",
        "if outlook is rain and wind is weak then yes          (3 rows, 100 % right, estimated 63 %)",
        "if outlook is sunny and humidity is high then no      (3 rows, 100 % right, estimated 63 %)",
        "if outlook is sunny and humidity is normal then yes   (2 rows, 100 % right, estimated 50 %)",
        "otherwise yes",
        "[measured on the 14 training rows in the tree's leaves;"
        " estimated: upper 25 % confidence limit of the error (Quinlan 1993)]",
    ]


def test_pruning_frees_normal_humidity_of_its_outlook():
    # U(0, 2) = 0.5 with both conditions, U(1, 7) = 0.34 for normal humidity alone, U(2, 5) = 0.64 for sun alone
    weather = load_example("weather")
    rules = whole_tree(weather).rules(weather.rows, weather.target, names=weather.columns)
    assert rules.text().splitlines() == [
        "if outlook is overcast then yes                    (4 rows, 100 % right, estimated 71 %)",
        "if humidity is normal then yes                     (7 rows, 86 % right, estimated 66 %)",
        "if outlook is rain and wind is weak then yes       (3 rows, 100 % right, estimated 63 %)",
        "if outlook is sunny and humidity is high then no   (3 rows, 100 % right, estimated 63 %)",
        "if outlook is rain and wind is strong then no      (2 rows, 100 % right, estimated 50 %)",
        "otherwise yes",
        "[measured on 14 training rows; estimated: upper 25 % confidence limit of the error (Quinlan 1993)]",
    ]
    assert np.flatnonzero(rules.predict(weather.rows) != weather.target).tolist() == [5]  # rain cool normal strong


def test_the_limits_are_the_book_s():
    assert pessimistic_error([0, 0, 0], [6, 9, 1]).round(3).tolist() == [0.206, 0.143, 0.75]
    assert pessimistic_error(1, 16) == pytest.approx(0.157, abs=0.003)  # the book's is an approximation
    assert pessimistic_error([3, 0], [3, 0]).tolist() == [1, 1]


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))))
def test_the_error_limit_has_the_confidence_level(seen):
    wrong, covered = seen
    assert binom.cdf(wrong, covered, pessimistic_error(wrong, covered)) == pytest.approx(0.25)


def test_the_error_without_rows_is_1():
    assert observed_error([0, 1, 0], [0, 4, 2]).tolist() == [1, 0.25, 0]


@each_learner
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rules_predict_like_their_tree_and_cover_each_row_once(make, seed):
    rows, classes = mixed_table(seed)
    tree = make().fit(rows, classes)
    rules = extract_rules(tree)
    others, _ = mixed_table(seed + 1, 200)
    np.testing.assert_array_equal(rules.predict(others), tree.predict(others))
    columns = tree._encode(others)
    covering = np.array([rules.splits.all_met(rule.conditions, columns) for rule in rules.rules])
    assert (covering.sum(axis=0) == 1).all()
    assert len(rules) == tree.get_n_leaves()
    assert sum(rule.covered for rule in rules.rules) == len(rows)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_pruned_rules_are_shorter_sorted_unique_and_measured(seed):
    rows, classes = mixed_table(seed)
    tree = C45Classifier(prune=None, min_samples_leaf=1).fit(rows, classes)
    whole = extract_rules(tree)
    pruned = prune_rules(whole, rows, classes)
    assert len(pruned) <= len(whole)
    assert [rule.error for rule in pruned.rules] == sorted(rule.error for rule in pruned.rules)
    assert len({(frozenset(rule.conditions), rule.prediction) for rule in pruned.rules}) == len(pruned)
    columns = tree._encode(rows)
    for rule in pruned.rules:
        covered = pruned.splits.all_met(rule.conditions, columns)
        assert rule.covered == covered.sum()
        assert rule.correct == (tree.classes_[rule.prediction] == classes[covered]).sum()
        assert rule.error == pessimistic_error(rule.covered - rule.correct, rule.covered)
        for gone in range(len(rule.conditions)):  # no further condition can go
            rest = rule.conditions[:gone] + rule.conditions[gone + 1 :]
            met = pruned.splits.all_met(rest, columns)
            wrong = (tree.classes_[rule.prediction] != classes[met]).sum()
            assert pessimistic_error(wrong, met.sum()) > rule.error


def test_conditions_that_a_deeper_one_implies_are_left_out():
    x = np.arange(12.0)[:, None]
    tree = CartClassifier().fit(x, [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1])
    assert [line.partition("   ")[0] for line in extract_rules(tree, ["x"]).text().splitlines()[:4]] == [
        "if x <= 2.5 then 0",
        "if 2.5 < x <= 5.5 then 1",
        "if 5.5 < x <= 8.5 then 0",
        "if x > 8.5 then 1",
    ]


def test_the_other_of_two_categories_is_named():
    loans = load_example("loans")
    tree = CartClassifier().fit(loans.rows, loans.target)
    assert "if house is yes then yes" in extract_rules(tree, loans.columns).text()


def test_a_missing_cell_meets_no_condition():
    weather = load_example("weather")
    rules = extract_rules(whole_tree(weather), weather.columns)
    rows = [[None, "hot", "high", "weak"], ["sunny", "hot", None, "weak"], ["foggy", "hot", "high", "weak"]]
    assert rules.first_rule(rows).tolist() == [NO_RULE] * 3
    assert rules.predict(rows).tolist() == ["yes"] * 3
    not_overcast = extract_rules(CartClassifier().fit(weather.rows, weather.target))
    assert not_overcast.first_rule(rows).tolist() == [NO_RULE] * 3


def test_validation_rows_measure_the_observed_error():
    rows, classes = mixed_table(1)
    others, answers = mixed_table(2, 60)
    rules = C45Classifier(prune=None).fit(rows, classes).rules(rows, classes, (others, answers))
    assert "measured on 60 validation rows; estimated: the error seen there" in rules.text()
    assert all(rule.error == observed_error(rule.covered - rule.correct, rule.covered) for rule in rules.rules)


def test_a_single_leaf_is_a_rule_without_conditions():
    tree = CartClassifier().fit([[1.0], [2.0]], ["yes", "yes"])
    rules = extract_rules(tree)
    assert rules.text().splitlines()[:2] == [
        "always yes   (2 rows, 100 % right, estimated 50 %)",
        "otherwise yes",
    ]
    assert rules.predict([[np.nan]]).tolist() == ["yes"]
    assert prune_rules(rules, [[1.0], [2.0]], ["yes", "yes"]).predict([[0.0]]).tolist() == ["yes"]


def test_no_rule_follows_one_without_conditions():
    x = np.arange(20.0)[:, None]
    rules = extract_rules(CartClassifier().fit(x, x[:, 0] == 7))
    pruned = prune_rules(rules, x, np.zeros(20, bool))  # on other rows, a rule for False needs no condition
    assert pruned.text().splitlines()[0].startswith("always False")
    assert len(pruned) == 1


def test_rules_outlive_another_fit():
    weather = load_example("weather")
    tree = whole_tree(weather)
    rules = extract_rules(tree)
    before = rules.predict(weather.rows)
    tree.fit([[1.0], [2.0]], ["a", "b"])
    np.testing.assert_array_equal(rules.predict(weather.rows), before)


def test_only_one_tree_of_classes_has_rules():
    with pytest.raises(TypeError, match="CartRegressor"):
        extract_rules(CartRegressor().fit([[1.0], [2.0]], [1.0, 2.0]))
    tree = CartClassifier().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="names must be one for each of the 1 columns, got 2"):
        extract_rules(tree, ["a", "b"])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        prune_rules(extract_rules(tree), [[1.0], [2.0]], [0])
