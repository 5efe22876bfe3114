"""C4.5 (Quinlan 1993): gain ratio, thresholds, fractional missing values, pruning by training errors, rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from posepipe.learn import pruning
from posepipe.learn.impurity import ENTROPY
from posepipe.learn.tables.error_based_pruning import ErrorLimit, prune_by_error_limit
from posepipe.learn.tables.estimators.trees.id3 import prune_by_validation
from posepipe.learn.tables.parameters import CLASS_WEIGHT, SINGLE_TREE, count_of_rows
from posepipe.learn.tables.renamed_parameters import renamed_parameter
from posepipe.learn.tables.rules import RuleList, extract_rules, prune_rules
from posepipe.learn.tables.single_tree import HeldOut, SingleTreeClassifier
from posepipe.learn.tables.splitting.column_splits import ByGainRatio, ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.split_gain import EQUAL_GAIN

RELEASE_8_SLACK = 1e-3
"""Bits by which a gain may stay below the average in release 8."""


@renamed_parameter("min_gain", "min_impurity_decrease", note="Its values are weighted by the share of rows at the node")
class C45Classifier(SingleTreeClassifier):
    """Tree by gain ratio, with one branch for each category and two for numbers.

    Parameters
    ----------
    average_gain_guard : bool, consider only splits of at least average gain; without it, the ratio favours splits
        that separate very few rows
    min_samples_leaf : int, minimum rows of at least two branches of a split, or float, their share of the training
        rows. Weights count as numbers of rows, see `posepipe.learn.tables.row_weights.weight_of_a_row`
    min_impurity_decrease : float, bits; minimum of gain x share of the training weight at the node, as in
        scikit-learn
    max_depth, max_leaf_nodes, min_samples_split, ccp_alpha : as in `Id3Classifier`
    column_costs : dict, cost of testing a column, by name or position; others cost 1. The score is
        (gain ratio)^2 / cost
    prune : "pessimistic", by training errors plus a half for each leaf; "error-based", by an upper limit of the
        training errors, as C4.5 itself prunes; "reduced-error", by validation rows; or None
    confidence : float, of the limit of error-based pruning; a smaller one prunes more
    subtree_raising : bool, error-based pruning may also replace a node by its largest branch
    release_8 : bool, thresholds as in release 8: they pay for their description, and a branch needs a tenth of a
        node's rows per class, up to 25. The average gain is then met up to a thousandth of a bit. With
        ``prune="error-based"``, trees are those of C4.5 release 8 and J48, with thresholds midway between two values
    missing : "fractional" or "most_common", as in `Id3Classifier`, for prediction; training is always fractional
    unseen, categorical, class_weight, validation_fraction, random_state : as in `Id3Classifier`

    Attributes
    ----------
    classes_, tree_, row_weight_, ties_, validation_error_ : as in `Id3Classifier`

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

    splits_ordered_categories = False
    _parameter_constraints: ClassVar[dict] = {
        **SINGLE_TREE,
        "average_gain_guard": ["boolean"],
        "column_costs": [Mapping, None],
        "prune": [StrOptions({"pessimistic", "error-based", "reduced-error"}), None],
        "confidence": [Interval(Real, 0, 0.5, closed="right")],
        "subtree_raising": ["boolean"],
        "release_8": ["boolean"],
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        *,
        average_gain_guard: bool = True,
        min_samples_leaf: float = 2,
        min_impurity_decrease: float = 1e-6,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        column_costs: Mapping[str | int, float] | None = None,
        prune: str | None = "pessimistic",
        confidence: float = 0.25,
        subtree_raising: bool = True,
        release_8: bool = False,
        ccp_alpha: float = 0.0,
        missing: str = "fractional",
        unseen: str = "warn",
        categorical: str | Sequence | None = None,
        class_weight: dict | str | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.average_gain_guard = average_gain_guard
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.column_costs = column_costs
        self.prune = prune
        self.confidence = confidence
        self.subtree_raising = subtree_raising
        self.release_8 = release_8
        self.ccp_alpha = ccp_alpha
        self.missing = missing
        self.unseen = unseen
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

    def _finder(self, table: Table, weight: np.ndarray | None) -> ColumnSplits:
        slack = RELEASE_8_SLACK if self.release_8 else EQUAL_GAIN
        return ColumnSplits(
            table,
            ENTROPY,
            ByGainRatio(self.average_gain_guard, self._costs(), slack),
            min_leaf=count_of_rows(self.min_samples_leaf, len(table)),
            row_weight=self.row_weight_,
            release_8=self.release_8,
        )

    def _costs(self) -> np.ndarray:
        if not self.column_costs:
            return np.ones(0)
        names = list(self.schema_.names)
        costs = np.ones(len(names))
        for column, cost in self.column_costs.items():
            place = names.index(column) if column in names else column
            is_column = isinstance(place, int | np.integer) and 0 <= place < len(names)
            if not is_column or not isinstance(cost, Real) or not 0 < cost < np.inf:
                raise ValueError(
                    f"column_costs must map columns of the table ({', '.join(names)}) to costs above 0,"
                    f" got {column!r}: {cost!r}"
                )
            costs[place] = cost
        return costs

    def _needs_validation(self) -> bool:
        return self.prune == "reduced-error"

    def _prune(
        self, grown: TableTree, validation: HeldOut | None, table: Table, weight: np.ndarray | None
    ) -> TableTree:
        if validation is not None:
            return prune_by_validation(self, grown, validation)
        if self.prune == "error-based":
            limit = ErrorLimit(self.confidence, self.row_weight_)
            pruned, origin = prune_by_error_limit(grown, table, weight, limit, self.subtree_raising)
            self._before_raising = grown.tree, origin
            return pruned
        return grown if self.prune is None else grown.with_tree(pruning.pessimistic(grown.tree, self.row_weight_))
