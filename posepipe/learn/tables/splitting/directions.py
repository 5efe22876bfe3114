"""Linear combinations of columns that a node may ask for: random ones, or those that part its classes best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from posepipe.learn.growing import OpenNodes
from posepipe.learn.tables.splitting.column_scan import NUMERIC

if TYPE_CHECKING:
    from posepipe.learn.tables.splitting.column_splits import ColumnSplits

RIDGE = 1e-3
"""Added to the variances of a node's columns, as a share of their mean, so that few rows give a direction too."""
MIN_ROWS = 5
"""A node with fewer rows asks for single columns."""


@dataclass(frozen=True, slots=True, eq=False)
class RandomCombinations:
    """Forest-RC: each candidate sums some columns, drawn at random, with coefficients drawn from [-1, 1].

    Coefficients are divided by the columns' ``spread``, where that is known and not 0.

    References
    ----------
    Breiman 2001, section 5.
    """

    columns: int  #: summed in a candidate
    candidates: int  #: a node
    spread: np.ndarray = field(default_factory=lambda: np.zeros(0))  #: float64 (F,); empty = 1 each

    def __call__(
        self, finder: ColumnSplits, nodes: OpenNodes, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Directions, float64 (D, F), and which of them each node tries, (M, T)."""
        n_columns, count = len(finder.table.kinds), len(nodes.starts) * self.candidates
        drawn = np.argsort(rng.random((count, n_columns)), axis=1)[:, : self.columns]
        directions = np.zeros((count, n_columns))
        np.put_along_axis(directions, drawn, rng.uniform(-1, 1, drawn.shape), axis=1)
        if len(self.spread):
            directions /= np.where(self.spread > 0, self.spread, 1)
        return directions, np.arange(count).reshape(-1, self.candidates)


def fisher_directions(
    finder: ColumnSplits, nodes: OpenNodes, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """One direction a node: the linear discriminant of its largest class against the rest, or the slope of a number.

    Rows with a missing number, and columns of categories, have no say in it.

    Returns
    -------
    directions : float64 (M, F)
    tried : (M, 1)

    References
    ----------
    Fisher 1936; trees of discriminants: Loh and Vanichsetakul 1988.
    """
    table = finder.table
    numeric = np.flatnonzero(table.kinds == NUMERIC)
    directions = np.zeros((len(nodes.starts), len(table.kinds)))
    for k, (start, end) in enumerate(zip(nodes.starts, nodes.ends, strict=True)):
        rows = nodes.order[start:end]
        cells = table.columns[np.ix_(numeric, rows)].T
        whole = ~np.isnan(cells).any(axis=1)
        if whole.sum() < MIN_ROWS or len(numeric) < 2:
            continue  # a direction of zeros parts nothing
        cells, target = cells[whole], table.target[rows[whole]]
        weight = np.ones(len(rows)) if nodes.weight is None else nodes.weight[start:end]
        towards = target if finder.moments else target == np.bincount(target.astype(np.int64)).argmax()
        directions[k, numeric] = _discriminant(cells, towards.astype(np.float64), weight[whole])
    return directions, np.arange(len(directions))[:, None]


def _discriminant(cells: np.ndarray, towards: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Least squares on standardised columns, which for two classes is Fisher's direction."""
    share = weight / weight.sum()
    scale = np.sqrt(np.maximum(share @ (cells - share @ cells) ** 2, 1e-300))
    usable = scale > 1e-12 * np.abs(cells).max(axis=0)
    if not usable.any():
        return np.zeros(cells.shape[1])
    z = (cells - share @ cells)[:, usable] / scale[usable]
    covariance = (z * share[:, None]).T @ z + RIDGE * np.eye(z.shape[1])
    out = np.zeros(cells.shape[1])
    out[usable] = np.linalg.solve(covariance, (z * share[:, None]).T @ (towards - share @ towards)) / scale[usable]
    return out
