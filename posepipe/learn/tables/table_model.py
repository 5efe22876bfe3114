"""Shared parts of all learners of tables: checked and encoded input, stopping rules, growth of one tree."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_is_fitted, column_or_1d, validate_data

from posepipe.learn.growing import GrowthRules, OpenNodes, finish, grow
from posepipe.learn.tables.row_weights import checked_weight, in_range
from posepipe.learn.tables.splitting.column_splits import ColumnSplits
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.schema import (
    Schema,
    chosen_columns,
    ordered_columns,
    refuse_missing_targets,
    with_own_types,
)
from posepipe.learn.tables.splitting.split_gain import NUMERIC
from posepipe.learn.tables.splitting.unseen import MAX_NAMED, UNSEEN, settle_unseen

NO_LIMIT = 1 << 30
"""Depth, candidates or samples without a limit."""
MAX_CODES = 10
"""Maximum number of different integers, written as text, that are taken for codes of categories."""


class NumbersAsTextWarning(UserWarning):
    """Columns of numbers that are written as text, as Python's ``csv`` reads them, are split as categories."""


@dataclass(frozen=True, slots=True)
class TableGrowthRules(GrowthRules):
    """Stopping rules with scikit-learn's ``min_impurity_decrease``, which replaces ``min_gain``."""

    min_impurity_decrease: float = 0.0  #: minimum of gain x share of the training weight at the node
    total_weight: float = 1.0  #: of all training rows

    def accept(self, gain: np.ndarray, nodes: OpenNodes) -> np.ndarray:
        """Tell which nodes are split: those with N_t / N x gain of at least ``min_impurity_decrease``.

        N_t is the weight of the node, N that of all training rows. As in scikit-learn, rounding errors of one
        machine epsilon do not refuse a split.
        """
        if self.min_impurity_decrease == 0:
            return gain >= 0
        share = _node_weights(nodes) / self.total_weight
        with np.errstate(invalid="ignore"):  # -inf x 0: no split of a node whose share underflows
            return gain * share + np.finfo(np.float64).eps >= self.min_impurity_decrease


def _node_weights(nodes: OpenNodes) -> np.ndarray:
    """Weight of each node: float64 (M,)."""
    if nodes.weight is None or len(nodes.starts) == 0:
        return (nodes.ends - nodes.starts).astype(np.float64)
    bounds = np.stack([nodes.starts, nodes.ends], axis=1).ravel()
    return np.add.reduceat(np.append(nodes.weight, 0.0), bounds)[::2]


class TableModel(BaseEstimator):
    """A learner of tables. `fit` stores the column types in `schema_`."""

    categorical: str | Sequence | None
    splits_ordered_categories = True  #: whether ordered categories of a DataFrame are split at thresholds
    missing: str
    unseen: str
    known_schema: Schema | None = None  #: of a larger table, of which `fit` gets some rows

    def schema_of(self, X: Any) -> Schema:
        """Learn the types and the categories of a table's columns."""
        cells = validate_data(self, with_own_types(X), dtype=None, ensure_all_finite="allow-nan")
        return self._learn_schema(cells, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _fit_table(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Check training rows and return their encoded cells, float64 (N, F), and the target as given."""
        numeric = not isinstance(self, ClassifierMixin)
        own_types = with_own_types(X)
        refuse_missing_targets(y)
        cells, y = validate_data(self, own_types, y, dtype=None, ensure_all_finite="allow-nan", y_numeric=numeric)
        self.schema_ = self._learn_schema(cells, X) if self.known_schema is None else self.known_schema
        return self.schema_.encode(cells), y

    def _learn_schema(self, cells: np.ndarray, X: Any) -> Schema:
        """Learn the types of the columns of a table from its checked cells."""
        names = getattr(self, "feature_names_in_", [f"column {k}" for k in range(cells.shape[1])])
        chosen = chosen_columns(self.categorical, list(names), X)
        ordered = ordered_columns(self.categorical, X) if self.splits_ordered_categories else {}
        schema = Schema.learn(_real(cells), names, chosen, ordered)
        if self.categorical is None:
            dtypes = getattr(X, "dtypes", [None] * len(names))
            chosen = np.array([getattr(dtype, "name", "") == "category" for dtype in dtypes])
        _warn_of_numbers_as_text(schema, chosen)
        return schema

    def _encode(self, X: Any) -> np.ndarray:
        """Check rows to predict and encode them as in training: float64 (F, N), Fortran order."""
        check_is_fitted(self)
        cells = validate_data(self, with_own_types(X), dtype=None, ensure_all_finite="allow-nan", reset=False)
        cells = _real(cells)
        codes = self.schema_.encode(cells, UNSEEN)
        return settle_unseen(codes, cells, self.schema_, self.unseen).T

    def _split_kinds(self, categorical_split: int) -> np.ndarray:
        """Kind of split of each column: uint8 (F,)."""
        return np.where(self.schema_.is_categorical, categorical_split, NUMERIC).astype(np.uint8)


def _warn_of_numbers_as_text(schema: Schema, declared: np.ndarray) -> None:
    """Name the columns of numbers written as text that nobody declared to be categories."""
    columns = zip(schema.names, schema.categories, declared, strict=True)
    named = [repr(name) for name, categories, is_declared in columns if not is_declared and _are_numbers(categories)]
    if named:
        rest = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
        warnings.warn(
            f"numbers written as text are categories, in {', '.join(named[:MAX_NAMED])}{rest};"
            " convert them with float(), or name the columns in `categorical`",
            NumbersAsTextWarning,
            stacklevel=6,
        )


def _are_numbers(categories: tuple | None) -> bool:
    """Whether categories are text, and each reads as a number; a few integers may be codes."""
    if not categories or not all(isinstance(category, str) for category in categories):
        return False
    try:
        numbers = np.array([float(category) for category in categories])
    except ValueError:
        return False
    return bool(np.isfinite(numbers).all() and (len(numbers) > MAX_CODES or (numbers != np.round(numbers)).any()))


def _real(cells: np.ndarray) -> np.ndarray:
    if cells.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers")
    if cells.dtype.kind in "mM":
        raise TypeError(f"a cell's argument must be a string or a number, got {cells.dtype}; give dates as numbers")
    return cells.astype(object) if cells.dtype.kind in "USb" else cells


class ClassifierTable(ClassifierMixin, TableModel):
    """A `TableModel` that predicts classes."""

    class_weight: dict | str | None = None
    _weight_of_class: np.ndarray | None = None  #: float64 (C,), of the training rows; None = 1 each

    def _fit_target(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, int]:
        """Class codes, int64 (N,); weights of the rows, float64 (N,), None = 1 each; number of classes."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._weight_of_class = None
        weight = checked_weight(sample_weight, y)
        if self.class_weight is not None:
            of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            if not (np.isfinite(of_class).all() and (of_class >= 0).all() and (of_class > 0).any()):
                raise ValueError(
                    f"class_weight must be finite, at least 0, and above 0 for a class, got {of_class.tolist()}"
                )
            weight = in_range(of_class[codes] * (1 if weight is None else weight))
            self._weight_of_class = of_class
        return codes, weight, len(self.classes_)

    def _encode_target(self, y: Any) -> np.ndarray:
        """Class codes of validation rows. Raises ValueError for a class that the training rows do not have."""
        code_of = {name: code for code, name in enumerate(self.classes_.tolist())}
        names = column_or_1d(y).tolist()
        codes = [code_of.get(name) for name in names]
        if None in codes:
            raise ValueError(f"validation rows hold the class {names[codes.index(None)]!r}, which training rows do not")
        return np.array(codes, np.int64)

    def _validation_weight(self, target: np.ndarray) -> np.ndarray | None:
        """Weights of validation rows of encoded classes: float64 (N,), None = 1 each."""
        return None if self._weight_of_class is None else self._weight_of_class[target]

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class of every row, the first one of a tie."""
        posteriors = self.predict_proba(X)
        return self.classes_[np.argmax(posteriors, axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities: float64 (N, C), rows sum to 1, columns as in `classes_`."""
        raise NotImplementedError


class RegressorTable(RegressorMixin, TableModel):
    """A `TableModel` that predicts a number."""

    def _fit_target(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, int]:
        """Target minus its mean, which keeps the moments accurate; weights of the rows; 3 moments."""
        y = np.asarray(y, np.float64)
        weight = checked_weight(sample_weight, y)
        largest = 1.0 if weight is None else weight.max()
        with np.errstate(over="ignore", invalid="ignore"):
            self.mean_ = float(np.average(y, weights=weight))
            squares, plain = len(y) * (y - self.mean_) ** 2 * largest, (y**2).max() * largest
        if not np.isfinite(squares).all():
            raise ValueError(f"squares of targets, times weights, overflow: got {y.min():g} to {y.max():g}; scale them")
        if plain < np.finfo(np.float64).tiny and y.min() < y.max():
            problem = f"got {y.min():g} to {y.max():g}, weights up to {largest:g}; scale them"
            raise ValueError(f"squares of targets, times weights, underflow: {problem}")
        return y - self.mean_, weight, 3

    def _encode_target(self, y: Any) -> np.ndarray:
        """Target of validation rows minus the mean of training. Raises ValueError for one that is not finite."""
        return np.asarray(_check_y(y, y_numeric=True), np.float64) - self.mean_

    def _validation_weight(self, target: np.ndarray) -> None:
        """Weights of validation rows: 1 each."""


def grow_table_tree(
    finder: ColumnSplits, rules: GrowthRules, seed: tuple[int, ...], weight: np.ndarray | None
) -> TableTree:
    """Grow one tree until no node is open; arguments as in `posepipe.learn.growing.grow`."""
    grown = None
    if isinstance(rules, TableGrowthRules):
        grown = finder.grow_sorted(rules, (rules.min_impurity_decrease, rules.total_weight), seed, weight)
    elif rules.min_gain == 0:
        grown = finder.grow_sorted(rules, (0.0, 1.0), seed, weight)
    if grown is not None:
        return TableTree(grown, finder.table.kinds, finder.combinations, finder.moments)
    tree, features = finish(grow(finder, rules, seed, weight))
    feature = tree.feature.copy()
    feature[~tree.is_leaf] = features[feature[~tree.is_leaf]]
    tree = replace(tree, feature=feature)
    return TableTree(tree, finder.table.kinds, finder.combinations, finder.moments, finder.subsets)
