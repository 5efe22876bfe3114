"""Shared parts of ID3, C4.5 and CART: a single tree, grown, pruned and used for prediction."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from posepipe.learn import cost_complexity
from posepipe.learn.impurity import CRITERIA, NO_COSTS, SQUARED_ERROR, impurity
from posepipe.learn.stopping import best_first
from posepipe.learn.tables.parameters import count_of_rows
from posepipe.learn.tables.row_weights import weight_of_a_row
from posepipe.learn.tables.splitting.column_splits import Candidates, ColumnSplits, Table
from posepipe.learn.tables.splitting.descent import TableTree, path_indicator
from posepipe.learn.tables.splitting.split_gain import MULTIWAY
from posepipe.learn.tables.table_model import (
    NO_LIMIT,
    ClassifierTable,
    RegressorTable,
    TableGrowthRules,
    TableModel,
    grow_table_tree,
)
from posepipe.learn.tree import Tree

HeldOut = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""Validation rows: encoded cells, float64 (F, N); classes or numbers, (N,); weights, None = 1 each."""


class SingleTree(TableModel):
    """A single tree. Learners define it by `_finder`, `_rules` and `_prune`."""

    categorical_split: Any = MULTIWAY  #: kind of split of categorical columns
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_split: float
    min_impurity_decrease: float
    ccp_alpha: float
    validation_fraction: float
    random_state: Any
    _grown: tuple[Tree, list[np.ndarray]]  #: tree before pruning, and the columns that share each best score
    _log: list[Candidates] | None  #: candidates of every split before pruning
    _before_raising: tuple[Tree, np.ndarray] | None  #: tree before nodes were replaced, and the origin of each split

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        validation: tuple[Any, Any] | None = None,
        log: bool = False,
    ) -> Self:
        """Grow a tree and prune it.

        Parameters
        ----------
        X : (N, F), numbers, strings or both; None and NaN are missing; names and types of a DataFrame are used
        y : (N,)
        sample_weight : (N,); rows of weight 0 are left out
        validation : (X, y) of other rows, for pruning or stopping that needs them; None = hold out
            ``validation_fraction`` of the training rows
        log : bool, keep the candidates of every split, for `posepipe.learn.split_log`

        Raises
        ------
        ValueError, TypeError
            For an invalid table, parameter or target.
        """
        self._validate_params()
        cells, y = self._fit_table(X, y)
        target, weight, n_statistics = self._fit_target(y, sample_weight)
        rows = np.arange(len(cells)) if weight is None else np.flatnonzero(weight)
        held_rows = rows[:0]
        if self._needs_validation() and validation is None:
            rows, held_rows = self._hold_out(rows)
        growth_weight = None if weight is None else weight[rows]
        self._discretize(cells[rows], target[rows], growth_weight)
        cells = self.schema_.in_intervals(cells)
        held_out = self._held_out(cells, target, weight, held_rows, validation)
        kinds = self._split_kinds(self.categorical_split)
        table = Table.of(cells[rows], kinds, self.schema_.n_codes, target[rows], n_statistics)
        self.row_weight_ = weight_of_a_row(growth_weight)
        grown = self._grow(table, growth_weight, log)
        stopped = self._stop(grown, held_out)
        if self.ccp_alpha > 0:
            stopped = stopped.with_tree(self._path(stopped).at(self.ccp_alpha))
        self.tree_ = self._prune(stopped, held_out, table, growth_weight)
        return self

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> cost_complexity.PruningPath:
        """Grow the full tree and return its cost-complexity path.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        """
        unpruned = {"prune": None, "stop": None, "ccp_alpha": 0.0}
        given = self.get_params(deep=False)
        full = type(self)(**given | {name: value for name, value in unpruned.items() if name in given})
        return full.fit(X, y, sample_weight)._path(full.tree_)

    def get_depth(self) -> int:
        """Return the number of levels below the root."""
        check_is_fitted(self)
        return self.tree_.tree.depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves, including those without training rows."""
        check_is_fitted(self)
        return self.tree_.tree.n_leaves

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row, int64 (N,); a missing cell takes the branch of maximum training weight."""
        columns = self._encode(X)
        return self.tree_.leaves(columns)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each row passes, from the root to the leaf of `apply`: bool (N, nodes), sparse."""
        leaves = self.apply(X)
        return path_indicator(self.tree_.tree, leaves)

    @property
    def ties_(self) -> dict[int, tuple[int, ...]]:
        """Nodes whose best score is shared, with the columns that share it, ascending; the first one is used."""
        check_is_fitted(self)
        raised = getattr(self, "_before_raising", None)
        if raised is None:
            return self._ties_of(self.tree_.tree)
        before, origin = raised
        known = self._ties_of(before)
        splits = np.flatnonzero(~self.tree_.tree.is_leaf).tolist()
        return {node: known[origin[node]] for node in splits if origin[node] in known}

    def _ties_of(self, pruned: Tree) -> dict[int, tuple[int, ...]]:
        """Ties by node of a tree that is the grown one with some nodes closed."""
        grown, columns = self._grown
        number = np.cumsum(~grown.is_leaf) - 1  # of a split, in the order of growth
        place = np.zeros(pruned.n_nodes, np.int64)  # of a node before pruning, which keeps the order
        ties = {}
        for node in np.flatnonzero(~pruned.is_leaf).tolist():
            below = pruned.children(node)
            place[below.start : below.stop] = grown.children(int(place[node]))
            best = columns[number[place[node]]]
            if len(best) > 1:
                ties[node] = tuple(best.tolist())
        return ties

    @property
    def feature_importances_(self) -> np.ndarray:
        """Impurity decrease by the splits of each column, as shares: float64 (F,).

        The shares are biased towards columns with many values (Strobl et al. 2007); permutation importances are not.
        """
        check_is_fitted(self)
        return importances(self.tree_, CRITERIA[self._criterion_name()], self._error_costs())

    def _predictions(self, X: Any) -> np.ndarray:
        columns = self._encode(X)
        out = np.zeros((columns.shape[1], self.tree_.values.shape[1]))
        self.tree_.add_predictions(columns, self.missing, out)
        return out

    def _grow(self, table: Table, weight: np.ndarray | None, log: bool) -> TableTree:
        """Grow the tree and record its ties."""
        finder = self._finder(table, weight)
        finder.ties, finder.log = [], [] if log else None
        total_weight = float(len(table) if weight is None else weight.sum())
        grown = grow_table_tree(finder, self._rules(len(table), total_weight), (0,), weight)
        self._grown, self._before_raising, self._log = (grown.tree, finder.ties), None, finder.log
        if self.max_leaf_nodes is None:
            return grown
        criterion = CRITERIA[self._criterion_name()]
        return grown.with_tree(best_first(grown.tree, criterion, self.max_leaf_nodes, self._error_costs()))

    def _rules(self, n_rows: int, total_weight: float) -> TableGrowthRules:
        return TableGrowthRules(
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            candidates=NO_LIMIT,
            min_samples=max(2, count_of_rows(self.min_samples_split, n_rows)),
            split_samples=NO_LIMIT,
            min_impurity_decrease=self.min_impurity_decrease,
            total_weight=total_weight,
        )

    def _discretize(self, cells: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> None:
        """Find intervals of numbers on the growth rows, for learners that use categories only."""

    def _hold_out(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split rows into growth rows and validation rows."""
        n_rows = len(rows)
        if n_rows < 2:
            raise ValueError(f"holding out validation rows needs at least 2 rows, got n_samples={n_rows}")
        order = check_random_state(self.random_state).permutation(n_rows)
        count = min(max(1, round(n_rows * self.validation_fraction)), n_rows - 1)
        return np.sort(rows[order[count:]]), np.sort(rows[order[:count]])

    def _held_out(
        self,
        cells: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray | None,
        held_rows: np.ndarray,
        validation: tuple[Any, Any] | None,
    ) -> HeldOut | None:
        """Encode the validation rows, held out or given; None when none are needed."""
        if len(held_rows):
            held_weight = None if weight is None else weight[held_rows] / weight_of_a_row(weight[held_rows])
            return cells[held_rows].T, target[held_rows], held_weight
        if validation is None or not self._needs_validation():
            return None
        check_consistent_length(*validation)
        columns, codes = self._encode(validation[0]), self._encode_target(validation[1])
        own_weight = self._validation_weight(codes)
        return columns, codes, None if own_weight is None else own_weight / weight_of_a_row(own_weight[own_weight > 0])

    def _needs_validation(self) -> bool:
        return False

    def _criterion_name(self) -> str:
        return "entropy"

    def _risk(self) -> str:
        """Risk of cost-complexity pruning, a key of CRITERIA."""
        return self._criterion_name()

    def _error_costs(self) -> np.ndarray:
        return NO_COSTS

    def _path(self, grown: TableTree) -> cost_complexity.PruningPath:
        return cost_complexity.cost_complexity_path(grown.tree, CRITERIA[self._risk()], self._error_costs())

    def _finder(self, table: Table, weight: np.ndarray | None) -> ColumnSplits:
        """Make the finder of splits for growth rows and their weights, float64 (N,), None = 1 each."""
        raise NotImplementedError

    def _stop(self, grown: TableTree, validation: HeldOut | None) -> TableTree:
        """Refuse splits from the root down: see `posepipe.learn.stopping`."""
        return grown

    def _prune(
        self, grown: TableTree, validation: HeldOut | None, table: Table, weight: np.ndarray | None
    ) -> TableTree:
        """Prune a tree; ``table`` and ``weight`` are its growth rows."""
        return grown


class SingleTreeClassifier(SingleTree, ClassifierTable):
    """A single tree that predicts classes."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the class shares of the leaf, or leaves, of every row: float64 (N, C), columns as in `classes_`."""
        return self._predictions(X)


class SingleTreeRegressor(SingleTree, RegressorTable):
    """A single tree that predicts a number."""

    def predict(self, X: Any) -> np.ndarray:
        """Predict the mean of the leaf, or leaves, of every row: float64 (N,)."""
        about_mean = self._predictions(X)[:, 0]
        return about_mean + self.mean_


def importances(grown: TableTree, criterion: int, costs: np.ndarray = NO_COSTS) -> np.ndarray:
    """Impurity decrease by the splits of each column, as shares of the total: float64 (F,).

    A linear combination is divided among its columns in proportion to the absolute coefficients.
    """
    tree, n_columns = grown.tree, len(grown.kinds)
    statistics = tree.node_statistics()
    total_impurity = impurity(SQUARED_ERROR if grown.moments else criterion, statistics, costs) * grown.weight
    decrease = total_impurity.copy()
    parents = tree.parents()
    np.subtract.at(decrease, parents[1:], total_impurity[1:])
    inner = ~tree.is_leaf
    feature, decrease = tree.feature[inner], decrease[inner]
    plain = feature < n_columns
    out = np.zeros(n_columns)
    np.add.at(out, feature[plain], decrease[plain])
    shares = np.abs(grown.combinations)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    out += (shares[feature[~plain] - n_columns] * decrease[~plain, None]).sum(axis=0)
    total = out.sum()
    return out / total if total > 0 else out
