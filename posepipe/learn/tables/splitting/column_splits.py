"""Best splits of tables: a `SplitFinder` over columns and their linear combinations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numba import njit, prange

from posepipe.learn.growing import MISSING, GrowthRules, OpenNodes, Splits
from posepipe.learn.impurity import NO_COSTS, SQUARED_ERROR, impurity
from posepipe.learn.tables.splitting.column_scan import EACH, EQUAL_GAIN, NUMERIC, project, scan_columns
from posepipe.learn.tables.splitting.threads import worth_threads

PURE = 1e-12
"""Impurity below which there is nothing left to part, in units of the finder (`ColumnSplits`)."""
ANY_CATEGORY = 1 << 30
"""More categories than a column can have: those of a training row are all known."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Training rows, column by column."""

    columns: np.ndarray  #: float64 (F, N), numbers, or codes of categories; NaN = missing
    codes: np.ndarray  #: int32 (F, N), category, or rank of the number in its column; -1 = missing
    kinds: np.ndarray  #: uint8 (F,), NUMERIC, EACH or EQUALS
    n_codes: np.ndarray  #: int64 (F,)
    target: np.ndarray  #: float64 (N,), class or number
    n_statistics: int  #: classes, or 3 moments

    @classmethod
    def of(cls, cells: np.ndarray, kinds: np.ndarray, n_codes: np.ndarray, target: np.ndarray, n_statistics: int):
        """Lay out rows of cells, float64 (N, F), for the scan."""
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
"""(gain, intrinsic value, column), each (M, T), to a score (M, T); the best, first of equals, is taken."""


def by_gain(gain: np.ndarray, intrinsic: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The split that saves most."""
    return gain


@dataclass(frozen=True, slots=True, eq=False)
class ByGainRatio:
    """C4.5's choice: gain over intrinsic value, among the splits of at least average gain.

    References
    ----------
    Quinlan 1993, section 2.2; costs: Tan 1993, as (gain ratio)^2 / cost.
    """

    average_gain_guard: bool = True
    costs: np.ndarray = field(default_factory=lambda: np.ones(0))  #: float64 (F,), of asking a column; empty = 1 each

    def __call__(self, gain: np.ndarray, intrinsic: np.ndarray, column: np.ndarray) -> np.ndarray:
        possible = gain > EQUAL_GAIN
        score = np.where(possible, gain / np.where(intrinsic > 0, intrinsic, 1), -np.inf)
        if len(self.costs):
            score = np.where(possible, score * np.abs(score) / self.costs[column], -np.inf)
        if self.average_gain_guard:
            parted = ~np.isneginf(gain)  # the average of all that were examined, those that save nothing included
            count = np.maximum(parted.sum(axis=1, keepdims=True), 1)
            average = np.where(parted, gain, 0).sum(axis=1, keepdims=True) / count
            score = np.where(gain >= average - EQUAL_GAIN, score, -np.inf)
        return score


Directions = Callable[["ColumnSplits", OpenNodes, np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""Draws linear combinations: (float64 (D, F), which of them each node tries, int32 (M, T))."""


class ColumnSplits:
    """A `SplitFinder` over the columns of a table.

    What counts as equal, and as nothing, is told in units of the impurity at hand: the variance of a number, the
    largest cost of a mistake. So neither of their units decides what is split.

    Parameters
    ----------
    table : Table
    criterion : int, of `posepipe.learn.impurity.CRITERIA`
    choice : how the best of several columns is told
    min_leaf : least weight of a branch
    costs : float64 (C, C), of mistakes, for Gini
    directions : linear combinations of columns to be tried as well; None = none
    only_directions : and nothing else
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
        self._used: list[np.ndarray] = []  #: combinations that were chosen; feature F + k is the k-th
        #: if a list, each split that growth makes adds the columns that scored best: int32 (columns,)
        self.ties: list[np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self.table)

    @property
    def moments(self) -> bool:
        """Whether a number is predicted: statistics are its moments."""
        return self._criterion == SQUARED_ERROR

    @property
    def combinations(self) -> np.ndarray:
        """float64 (D, F): feature F + d of a grown tree is row d."""
        return np.array(self._used) if self._used else np.zeros((0, len(self.table.kinds)))

    def best_splits(self, nodes: OpenNodes, rules: GrowthRules, rng: np.random.Generator) -> Splits:
        """Each node tries ``rules.candidates`` columns of its own, or all; when none of them parts it, all."""
        n_columns, n_nodes = len(self.table.kinds), len(nodes.starts)
        gain = np.full(n_nodes, -np.inf)
        feature, threshold = np.zeros(n_nodes, np.int32), np.zeros(n_nodes)
        impurities = impurity(self._criterion, self.statistics(nodes), self._costs)
        impure = np.flatnonzero(impurities > PURE * self._unit)
        open_nodes = nodes._replace(starts=nodes.starts[impure], ends=nodes.ends[impure])
        candidates, directions = self._draw(open_nodes, rules.candidates, rng)
        gain[impure], feature[impure], threshold[impure], tied = self._best(open_nodes, candidates, directions)
        if self.ties is not None:
            split = gain[impure] >= rules.min_gain
            tied = tied[split] & (candidates[split] < n_columns)
            self.ties += [columns[best] for columns, best in zip(candidates[split], tied, strict=True)]
        stuck = impure[np.isneginf(gain[impure])]
        if len(stuck) and rules.candidates < n_columns and not self._only_directions:
            everything = np.tile(np.arange(n_columns, dtype=np.int32), (len(stuck), 1))
            again = nodes._replace(starts=nodes.starts[stuck], ends=nodes.ends[stuck])
            gain[stuck], feature[stuck], threshold[stuck], _ = self._best(again, everything, directions[:0])
        combined = feature >= n_columns
        n_children = np.full(n_nodes, 2, np.int32)
        plain = feature[~combined]
        n_children[~combined] = np.where(self.table.kinds[plain] == EACH, self.table.n_codes[plain], 2)
        number = np.cumsum(combined) - 1 + len(self._used)
        self._used.extend(directions[feature[combined] - n_columns])
        feature[combined] = n_columns + number[combined]
        return Splits(gain, np.arange(n_nodes, dtype=np.int32), threshold, n_children, feature)

    def _draw(self, nodes: OpenNodes, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        n_columns, n_nodes = len(self.table.kinds), len(nodes.starts)
        everything = np.tile(np.arange(n_columns, dtype=np.int32), (n_nodes, 1))
        chosen = everything
        if count < n_columns:
            drawn = np.argsort(rng.random((n_nodes, n_columns)), axis=1)[:, :count]
            chosen = drawn.astype(np.int32)  # in the order drawn: of columns as good, none is favoured
        if self._directions is None:
            return chosen, np.zeros((0, n_columns))
        directions, tried = self._directions(self, nodes, rng)
        tried = tried.astype(np.int32) + n_columns
        return (tried if self._only_directions else np.concatenate([chosen, tried], axis=1)), directions

    def _best(self, nodes, candidates, directions) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gain, column and threshold of each node's best split, (M,), and which candidates scored as well, (M, T)."""
        if len(candidates) == 0:
            return np.zeros(0), np.zeros(0, np.int32), np.zeros(0), np.zeros(candidates.shape, bool)
        t = self.table
        order, weight, starts, ends = nodes
        lists = order, np.ones(len(order)) if weight is None else weight, starts, ends
        gain, intrinsic, threshold = scan_columns(
            t.columns, t.codes, t.kinds, t.n_codes, self._target, self._rules, lists, candidates, directions
        )
        gain[np.abs(gain) < EQUAL_GAIN] = 0  # or rounding would stop growth where two splits must follow to save
        score = np.where(np.isneginf(gain), -np.inf, self._choice(gain, intrinsic, candidates))
        best = score.max(axis=1, keepdims=True)
        tied = score >= best - EQUAL_GAIN
        first = np.argmax(tied, axis=1)
        row = np.arange(len(candidates))
        found = np.where(np.isneginf(best[:, 0]), -np.inf, gain[row, first] * self._unit)
        return found, candidates[row, first], threshold[row, first], tied

    def branches(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        out = np.empty(len(samples), np.int32)
        branches = _branches if worth_threads(len(samples)) else _branches_alone
        branches(self.table.columns, self.table.kinds, self.combinations, samples, features, thresholds, out)
        return out

    def statistics(self, nodes: OpenNodes) -> np.ndarray:
        """Class weights (M, C), or moments (M, 3)."""
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
    """Branch of one row, or MISSING; a category beyond those that a node knows is missing too.

    ``columns`` float64 (F, N); ``feature`` is a column, or F + a row of ``combinations``.
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
    if kind == EACH:
        return int(value) if value < n_children else MISSING
    return 0 if value == threshold else 1


@njit(cache=True, parallel=True)
def _branches(columns, kinds, combinations, samples, features, thresholds, out):
    for n in prange(len(samples)):
        out[n] = branch_of(features[n], thresholds[n], ANY_CATEGORY, kinds, combinations, columns, samples[n])


@njit(cache=True, nogil=True)
def _branches_alone(columns, kinds, combinations, samples, features, thresholds, out):
    for n in range(len(samples)):
        out[n] = branch_of(features[n], thresholds[n], ANY_CATEGORY, kinds, combinations, columns, samples[n])
