"""ID3 (Quinlan 1986): multiway splits on the column of maximum information gain."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from posepipe.learn import pruning
from posepipe.learn.impurity import ENTROPY
from posepipe.learn.tables.discretize import STRATEGIES, Discretizer
from posepipe.learn.tables.parameters import CLASS_WEIGHT, SINGLE_TREE
from posepipe.learn.tables.renamed_parameters import renamed_parameter
from posepipe.learn.tables.single_tree import HeldOut, SingleTreeClassifier
from posepipe.learn.tables.splitting.column_splits import ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree


@renamed_parameter("min_gain", "min_impurity_decrease", note="Its values are weighted by the share of rows at the node")
class Id3Classifier(SingleTreeClassifier):
    """Tree with one branch for each category, by information gain.

    A category without training rows at a node gets a leaf that predicts like the node. Numbers are discretised
    before growth. Ties go to the first column.

    Parameters
    ----------
    min_impurity_decrease : float, bits; minimum of gain x share of the training weight at the node, as in
        scikit-learn; 0 also accepts splits without gain
    max_depth : int, maximum levels below the root; None = no limit
    max_leaf_nodes : int, maximum leaves; splits of the largest impurity decrease are made first; None = no limit
    min_samples_split : int, minimum rows of a node that is split, or float, their share of the training rows
    discretize : str, "best-cut", "equal-width" or "equal-frequency", for numbers; see `Discretizer`
    n_bins : int, maximum intervals of a column
    prune : None or "reduced-error" (Quinlan 1987)
    ccp_alpha : float, prune all links up to this strength, as in `CartClassifier`, with entropy as risk
    missing : "fractional" or "most_common"; a row with a missing cell follows all branches by their share of
        training rows, or the most common branch
    unseen : str, what to do about a category that training did not have: "warn" and treat it as missing; "error",
        refuse the rows; "majority", follow the most common branch
    categorical : columns of categories; None = strings and booleans; "all"; or a list of names, positions or a mask
    class_weight : None, "balanced" or a dictionary {class: weight}
    validation_fraction : float, share of rows held out for pruning when `fit` gets no validation rows
    random_state : int, RandomState or None, seed of the rows that are held out

    Attributes
    ----------
    classes_ : (C,), class labels
    tree_ : TableTree, the pruned tree
    row_weight_ : float, training weight that counts as one row, in rules that need numbers of rows
    ties_ : dict, nodes whose best score is shared by several columns
    validation_error_ : float, error rate on the validation rows, with ``prune`` only; their missing cells take the most
        common branch, whatever ``missing`` says

    References
    ----------
    Quinlan, Induction of decision trees, Machine Learning 1, 1986.

    Examples
    --------
    >>> from posepipe.learn import Id3Classifier, load_example
    >>> weather = load_example("weather")
    >>> tree = Id3Classifier().fit(weather.rows, weather.target)
    >>> tree.predict([["sunny", "mild", "normal", "weak"]]).tolist()
    ['yes']
    >>> tree.get_n_leaves()
    5
    """

    splits_ordered_categories = False
    _parameter_constraints: ClassVar[dict] = {
        **{name: allowed for name, allowed in SINGLE_TREE.items() if name != "min_samples_leaf"},
        "discretize": [StrOptions(set(STRATEGIES))],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "prune": [StrOptions({"reduced-error"}), None],
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        *,
        min_impurity_decrease: float = 1e-6,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        discretize: str = "best-cut",
        n_bins: int = 8,
        prune: str | None = None,
        ccp_alpha: float = 0.0,
        missing: str = "fractional",
        unseen: str = "warn",
        categorical: str | Sequence | None = None,
        class_weight: dict | str | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.min_impurity_decrease = min_impurity_decrease
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.discretize = discretize
        self.n_bins = n_bins
        self.prune = prune
        self.ccp_alpha = ccp_alpha
        self.missing = missing
        self.unseen = unseen
        self.categorical = categorical
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _discretize(self, cells: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> None:
        edges: list[np.ndarray | None] = [None] * cells.shape[1]
        for column in np.flatnonzero(~self.schema_.is_categorical):
            discretizer = Discretizer(self.discretize, self.n_bins).fit(cells[:, [column]], target, weight)
            edges[column] = discretizer.edges_[0]
        self.schema_ = self.schema_.cut(edges)

    def _finder(self, table: Table, weight: np.ndarray | None) -> ColumnSplits:
        return ColumnSplits(table, ENTROPY, min_leaf=0)

    def _needs_validation(self) -> bool:
        return self.prune is not None

    def _prune(
        self, grown: TableTree, validation: HeldOut | None, table: Table, weight: np.ndarray | None
    ) -> TableTree:
        return grown if validation is None else prune_by_validation(self, grown, validation)


def prune_by_validation(learner: Any, grown: TableTree, validation: HeldOut) -> TableTree:
    """Prune by reduced error and store the error in the learner's `validation_error_`."""
    passed = grown.statistics_of(*validation)
    pruned = pruning.reduced_error(grown.tree, passed, grown.error_criterion, learner._error_costs())
    learner.validation_error_ = pruned.error
    return grown.with_tree(pruned.tree)
