"""One random split of each candidate column, instead of the best one: extra trees and isolation forests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.learn.impurity import SQUARED_ERROR, impurity
from posepipe.learn.tables.splitting.split_gain import NUMERIC, ScanRules

MAX_CELLS = 1 << 20
"""Cells that are looked at in one pass: small nodes need few passes, and large ones little memory."""


@dataclass(frozen=True, slots=True, eq=False)
class RandomCuts:
    """A scan of columns that draws one split for each node and candidate; it takes the place of `scan_columns`.

    A threshold is uniform between the least and the greatest number of the node. A category is that of a random row,
    against the rest.

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006, table 1.
    """

    rng: np.random.Generator  #: of one tree, so that trees can grow side by side

    def __call__(
        self,
        columns: np.ndarray,
        codes: np.ndarray,
        kinds: np.ndarray,
        n_codes: np.ndarray,
        target: np.ndarray,
        rules: ScanRules,
        nodes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        candidates: np.ndarray,
        directions: np.ndarray,
        sizes: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw a split of every candidate column of every node.

        Parameters and results are those of `posepipe.learn.tables.splitting.column_scan.scan_columns`, without linear
        combinations and without intrinsic values.
        """
        gain, threshold = np.empty(candidates.shape), np.empty(candidates.shape)
        places = self.rng.random(candidates.shape)
        at_once = max(1, MAX_CELLS // max(1, int((nodes[3] - nodes[2]).sum())))
        for first in range(0, candidates.shape[1], at_once):
            part = slice(first, first + at_once)
            tried = candidates[:, part].T.ravel()
            entries = _Entries.of(nodes, target, rules, sizes, len(tried) // max(1, len(candidates)))
            cells = columns[tried[entries.node], entries.row]
            numeric, place = kinds[tried] == NUMERIC, places[:, part].T.ravel()
            cut = np.where(numeric, entries.between(cells, place), entries.one_of(cells, place))
            at, is_numeric = cut[entries.node], numeric[entries.node]
            found = entries.gain(np.where(is_numeric, cells <= at, cells == at), ~np.isnan(cells))
            gain[:, part] = found.reshape(-1, len(candidates)).T
            threshold[:, part] = cut.reshape(-1, len(candidates)).T
        return gain, np.zeros(candidates.shape), threshold


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """The rows of some nodes, node after node, once for each candidate; a pair of these counts as a node."""

    node: np.ndarray  #: int64 (E,)
    first: np.ndarray  #: int64 (M,), first entry of each node
    row: np.ndarray  #: int32 (E,)
    weight: np.ndarray  #: float64 (E,)
    size: np.ndarray  #: float64 (E,), what an entry adds to the size of a branch
    target: np.ndarray  #: float64 (E,)
    rules: ScanRules

    @classmethod
    def of(
        cls,
        nodes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        target: np.ndarray,
        rules: ScanRules,
        sizes: np.ndarray | None,
        n_candidates: int,
    ) -> _Entries:
        order, weight, *bounds = nodes
        starts, ends = (np.tile(bound, n_candidates) for bound in bounds)
        counts = ends - starts
        first = np.cumsum(counts) - counts
        place = np.arange(counts.sum()) + np.repeat(starts - first, counts)
        node, row = np.repeat(np.arange(len(counts)), counts), order[place]
        own, size = target[row], (weight if sizes is None else sizes)[place]
        if rules[0] == SQUARED_ERROR:  # about the mean of the node moments are accurate, however far it is from others
            own -= (np.bincount(node, own * weight[place]) / np.bincount(node, weight[place]))[node]
        return cls(node, first, row, weight[place], size, own, rules)

    def between(self, cells: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Thresholds at a share ``place``, (M,), of the way from the least to the greatest cell of each node."""
        low, high = np.fmin.reduceat(cells, self.first), np.fmax.reduceat(cells, self.first)
        cut = (1 - place) * low + place * high
        return np.where((low <= cut) & (cut < high), cut, low)  # a rounded threshold keeps the greatest cell above it

    def one_of(self, cells: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return a known cell of each node, NaN where there is none: at a share ``place``, (M,), of the known ones."""
        known = np.cumsum(~np.isnan(cells))
        before = np.append(0, known)[self.first]
        count = np.append(known[self.first[1:] - 1], known[-1]) - before
        chosen = np.searchsorted(known, before + np.floor(place * count) + 1)
        return np.where(count > 0, cells[np.minimum(chosen, len(cells) - 1)], np.nan)

    def gain(self, in_first: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Gain of each node's split, (M,), times the share of known weight; -inf where a branch is too small."""
        criterion, costs, min_leaf = self.rules[:3]
        branches = [in_first & known, ~in_first & known]
        statistics = [self._statistics(branch) for branch in branches]
        weights = [self._sum(self.weight, branch) for branch in branches]
        total = weights[0] + weights[1]
        possible = (weights[0] > 0) & (weights[1] > 0)
        for branch in branches:
            possible &= self._sum(self.size, branch) >= min_leaf
        after = sum(w * impurity(criterion, own, costs) for w, own in zip(weights, statistics, strict=True))
        before = impurity(criterion, statistics[0] + statistics[1], costs)
        decrease = before - after / np.where(total > 0, total, 1)
        return np.where(possible, decrease * total / np.add.reduceat(self.weight, self.first), -np.inf)

    def _sum(self, values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return np.bincount(self.node[chosen], values[chosen], len(self.first))

    def _statistics(self, chosen: np.ndarray) -> np.ndarray:
        """Class weights or moments of the chosen entries, bool (E,), of each node: float64 (M, K)."""
        node, weight, target = self.node[chosen], self.weight[chosen], self.target[chosen]
        if self.rules[0] == SQUARED_ERROR:
            powers = [weight, weight * target, weight * target**2]
            return np.stack([np.bincount(node, power, len(self.first)) for power in powers], axis=1)
        n_classes = self.rules[3]
        cell = node * n_classes + target.astype(np.int64)
        return np.bincount(cell, weight, len(self.first) * n_classes).reshape(-1, n_classes)
