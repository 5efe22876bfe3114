"""Rows that no tree can learn from are refused, and the message names the row or the column."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.learn import BaggingClassifier, C45Classifier, CartClassifier, CartRegressor, RandomForestClassifier


@pytest.mark.parametrize(("cell", "error"), [(b"bytes", TypeError), (10**400, ValueError)])
def test_the_column_of_a_refused_cell_is_named(cell, error):
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"age": [30, 40, 50, 60], "sex": ["m", "f", "f", None]}).astype(object)
    learner = CartClassifier().fit(rows, [0, 1, 1, 0])
    for column in rows.columns:
        wrong = rows.copy()
        wrong.loc[3, column] = cell
        for call in (
            lambda wrong=wrong: CartClassifier().fit(wrong, [0, 1, 1, 0]),
            lambda wrong=wrong: learner.predict(wrong),
        ):
            with pytest.raises(error, match=f"^column '{column}': a cell"):
                call()


@pytest.mark.parametrize("rows", [[["a", "1"], [], ["b", "2"]], [["a", 1], [], ["b", 2]]])
def test_a_row_of_another_length_is_named(rows):
    with pytest.raises(ValueError, match="wanted as many cells in every row, got 2 in row 0 and 0 in row 1"):
        CartClassifier().fit(rows, [0, 1, 1])


@pytest.mark.parametrize("learner", [C45Classifier, CartClassifier, RandomForestClassifier, BaggingClassifier])
@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_class_that_is_missing_is_refused_with_its_row(learner, missing):
    for targets in (["yes", missing, "no"], np.array(["yes", missing, "no"], object)):
        with pytest.raises(ValueError, match="y: row 1, counted from 0, has no target"):
            learner().fit([[1.0], [2.0], [3.0]], targets)


def test_a_missing_class_of_pandas_is_refused_with_its_row():
    pandas = pytest.importorskip("pandas")
    for kind in ("string", "category", object):
        targets = pandas.Series(["yes", None, "no"], dtype=kind, index=[7, 8, 9])
        with pytest.raises(ValueError, match="y: row 1, counted from 0, has no target"):
            CartClassifier().fit([[1.0], [2.0], [3.0]], targets)


def test_a_number_that_is_missing_is_refused_with_its_row():
    with pytest.raises(ValueError, match="y: row 1, counted from 0, has no target"):
        CartRegressor().fit([[1.0], [2.0]], [1.0, None])
