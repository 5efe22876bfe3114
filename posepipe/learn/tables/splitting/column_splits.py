"""Best splits of a table: a `SplitFinder` over columns and their linear combinations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from posepipe.learn.growing import GrowthRules, OpenNodes, Splits
from posepipe.learn.impurity import NO_COSTS, SQUARED_ERROR, impurity
from posepipe.learn.tables.splitting.branches import find_branches
from posepipe.learn.tables.splitting.category_scan import entries_of, find_subsets
from posepipe.learn.tables.splitting.column_scan import scan_columns
from posepipe.learn.tables.splitting.sorted_growth import grow_sorted
from posepipe.learn.tables.splitting.split_gain import EQUAL_GAIN, MULTIWAY, NUMERIC, PURE, SAME_NUMBER, SUBSET
from posepipe.learn.tree import Tree

MAX_COLUMNS = 12
"""Maximum columns for each candidate of a node; with more, nodes sort their candidates faster than all are divided."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Training rows, stored by column."""

    columns: np.ndarray  #: float64 (F, N), numbers, or codes of categories; NaN = missing
    codes: np.ndarray  #: int32 (F, N), category, or rank of the number within its column; -1 = missing
    kinds: np.ndarray  #: uint8 (F,), NUMERIC, MULTIWAY, ONE_VS_REST or SUBSET
    n_codes: np.ndarray  #: int64 (F,), number of categories
    target: np.ndarray  #: float64 (N,), class or number
    n_statistics: int  #: classes, or 3 moments

    @classmethod
    def of(
        cls, cells: np.ndarray, kinds: np.ndarray, n_codes: np.ndarray, target: np.ndarray, n_statistics: int
    ) -> Table:
        """Arrange rows of cells for the scan.

        Parameters
        ----------
        cells : float64 (N, F), NaN = missing
        kinds, n_codes, target, n_statistics : as the attributes
        """
        columns = np.ascontiguousarray(cells.T)
        codes = np.full(columns.shape, -1, np.int32)
        for column, code in zip(columns, codes, strict=True):
            known = ~np.isnan(column)
            code[known] = np.unique(column[known], return_inverse=True)[1]
        categorical = kinds != NUMERIC
        codes[categorical] = np.where(np.isnan(columns[categorical]), -1, columns[categorical]).astype(np.int32)
        return cls(columns, codes, kinds, np.asarray(n_codes, np.int64), target.astype(np.float64), n_statistics)

    def __len__(self) -> int:
        return len(self.target)


Choice = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Maps (gain, intrinsic value, column), each (M, T), to scores (M, T); the first candidate of maximum score wins."""


def by_gain(gain: np.ndarray, intrinsic: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Score a split by its gain."""
    return gain


@dataclass(frozen=True, slots=True, eq=False)
class ByGainRatio:
    """C4.5's score: gain over intrinsic value, for splits of at least average gain.

    References
    ----------
    Quinlan 1993, section 2.2. Costs: Tan 1993, as (gain ratio)^2 / cost.
    """

    average_gain_guard: bool = True
    costs: np.ndarray = field(default_factory=lambda: np.ones(0))  #: float64 (F,), of testing a column; empty = 1 each
    slack: float = EQUAL_GAIN  #: bits by which a gain may stay below the average

    def __call__(self, gain: np.ndarray, intrinsic: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Score splits: gain, intrinsic value and column, each (M, T), to float64 (M, T)."""
        possible = gain > EQUAL_GAIN
        score = np.where(possible, gain / np.where(intrinsic > 0, intrinsic, 1), -np.inf)
        if len(self.costs):
            score = np.where(possible, score * np.abs(score) / self.costs[column], -np.inf)
        if self.average_gain_guard:
            separates = ~np.isneginf(gain)  # the average includes splits without gain
            count = np.maximum(separates.sum(axis=1, keepdims=True), 1)
            average = np.where(separates, gain, 0).sum(axis=1, keepdims=True) / count
            score = np.where(gain >= average - self.slack, score, -np.inf)
        return score


Candidates = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Columns, gains, intrinsic values and scores of the candidates of one split, (T,) each."""
Lists = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Order, weight, starts and ends of nodes, as `scan_columns` takes them."""
Directions = Callable[["ColumnSplits", OpenNodes, np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""Draws linear combinations: directions, float64 (D, F), and the candidates of each node among them, (M, T)."""


ROUNDING = 1e-9
"""Relative rounding error of sums of weights: of shares of rows, which missing cells divide, and of scaled weights."""


class ColumnSplits:
    """A `SplitFinder` over the columns of a table.

    Tolerances are relative to the unit of the impurity: the variance of the target at the node, or the maximum cost.
    The units of target and costs therefore do not affect the splits, nor do targets elsewhere in the tree.

    Parameters
    ----------
    table : Table
    criterion : int, a value of `posepipe.learn.impurity.CRITERIA`
    choice : Choice, scores the columns of a node
    min_leaf : float, minimum size of a branch: its weight or, with ``row_weight``, its number of rows
    costs : float64 (C, C), misclassification costs; Gini only
    directions : Directions, linear combinations to try besides the columns; None = none
    only_directions : bool, try no plain columns
    row_weight : float64 (N,), weight of each row before missing cells divide it among branches. Branches then count
        rows, whatever their weights: a row counts by the share of it that takes the branch. float, weight that counts
        as one row; None = 1
    release_8 : bool, thresholds as in release 8 of C4.5, see `posepipe.learn.tables.splitting.split_gain.ScanRules`
    scan : callable with the arguments of `scan_columns`, the splits that are tried

    Attributes
    ----------
    ties : list of int32 (columns,), or None
        When set to a list, each accepted split appends the columns that share its maximum score.
    log : list of Candidates, or None
        When set to a list, each accepted split appends its candidates.
    """

    def __init__(
        self,
        table: Table,
        criterion: int,
        choice: Choice = by_gain,
        min_leaf: float = 1.0,
        costs: np.ndarray = NO_COSTS,
        directions: Directions | None = None,
        only_directions: bool = False,
        row_weight: np.ndarray | float | None = None,
        release_8: bool = False,
        scan: Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]] = scan_columns,
    ) -> None:
        self.table, self._criterion, self._choice = table, criterion, choice
        self._unit = float(costs.max()) if costs.any() else 1.0
        self._pure = PURE * self._unit
        if criterion == SQUARED_ERROR:  # the median, because an outlier says nothing about the rounding of the others
            self._pure = float(SAME_NUMBER * np.median(np.abs(table.target))) ** 2
        self._costs = costs
        self._rules = (criterion, costs / self._unit, min_leaf * (1 - ROUNDING), table.n_statistics, release_8)
        self._directions = directions
        self._only_directions = only_directions
        self._row_weight = row_weight
        self._scan = scan
        self._subsets: list[np.ndarray] = []  #: branches of the categories, int8 (K,), of splits by sets
        self._used: list[np.ndarray] = []  #: combinations in use; feature F + k is the k-th
        self.ties: list[np.ndarray] | None = None
        self.log: list[Candidates] | None = None

    def __len__(self) -> int:
        return len(self.table)

    @property
    def moments(self) -> bool:
        """Whether the statistics are moments of a number (regression)."""
        return self._criterion == SQUARED_ERROR

    @property
    def combinations(self) -> np.ndarray:
        """Combinations in use, float64 (D, F); row d is feature F + d of the tree."""
        return np.array(self._used) if self._used else np.zeros((0, len(self.table.kinds)))

    @property
    def subsets(self) -> np.ndarray:
        """Sets of categories in use, int8 (S, K); a row is the threshold of its split."""
        return np.array(self._subsets) if self._subsets else np.zeros((0, 0), np.int8)

    def best_splits(self, nodes: OpenNodes, rules: GrowthRules, rng: np.random.Generator) -> Splits:
        """Find the best of ``rules.candidates`` random columns of each node, or of all if none of these splits it."""
        n_columns, n_nodes = len(self.table.kinds), len(nodes.starts)
        gain = np.full(n_nodes, -np.inf)
        feature, threshold = np.zeros(n_nodes, np.int32), np.zeros(n_nodes)
        impurities = self._impurities(nodes)
        impure = np.flatnonzero(impurities > self._pure)
        units = impurities if self.moments else np.ones(n_nodes)
        open_nodes = nodes._replace(starts=nodes.starts[impure], ends=nodes.ends[impure])
        candidates, directions = self._draw(open_nodes, rules.candidates, rng)
        found = self._best(open_nodes, candidates, directions, units[impure])
        gain[impure], feature[impure], threshold[impure], tied = found
        if self.ties is not None:
            split = rules.accept(gain[impure], open_nodes)
            tied = tied[split] & (candidates[split] < n_columns)
            self.ties += [columns[best] for columns, best in zip(candidates[split], tied, strict=True)]
        if self.log is not None and len(impure):
            gains, intrinsic, score = self._scores
            accepted = zip(candidates, gains, intrinsic, score, rules.accept(gain[impure], open_nodes), strict=True)
            self.log += [tuple(own) for *own, is_split in accepted if is_split]
        unsplit = impure[np.isneginf(gain[impure])]
        if len(unsplit) and rules.candidates < n_columns and not self._only_directions:
            all_columns = np.tile(np.arange(n_columns, dtype=np.int32), (len(unsplit), 1))
            retried = nodes._replace(starts=nodes.starts[unsplit], ends=nodes.ends[unsplit])
            found = self._best(retried, all_columns, directions[:0], units[unsplit])
            gain[unsplit], feature[unsplit], threshold[unsplit], _ = found
        self._name_subsets(nodes, feature, threshold, gain)
        combined = feature >= n_columns
        n_children = np.full(n_nodes, 2, np.int32)
        plain = feature[~combined]
        n_children[~combined] = np.where(self.table.kinds[plain] == MULTIWAY, self.table.n_codes[plain], 2)
        number = np.cumsum(combined) - 1 + len(self._used)
        self._used.extend(directions[feature[combined] - n_columns])
        feature[combined] = n_columns + number[combined]
        return Splits(gain, np.arange(n_nodes, dtype=np.int32), threshold, n_children, feature)

    def _draw(self, nodes: OpenNodes, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        n_columns, n_nodes = len(self.table.kinds), len(nodes.starts)
        columns = _draw_columns(n_nodes, n_columns, count, rng)
        if self._directions is None:
            return columns, np.zeros((0, n_columns))
        directions, tried = self._directions(self, nodes, rng)
        tried = tried.astype(np.int32) + n_columns
        return (tried if self._only_directions else np.concatenate([columns, tried], axis=1)), directions

    def _best(
        self, nodes: OpenNodes, candidates: np.ndarray, directions: np.ndarray, units: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gain, column and threshold of each node's best split, (M,), and its ties among the candidates, (M, T)."""
        if len(candidates) == 0:
            return np.zeros(0), np.zeros(0, np.int32), np.zeros(0), np.zeros(candidates.shape, bool)
        t = self.table
        lists, sizes = self._lists(nodes)
        gain, intrinsic, threshold = self._scan(
            t.columns, t.codes, t.kinds, t.n_codes, t.target, self._rules, lists, candidates, directions, sizes
        )
        tolerance = EQUAL_GAIN * units[:, None]
        gain[np.abs(gain) < tolerance] = 0  # a negative rounding error must not stop growth at splits without gain
        score = np.where(np.isneginf(gain), -np.inf, self._choice(gain, intrinsic, candidates))
        self._scores = gain * self._unit, intrinsic, score
        best = score.max(axis=1, keepdims=True)
        tied = score >= best - tolerance
        first = np.argmax(tied, axis=1)
        row = np.arange(len(candidates))
        best_gain = np.where(np.isneginf(best[:, 0]), -np.inf, gain[row, first] * self._unit)
        return best_gain, candidates[row, first], threshold[row, first], tied

    def _impurities(self, nodes: OpenNodes) -> np.ndarray:
        """Impurity of each node, (M,); of numbers, about the mean of the node, where moments are not accurate."""
        if self.moments:
            return entries_of(self._criterion, self.table.target, *self._lists(nodes))[1]
        return impurity(self._criterion, self.statistics(nodes), self._costs)

    def _lists(self, nodes: OpenNodes) -> tuple[Lists, np.ndarray | None]:
        """Order, weight, starts and ends of nodes, and the sizes of their entries, for the scan."""
        order, weight, starts, ends = nodes
        if weight is None:
            return (order, np.ones(len(order)), starts, ends), None
        if self._row_weight is None:
            return (order, weight, starts, ends), None
        own = self._row_weight[order] if isinstance(self._row_weight, np.ndarray) else self._row_weight
        return (order, weight, starts, ends), weight / own

    def _name_subsets(self, nodes: OpenNodes, feature: np.ndarray, threshold: np.ndarray, gain: np.ndarray) -> None:
        """Replace the thresholds of splits by sets of categories by rows of `subsets`."""
        t = self.table
        plain = np.minimum(feature, len(t.kinds) - 1)
        which = np.flatnonzero((feature < len(t.kinds)) & (t.kinds[plain] == SUBSET) & (gain > -np.inf))
        if len(which) == 0:
            return
        chosen = nodes._replace(starts=nodes.starts[which], ends=nodes.ends[which])
        lists, sizes = self._lists(chosen)
        found = find_subsets(t.codes, t.n_codes, t.target, self._rules, lists, feature[which], sizes)
        threshold[which] = len(self._subsets) + np.arange(len(which))
        self._subsets.extend(found)

    def grow_sorted(
        self, rules: GrowthRules, limits: tuple[float, float], seed: tuple[int, ...], weight: np.ndarray | None
    ) -> Tree | None:
        """Grow a whole tree at once, where that gives the tree of the growth loop; None elsewhere.

        Parameters
        ----------
        rules : GrowthRules
        limits : minimum impurity decrease, and the weight of all rows that it refers to
        seed : as in `posepipe.learn.growing.grow`
        weight : float64 (N,), of the rows; None = 1 each
        """
        t = self.table
        plain = self._choice is by_gain and self._directions is None and self._scan is scan_columns
        draws = rules.candidates < len(t.kinds)
        plain &= not draws or (self.ties is None and len(t.kinds) <= MAX_COLUMNS * rules.candidates)
        if not plain or self.log is not None or self._rules[4] or (t.kinds != NUMERIC).any() or (t.codes < 0).any():
            return None
        sizes = None
        if weight is not None and self._row_weight is not None:
            with np.errstate(invalid="ignore"):
                sizes = np.where(weight > 0, weight / self._row_weight, 0)
        scale = self._unit, self._unit if len(self._costs) else 1.0, self._pure
        growth = (rules.max_depth, rules.min_samples, *limits)
        tree, tied = grow_sorted(
            t.columns,
            t.codes,
            t.target,
            weight,
            sizes,
            self._rules[:4],
            scale,
            growth,
            partial(self._draw_of_level, rules.candidates, seed) if draws else None,
        )
        if self.ties is not None:
            self.ties += [np.flatnonzero(columns).astype(np.int32) for columns in tied]
        return tree

    def _draw_of_level(self, count: int, seed: tuple[int, ...], level: int, n_nodes: int) -> np.ndarray:
        return _draw_columns(n_nodes, len(self.table.kinds), count, np.random.default_rng([*seed, level]))

    def branches(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Find the branch of each sample at its own feature and threshold: int32 (N,), or MISSING."""
        splits = self.table.kinds, self.combinations, self.subsets
        return find_branches(self.table.columns, splits, samples, features, thresholds)

    def statistics(self, nodes: OpenNodes) -> np.ndarray:
        """Sum the class weights, (M, C), or moments, (M, 3), of each node."""
        sizes = nodes.ends - nodes.starts
        first = np.cumsum(sizes) - sizes
        rows = np.arange(sizes.sum()) + np.repeat(nodes.starts - first, sizes)
        node = np.repeat(np.arange(len(sizes)), sizes)
        target = self.table.target[nodes.order[rows]]
        weight = np.ones(len(rows)) if nodes.weight is None else nodes.weight[rows]
        if self.moments:
            powers = [weight, weight * target, weight * target**2]
            return np.stack([np.bincount(node, weights=p, minlength=len(sizes)) for p in powers], axis=1)
        n_classes = self.table.n_statistics
        cell = node * n_classes + target.astype(np.int64)
        return np.bincount(cell, weights=weight, minlength=len(sizes) * n_classes).reshape(-1, n_classes)


def _draw_columns(n_nodes: int, n_columns: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the candidate columns of each node, in random order so that ties favour no column: int32 (M, T).

    All columns, in their order, where the count does not limit them.
    """
    if count >= n_columns:
        return np.tile(np.arange(n_columns, dtype=np.int32), (n_nodes, 1))
    return np.argsort(rng.random((n_nodes, n_columns)), axis=1)[:, :count].astype(np.int32)
