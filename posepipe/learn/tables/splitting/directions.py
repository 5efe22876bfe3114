"""Oblique splits: linear combinations of columns, at random or by Fisher's discriminant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from posepipe.learn.growing import OpenNodes
from posepipe.learn.tables.splitting.split_gain import NUMERIC

if TYPE_CHECKING:
    from posepipe.learn.tables.splitting.column_splits import ColumnSplits

RIDGE = 1e-3
"""Regularisation of the covariance of standardised columns; it keeps the solution stable for few rows."""
MIN_ROWS = 5
"""Minimum rows of a node for a discriminant."""


@dataclass(frozen=True, slots=True, eq=False)
class RandomCombinations:
    """Forest-RC: each candidate is a sum of random columns with coefficients drawn from [-1, 1].

    Each coefficient is divided by the ``spread`` of its column, where that is known and not 0.

    References
    ----------
    Breiman 2001, section 5.
    """

    columns: int  #: columns per candidate
    candidates: int  #: candidates per node
    spread: np.ndarray = field(default_factory=lambda: np.zeros(0))  #: float64 (F,); empty = 1 each

    def __call__(
        self, finder: ColumnSplits, nodes: OpenNodes, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw directions, float64 (D, F), and the candidates of each node among them, (M, T)."""
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
    """Compute one direction per node: the discriminant of its largest class, or the slope of a numeric target.

    Rows with a missing number and columns of categories are left out.

    Parameters
    ----------
    finder : ColumnSplits
    nodes : OpenNodes
    rng : Generator, not used

    Returns
    -------
    directions : float64 (M, F); zeros for a node with too few rows
    candidates : (M, 1), the direction of each node

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
        complete = ~np.isnan(cells).any(axis=1)
        if complete.sum() < MIN_ROWS or len(numeric) < 2:
            continue  # a direction of zeros separates no rows
        cells, target = cells[complete], table.target[rows[complete]]
        weight = np.ones(len(rows)) if nodes.weight is None else nodes.weight[start:end]
        response = target if finder.moments else target == np.bincount(target.astype(np.int64)).argmax()
        directions[k, numeric] = _discriminant(cells, response.astype(np.float64), weight[complete])
    return directions, np.arange(len(directions))[:, None]


def _discriminant(cells: np.ndarray, response: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Least squares on standardised columns, equal to Fisher's direction for two classes."""
    share = weight / weight.sum()
    scale = np.sqrt(np.maximum(share @ (cells - share @ cells) ** 2, 1e-300))
    usable = scale > 1e-12 * np.abs(cells).max(axis=0)
    if not usable.any():
        return np.zeros(cells.shape[1])
    z = (cells - share @ cells)[:, usable] / scale[usable]
    covariance = (z * share[:, None]).T @ z + RIDGE * np.eye(z.shape[1])
    out = np.zeros(cells.shape[1])
    out[usable] = np.linalg.solve(covariance, (z * share[:, None]).T @ (response - share @ response)) / scale[usable]
    return out
