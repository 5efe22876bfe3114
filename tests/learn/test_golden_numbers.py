"""The figures that textbooks print for their small tables; a comment marks where a book rounds otherwise or errs."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.learn.impurity import (
    conditional_entropy,
    entropy,
    gain_ratio,
    gini,
    information_gain,
    intrinsic_value,
    misclassification,
    squared_error,
)
from posepipe.learn.tables.examples import Example, load_example


def printed(value: float) -> object:
    """A figure printed with three digits after the point."""
    return pytest.approx(value, abs=5.0001e-4)


def exact(value: float) -> object:
    """A figure worked out to five digits, where the printed one is off."""
    return pytest.approx(value, abs=5.0001e-6)


def count(branches, target) -> np.ndarray:
    """Class counts of the branches, in order of appearance; classes in alphabetical order."""
    classes = np.unique(target)
    return np.array([[np.sum(target[branches == b] == c) for c in classes] for b in dict.fromkeys(branches)])


def split(example: Example, column: str, where: tuple[str, str] | None = None) -> np.ndarray:
    """Class counts of the branches of a column, on all rows or on those where another column has a value."""
    keep = np.ones(len(example.rows), bool)
    if where is not None:
        keep = example.rows[:, example.columns.index(where[0])] == where[1]
    return count(example.rows[keep, example.columns.index(column)], example.target[keep])


def gain(children) -> float:
    return float(information_gain(np.sum(children, axis=0), children))


def gini_after(children) -> float:
    """Gini of the branches, weighted by their size."""
    return float(np.average(gini(children), weights=np.sum(children, axis=1)))


def every_gain(name: str, where: tuple[str, str] | None = None) -> dict[str, float]:
    example = load_example(name)
    return {column: gain(split(example, column, where)) for column in example.columns}


# Loans


def test_loans_have_the_book_s_gains():
    assert entropy(count(np.zeros(15), load_example("loans").target)) == printed(0.971)
    gains = {"age": 0.083, "job": 0.324, "house": 0.420, "credit": 0.363}
    assert every_gain("loans") == {column: printed(value) for column, value in gains.items()}


def test_among_loans_without_a_house_the_job_tells_all():
    gains = every_gain("loans", where=("house", "no"))
    assert gains["age"] == exact(0.25163)  # printed 0.251: cut off, not rounded
    assert gains["job"] == printed(0.918)
    assert gains["credit"] == printed(0.474)
    assert conditional_entropy(split(load_example("loans"), "job", where=("house", "no"))) == 0


# Weather


def test_weather_has_the_book_s_gains():
    assert entropy([5, 9]) == printed(0.940)
    gains = every_gain("weather")
    assert gains["outlook"] == exact(0.24675)  # often printed 0.246: 0.940 - 0.694, rounded before the difference
    assert gains["temperature"] == printed(0.029)
    assert gains["humidity"] == exact(0.15184)  # printed 0.151: 0.940 - 0.789
    assert gains["wind"] == printed(0.048)


def test_weather_has_the_book_s_gain_ratios():
    example = load_example("weather")
    ratios = {c: float(gain_ratio([5, 9], split(example, c))) for c in example.columns}
    assert intrinsic_value(split(example, "outlook")) == printed(1.577)
    assert ratios["outlook"] == exact(0.15643)  # printed 0.156 or 0.157 = 0.247 / 1.577
    assert ratios["temperature"] == exact(0.01877)  # printed 0.018 or 0.019
    assert ratios["humidity"] == exact(0.15184)  # printed 0.151 or 0.152
    assert ratios["wind"] == printed(0.049)


# Restaurant


def test_restaurant_has_the_book_s_gains():
    gains = {"Pat": 0.541, "Est": 0.208, "Hun": 0.196, "Price": 0.196, "Fri": 0.021, "Rain": 0.021, "Res": 0.021}
    gains |= {"Alt": 0, "Bar": 0, "Type": 0}
    assert every_gain("restaurant") == {column: printed(value) for column, value in gains.items()}


def test_in_a_full_restaurant_five_columns_tie():
    gains = every_gain("restaurant", where=("Pat", "Full"))
    best = {column: value for column, value in gains.items() if value > 0.2}
    assert best == dict.fromkeys(["Hun", "Price", "Res", "Type", "Est"], printed(0.252))


# Peas


def test_peas_split_as_the_exercise_says():
    example = load_example("peas")
    children = {column: split(example, column)[::-1].tolist() for column in example.columns}
    # no and yes, the drier, smaller or wrinkled branch first
    assert children == {"water": [[3, 1], [1, 4]], "size": [[3, 2], [1, 3]], "shape": [[2, 3], [2, 2]]}
    assert gain(children["water"]) == printed(0.229)
    assert gain(children["size"]) == printed(0.091)
    assert [gini_after(children[c]) for c in example.columns] == [printed(0.344), printed(0.433), printed(0.489)]
    # 4 of 9 without a question, then the lesser count of each branch: 1 + 1, 1 + 2, 2 + 2
    assert misclassification([4, 5]) == pytest.approx(4 / 9)
    errors = [np.sum(misclassification(k) * np.sum(k, axis=1)) for k in children.values()]
    assert errors == [pytest.approx(2), pytest.approx(3), pytest.approx(4)]


# Defaulted loans


def test_defaulted_loans_have_the_book_s_gini_splits():
    example = load_example("defaulted_loans")
    house, marital, income = example.rows.T
    assert gini_after(count(house, example.target)) == printed(0.343)
    assert gini_after(count(marital == "married", example.target)) == pytest.approx(0.3)
    assert gini_after(count(income <= 97.5, example.target)) == pytest.approx(0.3)


def test_no_threshold_on_income_beats_97_5():
    example = load_example("defaulted_loans")
    income = np.sort(example.rows[:, 2].astype(float))
    middle = (income[1:] + income[:-1]) / 2
    after = [gini_after(count(example.rows[:, 2] <= threshold, example.target)) for threshold in middle]
    assert middle[np.argmin(after)] == 97.5


# Steps: a number to predict


def error_after(values, n_left: int) -> float:
    """Summed squared error of the first ``n_left`` values and of the rest, each about its own mean."""
    moments = np.array([[len(v), np.sum(v), np.sum(v**2)] for v in (values[:n_left], values[n_left:])])
    return float(np.sum(squared_error(moments) * moments[:, 0]))


def best_threshold(x, y) -> float:
    errors = [error_after(y, n) for n in range(1, len(y))]
    n_left = 1 + int(np.argmin(errors))
    return (x[n_left - 1] + x[n_left]) / 2


def test_the_steps_part_at_6_5_and_then_at_3_5():
    example = load_example("steps")
    x, y = example.rows[:, 0].astype(float), example.target
    assert best_threshold(x, y) == 6.5
    assert best_threshold(x[:6], y[:6]) == 3.5
    # the means of the leaves, printed 5.72, 6.75, 8.91
    assert [y[:3].mean(), y[3:6].mean(), y[6:].mean()] == [exact(5.72333), exact(6.75), exact(8.9125)]
    # about 6.2367 the first six: 0.4579 + 0.2880 + 0.1067 + 0.0267 + 0.3173 + 0.6615; about 8.9125 the rest: 0.0719
    assert error_after(y, 6) == exact(1.93001)


# Figures without a table


def test_gini_of_the_slide_s_node():
    assert gini([11, 14]) == pytest.approx(0.4928)  # printed 0.492
    assert gini([2, 11]) == exact(0.26036)  # printed 0.25
    assert gini([9, 3]) == pytest.approx(0.375)
    improvement = gini([11, 14]) - gini_after([[2, 11], [9, 3]])
    assert improvement == exact(0.17742)  # printed 0.182, which follows from the 0.25


def test_costs_weigh_the_mistakes_of_gini():
    # 11:14, mistaking the first class costs 3, the second 1: (3 + 1) x 11/25 x 14/25
    assert gini([11, 14], costs=[[0, 3], [1, 0]]) == pytest.approx(4 * 11 * 14 / 625)
    assert gini([11, 14], costs=[[0, 1], [1, 0]]) == pytest.approx(0.4928)


def test_entropy_of_the_slide_s_node_and_its_two_branches():
    assert entropy([14, 16]) == exact(0.99679)  # printed 0.996
    assert entropy([1, 12]) == printed(0.391)
    assert entropy([13, 4]) == printed(0.787)
    assert gain([[1, 12], [13, 4]]) == printed(0.381)


def test_three_branches_save_more_bits_and_cost_more():
    children = [[1, 6], [13, 4], [0, 6]]
    assert entropy(children).tolist() == [printed(0.592), printed(0.787), 0]
    assert gain(children) == exact(0.41270)  # printed 0.41
    assert intrinsic_value(children) == exact(1.41862)  # printed 1.41
    assert gain_ratio([14, 16], children) == exact(0.29091)  # printed 0.29


def test_a_gain_counts_for_the_share_of_known_rows():
    children = [[1, 12], [10, 2]]  # 25 of 30 rows
    assert entropy([11, 14]) == printed(0.990)
    assert entropy(children).tolist() == [printed(0.391), printed(0.650)]
    assert gain(children) * 25 / 30 == exact(0.39511)  # printed 0.396


def test_a_row_in_several_branches_counts_by_its_weights():
    assert entropy([2 / 3 + 1 / 6 + 1, 1 / 5 + 1]) == printed(0.968)
