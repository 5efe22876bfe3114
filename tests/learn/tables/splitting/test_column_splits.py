"""Best splits of random tables follow the definitions for any order, weights and missing cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.learn.growing import GrowthRules, OpenNodes
from posepipe.learn.impurity import CRITERIA, SQUARED_ERROR
from posepipe.learn.tables.splitting.column_splits import ByGainRatio, ColumnSplits, Table, by_gain
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.directions import RandomCombinations, fisher_directions
from posepipe.learn.tables.splitting.split_gain import MULTIWAY, NUMERIC, ONE_VS_REST
from posepipe.learn.tables.table_model import NO_LIMIT, grow_table_tree
from tests.reference.tables import column_scan as naive
from tests.reference.tables import descent as naive_descent

EVERY_SPLIT = GrowthRules(NO_LIMIT, NO_LIMIT, min_gain=1e-9, min_samples=2, split_samples=NO_LIMIT)
NAIVE_KINDS = {NUMERIC: naive.NUMERIC, MULTIWAY: naive.MULTIWAY, ONE_VS_REST: naive.ONE_VS_REST}
N_CATEGORIES = 4


@dataclass(frozen=True)
class Rows:
    """A table to be split."""

    cells: np.ndarray  #: float64 (N, F)
    kinds: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None = None
    criterion: str = "entropy"
    n_categories: int = N_CATEGORIES

    def finder(self, **parameters) -> ColumnSplits:
        n_codes = np.where(self.kinds == NUMERIC, 0, self.n_categories)
        table = Table.of(self.cells, self.kinds, n_codes, self.target, 3)
        return ColumnSplits(table, CRITERIA[self.criterion], **parameters)

    def best(self, rules=EVERY_SPLIT, seed=0, **parameters):
        """Gain, column (None = no split) and threshold for all rows."""
        n = len(self.target)
        nodes = OpenNodes(np.arange(n, dtype=np.int32), self.weight, np.array([0]), np.array([n]))
        found = self.finder(**parameters).best_splits(nodes, rules, np.random.default_rng(seed))
        if found.gain[0] == -np.inf:
            return -np.inf, None, 0.0
        return found.gain[0], int(found.features[found.feature[0]]), found.threshold[0]

    def grow(self, rules=EVERY_SPLIT, seed=0, **parameters) -> TableTree:
        return grow_table_tree(self.finder(**parameters), rules, (seed,), self.weight)

    def lists(self):
        """Rows, columns and weights as the naive twins have them."""
        rows = [[None if np.isnan(cell) else cell for cell in row] for row in self.cells.tolist()]
        weight = [1.0] * len(rows) if self.weight is None else self.weight.tolist()
        return rows, [list(column) for column in zip(*rows, strict=True)], weight


@st.composite
def tables(draw, criterion="entropy", weighted=True, most_rows=14):
    """One row to some, of numbers and categories, with missing cells, some columns constant or empty."""
    n_rows, n_columns = draw(st.integers(1, most_rows)), draw(st.integers(1, 4))
    kinds = draw(st.lists(st.sampled_from([NUMERIC, MULTIWAY, ONE_VS_REST]), min_size=n_columns, max_size=n_columns))
    cell = st.one_of(st.integers(0, N_CATEGORIES - 1), st.none())
    columns = draw(st.lists(st.lists(cell, min_size=n_rows, max_size=n_rows), min_size=n_columns, max_size=n_columns))
    value = st.integers(-8, 8).map(lambda quarter: quarter / 4) if criterion == "squared_error" else st.integers(0, 2)
    target = draw(st.lists(value, min_size=n_rows, max_size=n_rows))
    weight = draw(st.lists(st.integers(1, 8).map(lambda quarter: quarter / 4), min_size=n_rows, max_size=n_rows))
    return Rows(
        cells=np.array(columns, np.float64).T.reshape(n_rows, n_columns),
        kinds=np.array(kinds, np.uint8),
        target=np.array(target, np.float64),
        weight=np.array(weight) if weighted and draw(st.booleans()) else None,
        criterion=criterion,
    )


def same_tree(one: TableTree, other: TableTree, factor: float = 1.0) -> bool:
    """Whether two trees have equal splits, and equal weights up to a factor and rounding."""
    a, b = one.tree, other.tree
    return (
        np.array_equal(a.feature, b.feature)
        and np.array_equal(a.threshold, b.threshold)
        and np.array_equal(a.first_child, b.first_child)
        and np.array_equal(a.n_children, b.n_children)
        and np.allclose(a.leaf_statistics * factor, b.leaf_statistics, rtol=1e-9, atol=1e-9)
    )


# Which split


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=30)
@given(data=st.data())
def test_the_best_split_is_the_best_of_every_column(criterion, data):
    rows = data.draw(tables(criterion))
    _, columns, weight = rows.lists()
    every = [
        naive.best_split(NAIVE_KINDS[kind], column, rows.target.tolist(), weight, criterion, min_leaf=1)
        for kind, column in zip(rows.kinds.tolist(), columns, strict=True)
    ]
    gain, column, threshold = rows.best()
    if naive.impurity(criterion, rows.target.tolist(), weight) < 1e-9:
        assert column is None  # nothing is left to part
        return
    assert column == naive.best_of_columns(every, "gain")
    if column is not None:
        assert gain == pytest.approx(every[column][0], abs=1e-9)
        assert threshold == every[column][2]


@given(tables(), st.booleans(), st.lists(st.sampled_from([0.5, 1, 3]), min_size=4, max_size=4))
def test_by_gain_ratio_the_best_split_is_as_quinlan_defines_it(rows, guard, costs):
    _, columns, weight = rows.lists()
    every = [
        naive.best_split(NAIVE_KINDS[kind], column, rows.target.tolist(), weight, "entropy", min_leaf=1)
        for kind, column in zip(rows.kinds.tolist(), columns, strict=True)
    ]
    assert rows.best(choice=ByGainRatio(guard))[1] == naive.best_of_columns(every, "gain ratio", guard=guard)
    priced = ByGainRatio(guard, np.array(costs[: len(columns)]))
    assert rows.best(choice=priced)[1] == naive.best_of_columns(every, "gain ratio", costs, guard)


@given(tables(), st.integers(0, 3), st.sampled_from([NUMERIC, MULTIWAY, ONE_VS_REST]))
def test_a_planted_split_is_found(rows, place, kind):
    answer = (rows.target > 0).astype(np.float64)
    planted = replace(
        rows,
        cells=np.insert(rows.cells, min(place, rows.cells.shape[1]), answer, axis=1),
        kinds=np.insert(rows.kinds, min(place, rows.cells.shape[1]), kind),
        target=answer,
    )
    grown = planted.grow(min_leaf=0)
    level = grown.tree.depth()
    assert level == (0 if np.ptp(answer) == 0 else 1)
    assert ((grown.tree.leaf_statistics > 0).sum(axis=1) <= 1).all()


def numbers(*columns, target, **parameters) -> Rows:
    return Rows(
        np.array(columns, np.float64).T, np.zeros(len(columns), np.uint8), np.array(target, float), **parameters
    )


def test_ties_between_columns_go_to_the_first():
    x = [1, 2, 3, 4]
    assert numbers([5, 5, 5, 5], x, x, x[::-1], target=[0, 0, 1, 1]).best()[1] == 1


def test_ties_between_thresholds_go_to_the_lowest():
    assert numbers([1, 2, 3], target=[0, 1, 0]).best()[2] == 1.5
    assert numbers([3, 2, 1], target=[0, 1, 0]).best()[2] == 1.5


def test_ties_between_categories_go_to_the_first():
    rows = Rows(np.array([[3.0], [1], [2]]), np.array([ONE_VS_REST], np.uint8), np.array([0.0, 1, 2]))
    assert rows.best()[2] == 1


def test_a_threshold_lies_midway_between_neighbouring_values():
    assert numbers([1, 4, 4.5, 9], target=[0, 0, 1, 1]).best()[2] == 4.25


@pytest.mark.parametrize(
    ("low", "high"), [(1, np.nextafter(1, 2)), (-1.7e308, 1.7e308), (0, 5e-324)], ids=["next", "largest", "smallest"]
)
def test_extreme_neighbours_are_parted(low, high):
    tree = numbers([low, high], target=[0, 1]).grow().tree
    assert tree.n_nodes == 3
    assert low <= tree.threshold[0] < high


def test_no_branch_holds_less_than_the_minimum_weight():
    rows = numbers([1, 2, 3, 4, 5, 6], target=[1, 0, 0, 0, 0, 0])
    assert rows.best(min_leaf=1)[2] == 1.5
    assert rows.best(min_leaf=2)[2] == 2.5
    assert rows.best(min_leaf=3)[2] == 3.5
    assert rows.best(min_leaf=3.5)[1] is None
    assert replace(rows, weight=np.array([3.5, 1, 1, 1, 1, 1])).best(min_leaf=3.5)[2] == 1.5


def test_two_of_many_branches_must_hold_the_minimum_weight():
    rows = Rows(np.array([[0.0], [0], [1], [1], [2]]), np.array([MULTIWAY], np.uint8), np.array([0.0, 0, 1, 1, 2]))
    assert rows.best(min_leaf=2)[1] == 0
    assert rows.best(min_leaf=2.5)[1] is None


def test_missing_cells_reduce_the_gain_of_a_column():
    """25 of 30 rows known, Quinlan's way: 0.396 in print, where 25/30 of 0.4741 is 0.39511."""
    cells = np.array([0.0] * 13 + [1] * 12 + [np.nan] * 5)[:, None]
    target = np.array([0.0] * 1 + [1] * 12 + [0] * 10 + [1] * 2 + [0, 0, 0, 1, 1])
    for kind in (NUMERIC, MULTIWAY, ONE_VS_REST):
        gain, column, _ = Rows(cells, np.array([kind], np.uint8), target).best()
        assert column == 0
        assert gain == pytest.approx(0.39511, abs=5e-6)


# Gain ratio


def best_of_a_sliver(choice, idle_columns=0) -> int | None:
    """The column chosen among two, and others that save nothing, for 16 rows, 8 of each class.

    Column 0 parts one row off: gain 1 - 15/16 H(7/15) = 0.0655, intrinsic value H(1/16) = 0.3373, ratio 0.194.
    Column 1 has eight branches of two rows, four of them pure: gain 0.5, intrinsic value 3, ratio 0.167.
    """
    target = np.repeat([0.0, 1], 8)
    sliver = (np.arange(16) == 0).astype(float)
    eight = np.array([0, 0, 1, 1, 4, 5, 6, 7, 2, 2, 3, 3, 4, 5, 6, 7], float)
    cells = np.stack([sliver, eight, *[np.arange(16) % 2.0] * idle_columns], axis=1)
    rows = Rows(cells, np.full(2 + idle_columns, MULTIWAY, np.uint8), target, n_categories=8)
    return rows.best(choice=choice)[1]


def test_the_guard_refuses_a_sliver_that_the_ratio_favours():
    assert best_of_a_sliver(by_gain) == 1
    assert best_of_a_sliver(ByGainRatio(average_gain_guard=False)) == 0
    assert best_of_a_sliver(ByGainRatio(average_gain_guard=True)) == 1


def test_the_average_gain_includes_columns_without_gain():
    # (0.0655 + 0.5) / 8 = 0.0707 forbids the sliver; / 9 = 0.0628 does not
    assert best_of_a_sliver(ByGainRatio(), idle_columns=6) == 1
    assert best_of_a_sliver(ByGainRatio(), idle_columns=7) == 0


def test_a_column_wins_if_its_squared_ratio_outweighs_its_cost():
    # (0.19423 / 0.16667)^2 = 1.358
    for cost, best in ((1.35, 0), (1.37, 1)):
        choice = ByGainRatio(average_gain_guard=False, costs=np.array([cost, 1.0]))
        assert best_of_a_sliver(choice) == best


# Whole trees


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=30)
@given(data=st.data())
def test_a_node_holds_its_rows_each_by_its_share(criterion, data):
    rows = data.draw(tables(criterion))
    grown = rows.grow(min_leaf=0)
    cells, _, weight = rows.lists()
    kinds = [NAIVE_KINDS[kind] for kind in rows.kinds.tolist()]
    held = np.zeros((grown.tree.n_nodes, 3))
    for row, own_weight, target in zip(cells, weight, rows.target.tolist(), strict=True):
        for node, share in naive_descent.shares(grown.tree, kinds, [], row, grown.moments, "fractional").items():
            if grown.moments:
                held[node] += own_weight * share * np.array([1, target, target**2])
            else:
                held[node, int(target)] += own_weight * share
    np.testing.assert_allclose(grown.tree.node_statistics(), held, atol=1e-9)
    for node in np.flatnonzero(~grown.tree.is_leaf):
        np.testing.assert_allclose(held[grown.tree.children(node)].sum(axis=0), held[node], atol=1e-9)


@pytest.mark.parametrize("criterion", ["entropy", "squared_error"])
@settings(max_examples=30)
@given(data=st.data(), weight_of_others=st.integers(1, 9))
def test_rows_of_no_weight_change_nothing(criterion, data, weight_of_others):
    rows = data.draw(tables(criterion))
    others = data.draw(tables(criterion))
    others = replace(others, cells=np.resize(others.cells, (len(others.target), rows.cells.shape[1])))
    weight = np.ones(len(rows.target)) if rows.weight is None else rows.weight
    place = data.draw(st.integers(0, len(weight)))
    both = replace(
        rows,
        cells=np.insert(rows.cells, place, others.cells[0], axis=0),
        target=np.insert(rows.target, place, others.target[0]),
        weight=np.insert(weight, place, 0),
    )
    assert same_tree(rows.grow(), both.grow())


@pytest.mark.parametrize("criterion", ["entropy", "squared_error"])
@settings(max_examples=30)
@given(data=st.data())
def test_a_row_of_weight_two_is_two_rows(criterion, data):
    rows = data.draw(tables(criterion, weighted=False))
    heavy = data.draw(st.integers(0, len(rows.target) - 1))
    weight = np.ones(len(rows.target))
    weight[heavy] = 2
    twice = replace(
        rows,
        cells=np.insert(rows.cells, heavy, rows.cells[heavy], axis=0),
        target=np.insert(rows.target, heavy, rows.target[heavy]),
    )
    # a node with one heavy row could be split, had it two rows; but not in a way that parts these
    assert same_tree(replace(rows, weight=weight).grow(min_leaf=0), twice.grow(min_leaf=0))


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=30)
@given(data=st.data())
def test_all_weights_doubled_change_no_split(criterion, data):
    rows = data.draw(tables(criterion))
    weight = np.ones(len(rows.target)) if rows.weight is None else rows.weight
    assert same_tree(rows.grow(min_leaf=0), replace(rows, weight=2 * weight).grow(min_leaf=0), factor=2)


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=30)
@given(data=st.data())
def test_the_order_of_rows_changes_no_tree(criterion, data):
    rows = data.draw(tables(criterion))
    order = np.array(data.draw(st.permutations(range(len(rows.target)))))
    weight = None if rows.weight is None else rows.weight[order]
    shuffled = replace(rows, cells=rows.cells[order], target=rows.target[order], weight=weight)
    assert same_tree(rows.grow(), shuffled.grow())


@pytest.mark.parametrize("exponent", [-30, -10, 10, 30])
def test_the_unit_of_a_number_to_predict_changes_no_split(exponent):
    rng = np.random.default_rng(2)
    rows = numbers(*rng.integers(0, 9, (3, 60)), target=rng.integers(-8, 9, 60) / 4, criterion="squared_error")
    every = replace(EVERY_SPLIT, min_gain=0)
    scaled = replace(rows, target=rows.target * 2.0**exponent).grow(every)
    scaled.tree.leaf_statistics[:, 1] *= 2.0**-exponent
    scaled.tree.leaf_statistics[:, 2] *= 4.0**-exponent
    assert same_tree(rows.grow(every), scaled)


@pytest.mark.parametrize("unit", [1e-6, 1, 1e3, 1e7])
def test_rows_of_one_value_are_not_parted_whatever_its_unit(unit):
    x = np.random.default_rng(6).random((300, 4))
    x[:, :2] = x[:, :2] > 0.4
    y = np.array([1.5001, 2.5003, 4.31, 7.77])[(2 * x[:, 0] + x[:, 1]).astype(int)] * unit
    rows = numbers(*x.T, target=y - y.mean(), criterion="squared_error")
    assert rows.grow(replace(EVERY_SPLIT, min_gain=0)).tree.n_leaves == 4


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_the_unit_of_costs_changes_no_split(unit):
    rng = np.random.default_rng(7)
    rows = numbers(*rng.integers(0, 9, (3, 60)), target=rng.integers(0, 3, 60), criterion="gini")
    costs, every = rng.integers(1, 9, (3, 3)) * (1.0 - np.eye(3)), replace(EVERY_SPLIT, min_gain=0)
    assert same_tree(rows.grow(every, costs=costs), rows.grow(every, costs=costs * unit))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_splits_that_save_nothing_are_made_where_rows_still_part(criterion):
    """Parity: no column has a gain before all others are known, and rounding must not make it negative."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x = np.array([[(n >> bit) & 1 for bit in range(4)] for n in range(16)], float)
        rows = numbers(*x.T, target=x.sum(axis=1) % 2, criterion=criterion, weight=np.full(16, rng.integers(1, 99) / 7))
        grown = rows.grow(replace(EVERY_SPLIT, min_gain=0), min_leaf=0).tree
        assert (grown.n_leaves, grown.depth()) == (16, 4)


@settings(max_examples=30)
@given(tables(), st.integers(0, 5))
def test_one_candidate_per_node_is_fixed_by_the_seed(rows, seed):
    few = replace(EVERY_SPLIT, candidates=1)
    assert same_tree(rows.grow(few, seed), rows.grow(few, seed))


def test_a_node_whose_candidates_part_nothing_tries_all_columns():
    x = np.ones((20, 10))
    x[:, 7] = np.arange(20)
    rows = numbers(*x.T, target=np.arange(20) > 12)
    for seed in range(5):
        assert rows.best(replace(EVERY_SPLIT, candidates=1), seed)[1:] == (7, 12.5)


def test_candidates_are_drawn_for_every_node_and_all_in_time():
    x = np.random.default_rng(0).random((400, 6))
    rows = numbers(*x.T, target=np.random.default_rng(1).integers(0, 2, 400))
    feature = rows.grow(replace(EVERY_SPLIT, candidates=1)).tree.feature
    assert set(feature[feature >= 0]) == set(range(6))
    roots = {rows.grow(replace(EVERY_SPLIT, candidates=1, max_depth=1), seed).tree.feature[0] for seed in range(40)}
    assert roots == set(range(6))


# Linear combinations


def oblique_rows() -> Rows:
    """Two columns separated by an oblique line, x + 2 y = 0, one of noise, one of categories.

    The density is the same in all directions, so Fisher's direction is orthogonal to the line.
    """
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 3))
    x = x[(np.abs(x[:, 0] + 2 * x[:, 1]) > 0.4) & (np.linalg.norm(x, axis=1) < 2)]
    target = (x[:, 0] + 2 * x[:, 1] > 0).astype(float)
    cells = np.column_stack([x, rng.integers(0, 3, len(x))])
    return Rows(cells, np.array([NUMERIC, NUMERIC, NUMERIC, ONE_VS_REST], np.uint8), target)


def open_nodes(*sizes: int) -> OpenNodes:
    ends = np.cumsum(sizes)
    return OpenNodes(np.arange(ends[-1], dtype=np.int32), None, ends - sizes, ends)


def test_each_node_tries_random_combinations_of_its_own():
    finder = oblique_rows().finder()
    directions, tried = RandomCombinations(columns=2, candidates=5)(
        finder, open_nodes(30, 40, 50), np.random.default_rng(0)
    )
    assert directions.shape == (15, 4)
    assert tried.tolist() == np.arange(15).reshape(3, 5).tolist()
    assert ((directions != 0).sum(axis=1) <= 2).all()
    assert (np.abs(directions) <= 1).all()
    assert (directions < 0).any()
    assert (directions > 0).any()
    assert len(np.unique(directions, axis=0)) == 15


def test_fisher_gives_one_direction_without_categories_per_node():
    finder = oblique_rows().finder()
    directions, tried = fisher_directions(finder, open_nodes(100, 100, 3), np.random.default_rng(0))
    assert directions.shape == (3, 4)
    assert tried.tolist() == [[0], [1], [2]]
    assert (directions[:, 3] == 0).all()
    assert (directions[2] == 0).all()  # too few rows
    for direction in directions[:2]:
        assert direction[1] / direction[0] == pytest.approx(2, rel=0.15)
        assert abs(direction[2]) < 0.15 * abs(direction[1])


@pytest.mark.parametrize("moments", [False, True])
def test_an_oblique_boundary_takes_one_oblique_split(moments):
    rows = oblique_rows()
    if moments:
        rows = replace(rows, criterion="squared_error")
    straight, oblique = rows.grow(), rows.grow(directions=fisher_directions)
    assert oblique.tree.n_nodes == 3
    assert oblique.tree.feature[0] == 4
    assert oblique.combinations.shape == (1, 4)
    assert straight.tree.n_nodes > 10
    assert straight.combinations.shape == (0, 4)


def test_a_column_wins_a_tie_with_a_combination():
    rng = np.random.default_rng(5)
    rows = numbers(*rng.uniform(size=(2, 40)), target=rng.integers(0, 2, 40))
    rows = replace(rows, target=(rows.cells[:, 1] > 0.5).astype(float))
    assert rows.best(directions=fisher_directions)[1] == 1


def test_random_combinations_alone_grow_a_tree_of_combinations():
    rows = oblique_rows()
    grown = rows.grow(directions=RandomCombinations(2, 6), only_directions=True)
    asked = grown.tree.feature[grown.tree.feature >= 0]
    assert (asked >= 4).all()
    assert sorted(asked) == list(range(4, 4 + len(grown.combinations)))
    assert ((grown.tree.leaf_statistics > 0).sum(axis=1) == 1).all()
    again = rows.grow(directions=RandomCombinations(2, 6), only_directions=True)
    assert same_tree(grown, again)
    np.testing.assert_array_equal(grown.combinations, again.combinations)
    other = rows.grow(seed=1, directions=RandomCombinations(2, 6), only_directions=True)
    assert not np.array_equal(grown.combinations, other.combinations)


@settings(max_examples=40)
@given(tables(most_rows=30))
def test_a_tree_of_combinations_shares_rows_with_missing_cells(rows):
    grown = rows.grow(directions=fisher_directions, min_leaf=0)
    cells, _, weight = rows.lists()
    kinds = [NAIVE_KINDS[kind] for kind in rows.kinds.tolist()]
    held = np.zeros(grown.tree.n_nodes)
    for row, own in zip(cells, weight, strict=True):
        combinations = grown.combinations.tolist()
        for node, share in naive_descent.shares(grown.tree, kinds, combinations, row, False, "fractional").items():
            held[node] += own * share
    np.testing.assert_allclose(grown.weight, held, atol=1e-9)


def test_a_number_to_predict_is_known_by_its_criterion():
    assert Rows(np.zeros((2, 1)), np.zeros(1, np.uint8), np.zeros(2), criterion="squared_error").finder().moments
    assert not Rows(np.zeros((2, 1)), np.zeros(1, np.uint8), np.zeros(2)).finder().moments
    assert CRITERIA["squared_error"] == SQUARED_ERROR
