"""C4.5 (Quinlan 1993): gain ratio, thresholds on numbers, missing cells in fractions, pessimistic pruning, rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posepipe.learn import pruning
from posepipe.learn.impurity import ENTROPY
from posepipe.learn.tables.estimators.id3 import prune_by_validation
from posepipe.learn.tables.rules import RuleList, extract_rules, prune_rules
from posepipe.learn.tables.single_tree import HeldBack, SingleTreeClassifier
from posepipe.learn.tables.splitting.column_splits import ByGainRatio, ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree


class C45Classifier(SingleTreeClassifier):
    """Tree by gain ratio: a branch for every category, two for numbers.

    Parameters
    ----------
    average_gain_guard : choose only among splits whose gain is at least the average; else the ratio favours
        splits that part off next to nothing
    min_samples_leaf : at least two branches must hold this much weight
    min_gain : bits; a node whose best split saves less becomes a leaf
    max_depth, min_samples_split : when to stop; None = no limit
    column_costs : cost of asking a column, by name or position; the others cost 1. The score is (gain ratio)^2 / cost
    prune : "pessimistic", from the training rows themselves; "reduced-error", on rows held back; or None
    missing : "fractional" or "most_common": how a row is answered whose cell is missing or was never seen. In
        training such rows always count in every branch, in part
    categorical, class_weight, validation_fraction, random_state : as `Id3Classifier` has them

    References
    ----------
    Quinlan, C4.5: Programs for machine learning, 1993.
    """

    def __init__(
        self,
        *,
        average_gain_guard: bool = True,
        min_samples_leaf: float = 2,
        min_gain: float = 1e-6,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        column_costs: Mapping[str | int, float] | None = None,
        prune: str | None = "pessimistic",
        missing: str = "fractional",
        categorical: str | Sequence | None = None,
        class_weight: dict | str | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.average_gain_guard = average_gain_guard
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.column_costs = column_costs
        self.prune = prune
        self.missing = missing
        self.categorical = categorical
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def rules(
        self, X: Any, y: Any, validation: tuple[Any, Any] | None = None, names: Sequence[str] | None = None
    ) -> RuleList:
        """The fitted tree as rules, shortened and sorted on its training rows, or by others held back.

        Quinlan takes the tree that is not pruned, ``prune=None``: rules drop conditions that a pruned tree must keep.
        Parameters are those of `extract_rules` and `prune_rules`.
        """
        return prune_rules(extract_rules(self, names), X, y, validation)

    def _finder(self, table: Table) -> ColumnSplits:
        choice = ByGainRatio(self.average_gain_guard, self._costs())
        return ColumnSplits(table, ENTROPY, choice, self.min_samples_leaf)

    def _costs(self) -> np.ndarray:
        if not self.column_costs:
            return np.ones(0)
        if not isinstance(self.column_costs, Mapping):
            raise ValueError(f"column_costs must map columns to costs, got {self.column_costs!r}")
        names = list(self.schema_.names)
        costs = np.ones(len(names))
        for column, cost in self.column_costs.items():
            place = names.index(column) if column in names else column
            if not isinstance(place, int | np.integer) or not 0 <= place < len(names) or not cost > 0:
                raise ValueError(
                    f"column_costs wants columns of the table ({', '.join(names)}) and costs above 0,"
                    f" got {column!r}: {cost}"
                )
            costs[place] = cost
        return costs

    def _wants_validation(self) -> bool:
        if self.prune not in (None, "pessimistic", "reduced-error"):
            raise ValueError(f"prune must be None, 'pessimistic' or 'reduced-error', got {self.prune!r}")
        return self.prune == "reduced-error"

    def _prune(self, grown: TableTree, validation: HeldBack | None) -> TableTree:
        if validation is not None:
            return prune_by_validation(self, grown, validation)
        return grown if self.prune is None else grown.with_tree(pruning.pessimistic(grown.tree))
