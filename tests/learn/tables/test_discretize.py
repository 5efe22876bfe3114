"""Edges worked out by hand, the naive twin, scikit-learn's own checks, and what the transformer refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import check_estimator

from posepipe.learn.tables.discretize import STRATEGIES, Discretizer
from posepipe.learn.tables.examples import load_example
from tests.reference.tables import discretize as naive

VALUES = st.lists(st.integers(-9, 9), min_size=1, max_size=14)
LABELLED = st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2)), min_size=1, max_size=14)


def column(values) -> np.ndarray:
    return np.array(values, np.float64)[:, None]


def edges(values, classes=None, **parameters) -> list[float]:
    """Inner edges of one column."""
    return Discretizer(**parameters).fit(column(values), classes).edges_[0].tolist()


# Edges


def test_equal_width_parts_the_range_evenly():
    assert edges([0, 1, 2, 100], n_bins=4) == [25, 50, 75]


def test_equal_frequency_parts_the_rows_evenly():
    # ten rows, five bins of two: cuts midway between the second and third, fourth and fifth ...
    assert edges([1, 2, 3, 4, 5, 6, 7, 8, 9, 100], strategy="equal-frequency") == [2.5, 4.5, 6.5, 8.5]


def test_equal_frequency_never_parts_equal_values():
    # quarters lie at 2, 4 and 6 rows; the cuts leave 5, 6 or 7 rows below, and 5 is nearest to 2 and to 4
    assert edges([0, 0, 0, 0, 0, 1, 2, 3], strategy="equal-frequency", n_bins=4) == [0.5, 1.5]


def test_equal_frequency_parts_two_values_however_rare_one_is():
    assert edges([0, 1, 1, 1, 1, 1, 1, 1], strategy="equal-frequency", n_bins=2) == [0.5]
    assert edges([0, 0, 0, 0, 0, 0, 0, 1], strategy="equal-frequency", n_bins=2) == [0.5]


def test_the_best_cut_of_the_defaulted_loans_is_the_book_s():
    example = load_example("defaulted_loans")
    income = example.rows[:, 2].astype(float)
    assert edges(income, example.target, strategy="best-cut", n_bins=2) == [97.5]
    # below it 3 of 6 default; 60, 70, 75 do not and 85, 90, 95 do: the next cut leaves every bin pure
    assert edges(income, example.target, strategy="best-cut", n_bins=3) == [80, 97.5]
    assert edges(income, example.target, strategy="best-cut", n_bins=9) == [80, 97.5]


def test_a_cut_that_does_not_pay_for_its_description_is_left_out():
    example = load_example("defaulted_loans")
    # gain 0.8813 - 0.6 x 1 = 0.2813; Delta = log2 7 - (2 x 0.8813 - 2 x 1 - 1 x 0) = 3.0447;
    # (log2 9 + 3.0447) / 10 = 0.6215 is more
    assert edges(example.rows[:, 2].astype(float), example.target, strategy="best-cut", n_bins=None) == []


def test_a_cut_that_pays_for_its_description_is_made():
    # gain 1; Delta = log2 7 - 2 = 0.8074; (log2 7 + 0.8074) / 8 = 0.4518 is less
    assert edges(range(8), [0, 0, 0, 0, 1, 1, 1, 1], strategy="best-cut", n_bins=None) == [3.5]


def test_the_cut_that_saves_most_over_all_rows_comes_first():
    # runs of one class: the gain of a cut is the entropy of its sides' sizes, maximum for 6 of 14. Then 3 of 8 rows
    # saves 8 x 0.954 = 7.6 bits in all and 3 of 6 rows 6 x 1, though that is more a row
    values, classes = range(14), list("aaabbbcccddddd")
    assert edges(values, classes, strategy="best-cut", n_bins=2) == [5.5]
    assert edges(values, classes, strategy="best-cut", n_bins=3) == [5.5, 8.5]
    assert edges(values, classes, strategy="best-cut", n_bins=4) == [2.5, 5.5, 8.5]


def test_the_lowest_of_equal_cuts_is_taken():
    assert edges([1, 2, 3], ["a", "b", "a"], strategy="best-cut", n_bins=2) == [1.5]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_column_with_nothing_to_part_has_one_bin(strategy):
    X = np.array([[7, np.nan, 7], [7, np.nan, np.nan], [7, np.nan, np.nan]])
    fitted = Discretizer(strategy).fit(X, [0, 1, 1])
    assert [own.tolist() for own in fitted.edges_] == [[], [], []]
    np.testing.assert_array_equal(fitted.transform(X), X * 0)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "values", [(-1.7e308, 1.7e308), (1, np.nextafter(1, 2)), (0, 5e-324), (5e-324, 1e-323)], ids=str
)
def test_extreme_values_are_parted(strategy, values):
    codes = Discretizer(strategy, n_bins=2).fit_transform(column(values), [0, 1])
    assert codes.ravel().tolist() == [0, 1]


@given(LABELLED)
def test_paying_cuts_are_those_of_the_recursion(rows):
    values, classes = zip(*rows, strict=True)
    assert edges(values, classes, strategy="best-cut", n_bins=None) == naive.paying_cuts(values, classes)


@given(LABELLED)
def test_the_best_cut_is_the_best_of_all_cuts(rows):
    values, classes = zip(*rows, strict=True)
    cut, _ = naive.best_cut(values, classes)
    assert edges(values, classes, strategy="best-cut", n_bins=2) == ([] if cut is None else [cut])


@given(VALUES, st.integers(2, 6))
def test_equal_frequency_cuts_are_the_nearest_to_even(values, n_bins):
    expected = naive.nearest_to_even_cuts(values, n_bins)
    assert edges(values, strategy="equal-frequency", n_bins=n_bins) == expected


@given(LABELLED, st.integers(2, 6))
def test_one_bin_more_keeps_the_cuts_made(rows, n_bins):
    values, classes = zip(*rows, strict=True)
    few = edges(values, classes, strategy="best-cut", n_bins=n_bins)
    more = edges(values, classes, strategy="best-cut", n_bins=n_bins + 1)
    assert set(few) <= set(more)
    assert len(few) <= n_bins - 1


@given(st.permutations(range(20)), st.integers(2, 20))
def test_equal_frequency_bins_differ_by_at_most_one_row(values, n_bins):
    codes = Discretizer("equal-frequency", n_bins=n_bins).fit_transform(column(values))
    sizes = np.unique(codes, return_counts=True)[1]
    assert len(sizes) == n_bins
    assert np.ptp(sizes) <= 1


# Codes


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(rows=LABELLED)
def test_codes_keep_the_order_of_values(strategy, rows):
    values, classes = map(np.array, zip(*rows, strict=True))
    codes = Discretizer(strategy, n_bins=4).fit_transform(column(values), classes).ravel()
    assert (np.diff(codes[np.argsort(values, kind="stable")]) >= 0).all()
    assert set(codes) <= {0, 1, 2, 3}


def test_bins_include_their_upper_edge_and_outer_bins_are_open():
    fitted = Discretizer(n_bins=4).fit(column([0, 100]))
    codes = fitted.transform(column([-5, 0, 25, 25.001, 50, 75, 76, 100, 1e9]))
    assert codes.dtype == np.float64
    assert codes.ravel().tolist() == [0, 0, 0, 1, 1, 2, 3, 3, 3]


def test_missing_values_stay_missing_and_move_no_edge():
    values = [3, np.nan, 1, 2, np.nan, 9]
    classes = [0, 1, 0, 0, 0, 1]
    for strategy in STRATEGIES:
        fitted = Discretizer(strategy, n_bins=2).fit(column(values), classes)
        assert fitted.edges_[0].tolist() == edges([3, 1, 2, 9], [0, 0, 0, 1], strategy=strategy, n_bins=2)
        assert np.isnan(fitted.transform(column(values))).ravel().tolist() == np.isnan(values).tolist()


def test_equal_width_agrees_with_scikit_learn():
    X = np.random.default_rng(4).normal(size=(300, 3))
    peer = KBinsDiscretizer(6, encode="ordinal", strategy="uniform").fit_transform(X)
    np.testing.assert_array_equal(Discretizer(n_bins=6).fit_transform(X), peer)


def test_fitting_and_coding_leave_the_table_as_it_was():
    X = np.random.default_rng(5).normal(size=(20, 2))
    before = X.copy()
    Discretizer().fit(X).transform(X)
    np.testing.assert_array_equal(X, before)


# Columns


def test_columns_left_out_pass_through():
    X = np.array([[0.0, 0], [5, 50], [10, 100]])
    fitted = Discretizer(n_bins=2, columns=[1, 1]).fit(X)
    assert fitted.columns_.tolist() == [1]
    assert [own.tolist() for own in fitted.edges_] == [[50]]
    assert fitted.transform(X).tolist() == [[0, 0], [5, 0], [10, 1]]


def test_columns_of_a_data_frame_go_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [0.0, 5, 10], "income": [0, 50, 100]})
    fitted = Discretizer(n_bins=2, columns=["income"]).fit(frame)
    assert fitted.columns_.tolist() == [1]
    assert fitted.get_feature_names_out().tolist() == ["age", "income"]
    assert fitted.transform(frame)[:, 1].tolist() == [0, 0, 1]
    assert fitted.set_output(transform="pandas").transform(frame)["income"].tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match=r"positions 0 to 1 or one of age, income, got \['wealth', 2\]"):
        Discretizer(columns=["age", "wealth", 2]).fit(frame)


def test_columns_without_names_are_numbered():
    assert Discretizer().fit([[1.0, 2]]).get_feature_names_out().tolist() == ["x0", "x1"]


def test_an_unknown_column_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"positions 0 to 1; X has no column names, got \['age', 2\]"):
        Discretizer(columns=["age", 1, 2]).fit([[0.0, 0]])


# The estimator


@pytest.mark.parametrize(
    "parameters",
    [{}, {"strategy": "equal-frequency"}, {"strategy": "best-cut"}, {"strategy": "best-cut", "n_bins": None}],
    ids=str,
)
def test_scikit_learn_s_checks_pass(parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # the array API, which needs an environment variable
        check_estimator(Discretizer(**parameters))


def test_parameters_survive_cloning():
    parameters = {"strategy": "best-cut", "n_bins": None, "columns": [0]}
    assert clone(Discretizer(**parameters)).get_params() == parameters


def test_best_cut_needs_classes():
    with pytest.raises(ValueError, match="requires y"):
        Discretizer("best-cut").fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="Unknown label type"):
        Discretizer("best-cut").fit([[1.0], [2.0]], [0.1, 0.27])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strategy": "kmeans"}, "strategy must be one of equal-width, equal-frequency, best-cut, got 'kmeans'"),
        ({"n_bins": 1}, "n_bins must be a whole number of at least 2, or None, got 1"),
        ({"n_bins": 2.5}, "n_bins must be a whole number"),
        ({"n_bins": None}, "n_bins=None is valid with strategy best-cut only; equal-width needs a number"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Discretizer(**parameters).fit([[1.0], [2.0]])


def test_infinity_is_refused():
    with pytest.raises(ValueError, match="infinity"):
        Discretizer().fit([[1.0], [np.inf]])


def test_coding_before_fitting_is_refused():
    with pytest.raises(NotFittedError):
        Discretizer().transform([[1.0]])


@pytest.mark.parametrize("strategy", ["equal-width", "equal-frequency", "best-cut"])
@pytest.mark.parametrize(("weight", "said"), [(-1.0, "Negative values"), (1e308, "add up to a finite number")])
def test_weights_that_trees_refuse_are_refused(strategy, weight, said):
    with pytest.raises(ValueError, match=said):
        Discretizer(strategy).fit(np.arange(8.0)[:, None], [0, 1] * 4, np.full(8, weight))
