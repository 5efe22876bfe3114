"""The teaching tables load whole and typed; what they hold is checked by the golden numbers of the criteria."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from posepipe.learn.tables.examples import example_names, load_example

#: rows, columns and how many rows each class has
SHAPES = {
    "defaulted_loans": (10, 3, {"no": 7, "yes": 3}),
    "loans": (15, 4, {"no": 6, "yes": 9}),
    "peas": (9, 3, {"no": 4, "yes": 5}),
    "restaurant": (12, 10, {"No": 6, "Yes": 6}),
    "weather": (14, 4, {"no": 5, "yes": 9}),
}


def test_the_names_are_those_of_the_tables():
    assert example_names() == tuple(sorted([*SHAPES, "steps"]))


@pytest.mark.parametrize("name", SHAPES)
def test_a_table_of_classes_has_its_rows_columns_and_classes(name):
    example = load_example(name)
    n_rows, n_columns, classes = SHAPES[name]
    assert example.rows.shape == (n_rows, n_columns)
    assert len(example.columns) == len(example.categorical) == n_columns
    assert dict(zip(*np.unique(example.target, return_counts=True), strict=True)) == classes


def test_categories_are_words_and_numbers_are_floats():
    example = load_example("defaulted_loans")
    assert example.columns == ("house", "marital", "income")
    assert example.categorical == (True, True, False)
    assert example.rows[6].tolist() == ["yes", "divorced", 220.0]
    assert [type(cell) for cell in example.rows[0]] == [str, str, float]
    assert example.target_name == "defaulted"


def test_a_table_for_regression_has_a_target_of_numbers():
    example = load_example("steps")
    assert example.rows[:, 0].tolist() == list(range(1, 11))
    assert example.categorical == (False,)
    assert example.target.dtype == np.float64
    assert example.target.tolist() == [5.56, 5.70, 5.91, 6.40, 6.80, 7.05, 8.90, 8.70, 9.00, 9.05]


def test_the_restaurant_s_rows_are_the_book_s():
    example = load_example("restaurant")
    assert example.columns == ("Alt", "Bar", "Fri", "Hun", "Pat", "Price", "Rain", "Res", "Type", "Est")
    assert (example.rows[:, 4] == "None").sum() == 2  # a word here, no missing value
    assert example.rows[3].tolist() == ["Yes", "No", "Yes", "Yes", "Full", "$", "Yes", "No", "Thai", "10-30"]


def test_equal_rows_of_peas_have_equal_targets():
    example = load_example("peas")
    fates = {tuple(row): fate for row, fate in zip(example.rows, example.target, strict=True)}
    assert len(fates) == 8
    assert [fates[tuple(row)] for row in example.rows] == example.target.tolist()


def test_changing_a_loaded_table_changes_no_other():
    load_example("loans").rows[:] = "changed"
    assert load_example("loans").rows[0, 0] == "young"


def test_an_example_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        load_example("loans").target_name = "other"


@pytest.mark.parametrize("name", ["titanic", "", "../data/loans", "Loans"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(ValueError, match="defaulted_loans, loans, peas, restaurant, steps, weather"):
        load_example(name)
