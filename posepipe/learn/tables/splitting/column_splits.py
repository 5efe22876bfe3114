"""Best splits of a table: a `SplitFinder` over columns and their linear combinations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from posepipe.compilation import njit, prange
from posepipe.learn.growing import MISSING, GrowthRules, OpenNodes, Splits
from posepipe.learn.impurity import NO_COSTS, SQUARED_ERROR, impurity
from posepipe.learn.tables.splitting.column_scan import EQUAL_GAIN, MULTIWAY, NUMERIC, project, scan_columns
from posepipe.learn.tables.splitting.threads import use_threads

PURE = 1e-12
"""Maximum impurity of a pure node, in the unit of the finder (`ColumnSplits`)."""
ANY_CATEGORY = 1 << 30
"""Limit above all category codes, because every category of a training row is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Training rows, stored by column."""

    columns: np.ndarray  #: float64 (F, N), numbers, or codes of categories; NaN = missing
    codes: np.ndarray  #: int32 (F, N), category, or rank of the number within its column; -1 = missing
    kinds: np.ndarray  #: uint8 (F,), NUMERIC, MULTIWAY or ONE_VS_REST
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
            score = np.where(gain >= average - EQUAL_GAIN, score, -np.inf)
        return score


Directions = Callable[["ColumnSplits", OpenNodes, np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""Draws linear combinations: directions, float64 (D, F), and the candidates of each node among them, (M, T)."""


class ColumnSplits:
    """A `SplitFinder` over the columns of a table.

    Tolerances are relative to the unit of the impurity: the variance of the target, or the maximum cost. The units
    of target and costs therefore do not affect the splits.

    Parameters
    ----------
    table : Table
    criterion : int, a value of `posepipe.learn.impurity.CRITERIA`
    choice : Choice, scores the columns of a node
    min_leaf : float, minimum weight of a branch
    costs : float64 (C, C), misclassification costs; Gini only
    directions : Directions, linear combinations to try besides the columns; None = none
    only_directions : bool, try no plain columns

    Attributes
    ----------
    ties : list of int32 (columns,), or None
        When set to a list, each accepted split appends the columns that share its maximum score.
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
    ) -> None:
        self.table = table
        self._criterion = criterion
        self._choice = choice
        self._unit, self._target = 1.0, table.target
        if criterion == SQUARED_ERROR:
            self._unit = float(table.target.var()) or 1.0
            self._target = table.target / np.sqrt(self._unit)
        elif costs.any():
            self._unit = float(costs.max())
        self._costs = costs
        self._rules = (criterion, costs / self._unit, float(min_leaf), table.n_statistics)
        self._directions = directions
        self._only_directions = only_directions
        self._used: list[np.ndarray] = []  #: combinations in use; feature F + k is the k-th
        self.ties: list[np.ndarray] | None = None

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

    def best_splits(self, nodes: OpenNodes, rules: GrowthRules, rng: np.random.Generator) -> Splits:
        """Find the best of ``rules.candidates`` random columns of each node, or of all if none of these splits it."""
        n_columns, n_nodes = len(self.table.kinds), len(nodes.starts)
        gain = np.full(n_nodes, -np.inf)
        feature, threshold = np.zeros(n_nodes, np.int32), np.zeros(n_nodes)
        impurities = impurity(self._criterion, self.statistics(nodes), self._costs)
        impure = np.flatnonzero(impurities > PURE * self._unit)
        open_nodes = nodes._replace(starts=nodes.starts[impure], ends=nodes.ends[impure])
        candidates, directions = self._draw(open_nodes, rules.candidates, rng)
        gain[impure], feature[impure], threshold[impure], tied = self._best(open_nodes, candidates, directions)
        if self.ties is not None:
            split = rules.accept(gain[impure], open_nodes)
            tied = tied[split] & (candidates[split] < n_columns)
            self.ties += [columns[best] for columns, best in zip(candidates[split], tied, strict=True)]
        unsplit = impure[np.isneginf(gain[impure])]
        if len(unsplit) and rules.candidates < n_columns and not self._only_directions:
            all_columns = np.tile(np.arange(n_columns, dtype=np.int32), (len(unsplit), 1))
            retried = nodes._replace(starts=nodes.starts[unsplit], ends=nodes.ends[unsplit])
            gain[unsplit], feature[unsplit], threshold[unsplit], _ = self._best(retried, all_columns, directions[:0])
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
        columns = np.tile(np.arange(n_columns, dtype=np.int32), (n_nodes, 1))
        if count < n_columns:
            drawn = np.argsort(rng.random((n_nodes, n_columns)), axis=1)[:, :count]
            columns = drawn.astype(np.int32)  # in the order drawn, so that ties favour no column
        if self._directions is None:
            return columns, np.zeros((0, n_columns))
        directions, tried = self._directions(self, nodes, rng)
        tried = tried.astype(np.int32) + n_columns
        return (tried if self._only_directions else np.concatenate([columns, tried], axis=1)), directions

    def _best(
        self, nodes: OpenNodes, candidates: np.ndarray, directions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gain, column and threshold of each node's best split, (M,), and its ties among the candidates, (M, T)."""
        if len(candidates) == 0:
            return np.zeros(0), np.zeros(0, np.int32), np.zeros(0), np.zeros(candidates.shape, bool)
        t = self.table
        order, weight, starts, ends = nodes
        lists = order, np.ones(len(order)) if weight is None else weight, starts, ends
        gain, intrinsic, threshold = scan_columns(
            t.columns, t.codes, t.kinds, t.n_codes, self._target, self._rules, lists, candidates, directions
        )
        gain[np.abs(gain) < EQUAL_GAIN] = 0  # a negative rounding error must not stop growth at splits without gain
        score = np.where(np.isneginf(gain), -np.inf, self._choice(gain, intrinsic, candidates))
        best = score.max(axis=1, keepdims=True)
        tied = score >= best - EQUAL_GAIN
        first = np.argmax(tied, axis=1)
        row = np.arange(len(candidates))
        best_gain = np.where(np.isneginf(best[:, 0]), -np.inf, gain[row, first] * self._unit)
        return best_gain, candidates[row, first], threshold[row, first], tied

    def branches(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Find the branch of each sample at its own feature and threshold: int32 (N,), or MISSING."""
        out = np.empty(len(samples), np.int32)
        branches = _branches if use_threads(len(samples)) else _branches_serial
        branches(self.table.columns, self.table.kinds, self.combinations, samples, features, thresholds, out)
        return out

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


@njit(cache=True)
def branch_of(feature, threshold, n_children, kinds, combinations, columns, row):
    """Branch of one row, or MISSING; a category that the node does not know counts as missing.

    ``columns`` is float64 (F, N); ``feature`` is a column, or F + a row of ``combinations``.
    """
    if feature >= len(kinds):
        value = project(combinations[feature - len(kinds)], columns, row)
        kind = NUMERIC
    else:
        value = columns[feature, row]
        kind = kinds[feature]
    if np.isnan(value):
        return MISSING
    if kind == NUMERIC:
        return 0 if value <= threshold else 1
    if kind == MULTIWAY:
        return int(value) if value < n_children else MISSING
    return 0 if value == threshold else 1


@njit(cache=True, parallel=True)
def _branches(columns, kinds, combinations, samples, features, thresholds, out):
    for n in prange(len(samples)):
        out[n] = branch_of(features[n], thresholds[n], ANY_CATEGORY, kinds, combinations, columns, samples[n])


@njit(cache=True, nogil=True)
def _branches_serial(columns, kinds, combinations, samples, features, thresholds, out):
    for n in range(len(samples)):
        out[n] = branch_of(features[n], thresholds[n], ANY_CATEGORY, kinds, combinations, columns, samples[n])
