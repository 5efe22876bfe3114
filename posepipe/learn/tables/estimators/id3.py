"""ID3 (Quinlan 1986): a branch for every category of the column that saves most entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posepipe.learn import pruning
from posepipe.learn.impurity import ENTROPY
from posepipe.learn.tables.discretize import Discretizer
from posepipe.learn.tables.single_tree import HeldBack, SingleTreeClassifier
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree


class Id3Classifier(SingleTreeClassifier):
    """Multi-way tree by information gain.

    A category that no training row of a node shows gets a leaf that answers as the node does. Numbers
    are cut into intervals first. Ties go to the first column.

    Parameters
    ----------
    min_gain : bits; a node whose best split saves less becomes a leaf (epsilon); 0 splits on, as long as rows part
    max_depth, min_samples_split : when to stop; None = no limit
    discretize : how numbers are cut: "best-cut", "equal-width" or "equal-frequency"; see `Discretizer`
    n_bins : most intervals of a column
    prune : None or "reduced-error" (Quinlan 1987)
    missing : "fractional" or "most_common": where a row goes whose cell is missing or was never seen
    categorical : None = strings and truth values are categories; "all"; or a list of names or positions
    class_weight : None, "balanced", or a dictionary
    validation_fraction : rows held back for pruning when `fit` is given none
    random_state : seed of what is held back

    References
    ----------
    Quinlan, Induction of decision trees, Machine Learning 1, 1986.
    """

    def __init__(
        self,
        *,
        min_gain: float = 1e-6,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        discretize: str = "best-cut",
        n_bins: int = 8,
        prune: str | None = None,
        missing: str = "fractional",
        categorical: str | Sequence | None = None,
        class_weight: dict | str | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.discretize = discretize
        self.n_bins = n_bins
        self.prune = prune
        self.missing = missing
        self.categorical = categorical
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _cut(self, cells: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> None:
        edges: list[np.ndarray | None] = [None] * cells.shape[1]
        for column in np.flatnonzero(~self.schema_.is_categorical):
            cutter = Discretizer(self.discretize, self.n_bins).fit(cells[:, [column]], target, weight)
            edges[column] = cutter.edges_[0]
        self.schema_ = self.schema_.cut(edges)

    def _finder(self, table: Table) -> ColumnSplits:
        return ColumnSplits(table, ENTROPY, min_leaf=0)

    def _wants_validation(self) -> bool:
        if self.prune not in (None, "reduced-error"):
            raise ValueError(f"prune must be None or 'reduced-error', got {self.prune!r}")
        return self.prune is not None

    def _prune(self, grown: TableTree, validation: HeldBack | None) -> TableTree:
        return grown if validation is None else prune_by_validation(self, grown, validation)


def prune_by_validation(learner: Any, grown: TableTree, validation: HeldBack) -> TableTree:
    """Reduced-error pruning; the learner keeps the error in `validation_error_`."""
    pruned = pruning.reduced_error(grown.tree, grown.passed(*validation), grown.mistakes)
    learner.validation_error_ = pruned.error
    return grown.with_tree(pruned.tree)
