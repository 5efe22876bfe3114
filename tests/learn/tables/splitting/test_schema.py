"""Tables of any type are encoded; cells that a column cannot hold are refused with a clear message."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
from posepipe.learn.tables.splitting.schema import Schema, chosen_columns, is_missing

CELLS = st.one_of(st.none(), st.text(max_size=3), st.booleans(), st.integers(-99, 99), st.floats(-1e6, 1e6))


def learn(*columns, categorical=False) -> tuple[Schema, np.ndarray]:
    """The schema of some columns, and their cells."""
    cells = np.empty((len(columns[0]), len(columns)), object)
    for k, column in enumerate(columns):
        cells[:, k] = column
    names = [f"c{k}" for k in range(len(columns))]
    return Schema.learn(cells, names, np.full(len(columns), categorical)), cells


def codes(*columns, **parameters) -> list[list[float]]:
    """What the columns are coded as; None where a cell is missing."""
    schema, cells = learn(*columns, **parameters)
    return [[None if np.isnan(code) else code for code in column] for column in schema.encode(cells).T.tolist()]


def fitted(X, y=(0, 1, 1, 0), **parameters) -> CartClassifier:
    return CartClassifier(**parameters).fit(X, list(y))


# Object tables


def test_numbers_stay_and_words_become_alphabetical_codes():
    assert codes([3, 1.5, -2], ["b", "c", "a"]) == [[3, 1.5, -2], [1, 2, 0]]


def test_a_column_with_one_word_in_it_holds_categories():
    schema, _ = learn([1, "one", 2], [1, 1.5, 2])
    assert schema.is_categorical.tolist() == [True, False]
    assert schema.categories == ((1.0, 2.0, "one"), None)


def test_truth_values_are_categories():
    schema, _ = learn([True, False, np.bool_(True)])
    assert schema.categories == ((False, True),)
    for column in ([1, True, 2.5], [True, 1, 2.5]):
        assert learn(column)[0].is_categorical.all()


@pytest.mark.parametrize("nothing", [None, np.nan, float("nan"), np.float32("nan")], ids=repr)
def test_missing_cells_are_missing_however_they_are_written(nothing):
    assert is_missing(nothing)
    assert codes([1, nothing], ["a", nothing], [True, nothing]) == [[1, None], [0, None], [0, None]]


@pytest.mark.parametrize("there", [0, "", "nan", "None", False, np.str_("NaN")], ids=repr)
def test_what_only_looks_missing_is_not(there):
    assert not is_missing(there)


def test_numbers_and_words_are_the_same_however_they_are_wrapped():
    assert codes([np.str_("a"), "a", "b"], [np.int8(3), 3, 3.0]) == [[0, 0, 1], [3, 3, 3]]


def test_a_column_of_nothing_but_missing_cells_is_coded():
    assert codes([None, None]) == [[None, None]]
    assert codes([None, None], categorical=True) == [[None, None]]


def test_numbers_are_categories_where_one_says_so():
    schema, cells = learn([7, 3, 7, None], categorical=True)
    assert schema.categories == ((3.0, 7.0),)
    assert schema.n_codes.tolist() == [2]
    np.testing.assert_array_equal(schema.encode(cells).ravel(), [1, 0, 1, np.nan])


def test_floats_are_encoded_like_the_same_objects():
    floats = np.array([[7, 1.5], [3, np.nan], [np.nan, 2], [7, 2]])
    one, other = (Schema.learn(cells, ["a", "b"], np.array([True, False])) for cells in (floats, floats.astype(object)))
    new = np.array([[3, 0], [8, 1], [1, 9], [9, 1], [np.nan, 2.0]])
    for cells in (floats, new):
        np.testing.assert_array_equal(one.encode(cells), other.encode(cells.astype(object)))
        np.testing.assert_array_equal(other.encode(cells), one.encode(cells.astype(object)))


def test_a_category_that_was_never_seen_is_as_good_as_missing():
    schema, _ = learn(["a", "b"], [1, 2], categorical=True)
    new = np.array([["c", 5], ["a", 2], [None, None]], object)
    np.testing.assert_array_equal(schema.encode(new), [[np.nan, np.nan], [0, 1], [np.nan, np.nan]])


def test_categories_among_words_are_found_in_a_table_of_numbers():
    schema, _ = learn(["a", 1, 2.5])
    np.testing.assert_array_equal(schema.encode(np.array([[2.5], [1], [7]])).ravel(), [1, 0, np.nan])


def test_words_are_no_numbers():
    schema, _ = learn(["1", "2"])
    assert np.isnan(schema.encode(np.array([[1.0], [2.0]]))).all()


@given(st.lists(CELLS, min_size=1, max_size=12), st.booleans())
def test_codes_are_distinct_for_distinct_cells(column, categorical):
    schema, cells = learn(column, categorical=categorical)
    code = schema.encode(cells).ravel()
    assert np.isnan(code).tolist() == [is_missing(cell) for cell in column]
    for one, own in zip(column, code, strict=True):
        for other, its in zip(column, code, strict=True):
            if not is_missing(one) and not is_missing(other):
                assert (own == its) == (one == other)
    if schema.is_categorical[0]:
        assert set(code[~np.isnan(code)]) == set(range(schema.n_codes[0]))


# Which columns are categories


def test_columns_are_chosen_by_name_position_or_mask():
    names = ["age", "sex", "town"]
    for chosen in (["sex", "town"], [1, 2], [-2, "town"], [False, True, True], np.array([1, 2]), ("town", 1)):
        assert chosen_columns(chosen, names, None).tolist() == [False, True, True]
    assert chosen_columns("all", names, None).all()
    assert not chosen_columns(None, names, None).any()
    assert not chosen_columns([], names, None).any()


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["height"], "the column 'height', the table has age, sex"),
        ([2], "the column 2, the table has age, sex"),
        ([0.0], "the column 0.0"),
        ("age", "categorical must be None, 'all', or a list of columns, got 'age'"),
        (1, "categorical must be None, 'all', or a list of columns, got 1"),
        ([True], "a mask of 1 columns, the table has 2"),
    ],
)
def test_columns_that_are_not_there_are_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        chosen_columns(chosen, ["age", "sex"], None)


# DataFrames


def frame(**columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def series(cells, dtype):
    return pytest.importorskip("pandas").array(cells, dtype=dtype)


def test_a_data_frame_brings_names_and_types():
    X = frame(age=[30, 40, 50, 60], sex=["m", "f", None, "f"], town=series([2, 1, 2, None], "category"))
    schema = fitted(X).schema_
    assert schema.names == ("age", "sex", "town")
    assert schema.categories == (None, ("f", "m"), (1.0, 2.0))


@pytest.mark.parametrize(
    ("dtype", "cells", "categories"),
    [
        ("int8", [1, 2, 3, 4], None),
        ("float32", [1, 2, np.nan, 4], None),
        ("Int64", [1, 2, None, 4], None),
        ("Float32", [1, 2, None, 4], None),
        ("bool", [True, False, True, True], (False, True)),
        ("boolean", [True, False, None, True], (False, True)),
        ("string", ["b", "a", None, "b"], ("a", "b")),
        ("str", ["b", "a", None, "b"], ("a", "b")),
        ("object", ["b", "a", None, "b"], ("a", "b")),
        ("object", [1, 2, None, 4], (1.0, 2.0, 4.0)),
        ("category", ["b", "a", None, "b"], ("a", "b")),
        ("category", [3, 1, None, 3], (1.0, 3.0)),
        ("category", [True, False, None, True], (False, True)),
    ],
)
@pytest.mark.parametrize("beside", [{}, {"n": [1.5, 2, 3, 4]}, {"s": ["x", "y", "x", "y"]}], ids=["alone", "n", "s"])
def test_a_column_keeps_its_type_beside_any_other(dtype, cells, categories, beside):
    X = frame(own=series(cells, dtype), **beside)
    learner = fitted(X, min_samples_leaf=0)
    assert learner.schema_.categories[0] == categories
    missing = [cell is None or cell != cell for cell in cells]
    assert np.isnan(learner._encode(X)[0]).tolist() == missing
    assert learner.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_types_of_a_frame_give_way_to_what_the_caller_says():
    X = frame(age=[30, 40, 30, 60], town=[2, 1, 2, 1])
    assert fitted(X, categorical=["town"]).schema_.is_categorical.tolist() == [False, True]
    assert fitted(X, categorical="all").schema_.is_categorical.all()


@pytest.mark.parametrize("beside", [{}, {"x": np.zeros(4)}, {"x": list("abcd")}], ids=["alone", "number", "word"])
@pytest.mark.parametrize("dtype", ["int64", "uint64", object])
def test_ids_of_64_bits_are_categories_of_their_own(dtype, beside):
    first = 2**53
    table = frame(id=np.array([first, first + 1] * 2, dtype), **beside)
    learner = fitted(table, (0, 1, 0, 1), categorical=["id"])
    assert learner.schema_.categories[0] == (first, first + 1)
    assert learner.predict(table[:2]).tolist() == [0, 1]


def test_a_frame_with_other_columns_is_refused():
    learner = fitted(frame(age=[30, 40, 50, 60], sex=["m", "f", "m", "f"]))
    with pytest.raises(ValueError, match="feature names"):
        learner.predict(frame(sex=["m"], age=[30]))


def test_a_frame_with_a_category_that_was_never_seen_is_answered():
    learner = fitted(frame(town=["a", "b", "b", "a"]))
    new = frame(town=series(["c", "b"], "category"))
    np.testing.assert_allclose(learner.predict_proba(new), [[0.5, 0.5], [0, 1]])


def test_rows_may_come_in_another_container_than_in_training():
    X = frame(age=[30, 40, 50, 60], sex=["m", "f", "f", "m"])
    learner = fitted(X.to_numpy(dtype=object))
    assert learner.predict(X.to_numpy(dtype=object).tolist()).tolist() == [0, 1, 1, 0]
    assert fitted(X.to_numpy(dtype=object).tolist()).schema_.categories == (None, ("f", "m"))


# Refusals


@pytest.mark.parametrize("cell", [{"a": 1}, [1, 2], b"bytes", 1j, object()], ids=lambda cell: type(cell).__name__)
def test_a_cell_that_is_neither_word_nor_number_is_refused(cell):
    X = np.array([["a"], ["b"], ["a"], [None]], object)
    X[3, 0] = cell
    with pytest.raises(TypeError, match=f"must be a string or a number, got {type(cell).__name__!r}"):
        fitted(X)
    learner = fitted(X[:3], y=[0, 1, 1])
    with pytest.raises(TypeError, match="must be a string or a number"):
        learner.predict(X[3:])


def test_dates_are_refused():
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2026-01-01", periods=4)
    for X in (frame(day=days), frame(day=days, n=[1, 2, 3, 4]), days.to_numpy()[:, None]):
        with pytest.raises(TypeError, match="must be a string or a number"):
            fitted(X)


def test_complex_numbers_are_refused():
    with pytest.raises(ValueError, match="Complex data not supported"):
        fitted(np.array([[1j], [2], [3], [4]]))


@pytest.mark.parametrize("infinite", [np.inf, -np.inf, 10**400], ids=["inf", "-inf", "10**400"])
@pytest.mark.parametrize("beside", [3.0, "word"])
def test_infinity_is_refused_in_training_and_later(infinite, beside):
    X = np.array([[1], [2], [3], [beside]], object)
    with pytest.raises(ValueError, match="infinity"):
        fitted(np.array([[1], [infinite], [3], [beside]], object))
    with pytest.raises(ValueError, match="infinity"):
        fitted(X).predict(np.array([[infinite]], object))


def test_a_word_in_a_column_of_numbers_is_named_with_a_remedy():
    X = frame(age=[30, 40, 50, 60], sex=["m", "f", "m", "f"])
    learner = fitted(X)
    with pytest.raises(ValueError, match="column 'age' must hold numbers as in training, got 'old'; convert it"):
        learner.predict(frame(age=["old"], sex=["m"]))
    with pytest.raises(ValueError, match="column 'column 0' must hold numbers as in training, got '40'"):
        fitted(X.to_numpy(dtype=object)).predict([["40", "m"]])


def test_a_table_with_another_number_of_columns_is_refused():
    with pytest.raises(ValueError, match="2 features, but CartClassifier is expecting 1"):
        fitted([[1], [2], [3], [4]]).predict([[1, 2]])


# Intervals


def test_cut_numbers_are_categories_closed_above():
    schema, cells = learn([1, 5, 5.5, 8, 9, None])
    cut = schema.cut([np.array([5.0, 8.0])])
    assert cut.n_codes.tolist() == [3]
    assert cut.is_categorical.all()
    assert not schema.is_categorical.any()
    np.testing.assert_array_equal(cut.encode(cells).ravel(), [0, 0, 1, 1, 2, np.nan])


def test_intervals_and_categories_are_described_in_words():
    schema, _ = learn([1, 9], [1.5, "red"], [True, False], [1, 2])
    cut = schema.cut([np.array([5, 8.25]), None, None, np.zeros(0)])
    assert [cut.describe(0, code) for code in range(3)] == ["up to 5", "above 5 to 8.25", "above 8.25"]
    assert [cut.describe(1, code) for code in range(2)] == ["1.5", "red"]
    assert [cut.describe(2, code) for code in range(2)] == ["False", "True"]
    assert cut.describe(3, 0) == "any"


def test_large_categories_and_intervals_have_texts_of_their_own():
    schema, _ = learn([1000001, 1000002, "red"], [1, 2, 3], categorical=[True, False])
    cut = schema.cut([None, np.array([1000001.25, 1000001.5])])
    assert [cut.describe(0, code) for code in range(3)] == ["1000001", "1000002", "red"]
    assert [cut.describe(1, code) for code in range(2)] == ["up to 1000001.25", "above 1000001.25 to 1000001.5"]
    near, _ = learn([0.12345671, 0.12345672], categorical=[True])
    assert [near.describe(0, code) for code in range(2)] == ["0.12345671", "0.12345672"]


def test_id3_cuts_its_numbers_and_keeps_the_edges():
    X = frame(age=[1, 2, 3, 4], sex=["m", "f", "m", "f"])
    schema = Id3Classifier().fit(X, [0, 0, 1, 1]).schema_
    assert schema.categories == (None, ("f", "m"))
    assert schema.edges[0].tolist() == [2.5]
    assert schema.edges[1] is None
    assert schema.describe(0, 0) == "up to 2.5"


# Column costs go by name or position


def test_column_costs_are_given_by_name_or_position():
    X = frame(dear=[1, 2, 3, 4], cheap=[1, 2, 3, 4])
    for costs in ({"dear": 2}, {0: 2}, {"dear": 3, "cheap": 2}):
        tree = C45Classifier(column_costs=costs).fit(X, [0, 0, 1, 1]).tree_.tree
        assert tree.feature[0] == 1
    assert C45Classifier(column_costs={"cheap": 2}).fit(X, [0, 0, 1, 1]).tree_.tree.feature[0] == 0


def test_text_that_reads_as_a_number_beside_it_is_quoted():
    cells = np.array([[1, "1"], [2.5, "2"], ["1", "True"], ["2.50", "3"], ["2.5", "4"]], object)
    schema = Schema.learn(cells, ["mixed", "text"], np.ones(2, bool))
    assert [schema.describe(0, code) for code in range(5)] == ["1", "2.5", "'1'", "'2.5'", "2.50"]
    assert [schema.describe(1, code) for code in range(5)] == ["1", "2", "3", "4", "True"]
