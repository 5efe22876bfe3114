"""C4.5 (Quinlan 1993): gain ratio, thresholds, fractional missing values, pessimistic pruning, rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posepipe.learn import pruning
from posepipe.learn.impurity import ENTROPY
from posepipe.learn.tables.estimators.id3 import prune_by_validation
from posepipe.learn.tables.renamed_parameters import renamed_parameter
from posepipe.learn.tables.rules import RuleList, extract_rules, prune_rules
from posepipe.learn.tables.single_tree import HeldOut, SingleTreeClassifier
from posepipe.learn.tables.splitting.column_splits import ByGainRatio, ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree


@renamed_parameter("min_gain", "min_impurity_decrease", note="Its values are weighted by the share of rows at the node")
class C45Classifier(SingleTreeClassifier):
    """Tree by gain ratio, with one branch for each category and two for numbers.

    Parameters
    ----------
    average_gain_guard : bool, consider only splits of at least average gain; without it, the ratio favours splits
        that separate very few rows
    min_samples_leaf : float, minimum weight, in rows, of at least two branches of a split
    min_impurity_decrease : float, bits; minimum of gain x share of the training weight at the node, as in
        scikit-learn
    max_depth : int, maximum levels below the root; None = no limit
    min_samples_split : int, minimum rows of a node that is split
    column_costs : dict, cost of testing a column, by name or position; others cost 1. The score is
        (gain ratio)^2 / cost
    prune : "pessimistic", by training errors; "reduced-error", by validation rows; or None
    missing : "fractional" or "most_common", as in `Id3Classifier`, for prediction; training is always fractional
    categorical, class_weight, validation_fraction, random_state : as in `Id3Classifier`

    Attributes
    ----------
    classes_, tree_, ties_, validation_error_ : as in `Id3Classifier`

    References
    ----------
    Quinlan, C4.5: Programs for machine learning, 1993.

    Examples
    --------
    >>> from posepipe.learn import C45Classifier, load_example
    >>> weather = load_example("weather")
    >>> tree = C45Classifier(min_samples_leaf=1).fit(weather.rows, weather.target)
    >>> tree.predict_proba([[None, "mild", "high", "weak"]]).round(3).tolist()
    [[0.357, 0.643]]
    """

    def __init__(
        self,
        *,
        average_gain_guard: bool = True,
        min_samples_leaf: float = 2,
        min_impurity_decrease: float = 1e-6,
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
        self.min_impurity_decrease = min_impurity_decrease
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
        """Convert the fitted tree to rules, simplified and sorted on its training rows or on validation rows.

        Quinlan starts from the unpruned tree (``prune=None``), because rules can drop single conditions.

        Parameters
        ----------
        X, y : training rows
        validation : (X, y) of other rows, or None; as in `posepipe.learn.tables.rules.prune_rules`
        names : of the columns, for a training table without names
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
                    f"column_costs must map columns of the table ({', '.join(names)}) to costs above 0,"
                    f" got {column!r}: {cost}"
                )
            costs[place] = cost
        return costs

    def _needs_validation(self) -> bool:
        if self.prune not in (None, "pessimistic", "reduced-error"):
            raise ValueError(f"prune must be None, 'pessimistic' or 'reduced-error', got {self.prune!r}")
        return self.prune == "reduced-error"

    def _prune(self, grown: TableTree, validation: HeldOut | None) -> TableTree:
        if validation is not None:
            return prune_by_validation(self, grown, validation)
        return grown if self.prune is None else grown.with_tree(pruning.pessimistic(grown.tree))
