"""What all learners of tables share: tables in, checked and coded; the growth of one tree; answers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from posepipe.learn.growing import GrowthRules, finish, grow
from posepipe.learn.tables.splitting.column_scan import NUMERIC
from posepipe.learn.tables.splitting.column_splits import ColumnSplits
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.schema import Schema, chosen_columns, with_own_types

NO_LIMIT = 1 << 30
"""Depth of a tree that is not limited."""


class TableModel(BaseEstimator):
    """A learner of tables. What its columns are, it learns on fit and keeps in `schema_`."""

    categorical: str | Sequence | None
    missing: str

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _learn_table(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Check training rows: float64 (N, F) coded cells, and the target as it came."""
        numeric = not isinstance(self, ClassifierMixin)
        own_types = with_own_types(X)
        cells, y = validate_data(self, own_types, y, dtype=None, ensure_all_finite="allow-nan", y_numeric=numeric)
        names = getattr(self, "feature_names_in_", [f"column {k}" for k in range(cells.shape[1])])
        self.schema_ = Schema.learn(_real(cells), names, chosen_columns(self.categorical, list(names), X))
        return self.schema_.encode(cells), y

    def _code(self, X: Any) -> np.ndarray:
        """Check rows to be answered: float64 (F, N), coded as in training."""
        check_is_fitted(self)
        cells = validate_data(self, with_own_types(X), dtype=None, ensure_all_finite="allow-nan", reset=False)
        return np.ascontiguousarray(self.schema_.encode(_real(cells)).T)

    def _kinds(self, of_categories: int) -> np.ndarray:
        """How each column is asked: uint8 (F,)."""
        return np.where(self.schema_.is_categorical, of_categories, NUMERIC).astype(np.uint8)

    def _check_missing(self) -> None:
        if self.missing not in ("fractional", "most_common"):
            raise ValueError(f"missing must be 'fractional' or 'most_common', got {self.missing!r}")


def checked_weight(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Weights of the rows, float64 (N,), not negative; None = 1 each."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, y[:, None], ensure_non_negative=True)


def _real(cells: np.ndarray) -> np.ndarray:
    if cells.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers")
    if cells.dtype.kind in "mM":
        raise TypeError(f"a cell's argument must be a string or a number, got {cells.dtype}; give dates as numbers")
    return cells.astype(object) if cells.dtype.kind in "USb" else cells


class ClassifierTable(ClassifierMixin, TableModel):
    """A `TableModel` that predicts classes."""

    class_weight: dict | str | None = None

    def _learn_target(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, int]:
        """Class codes, int64 (N,); weights of the rows, float64 (N,), None = 1 each; and how many classes."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = checked_weight(sample_weight, y)
        if self.class_weight is not None:
            of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            weight = of_class[codes] * (1 if weight is None else weight)
        return codes, weight, len(self.classes_)

    def _code_target(self, y: Any) -> np.ndarray:
        """Codes of other rows' classes. Raises ValueError for a class that training did not know."""
        y = np.asarray(y)
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = self.classes_[codes] != y
        if unknown.any():
            raise ValueError(
                f"validation rows hold the class {y[unknown][:1].tolist()[0]!r}, which training rows do not"
            )
        return codes

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of every row; the first of equals."""
        posteriors = self.predict_proba(X)
        return self.classes_[np.argmax(posteriors, axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior of every class: float64 (N, C), rows sum to 1, columns as in `classes_`."""
        raise NotImplementedError


class RegressorTable(RegressorMixin, TableModel):
    """A `TableModel` that predicts a number."""

    def _learn_target(self, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, int]:
        """The target about its mean, which keeps the moments exact; weights of the rows; and 3 moments."""
        y = np.asarray(y, np.float64)
        weight = checked_weight(sample_weight, y)
        self.mean_ = float(np.average(y, weights=weight))
        return y - self.mean_, weight, 3

    def _code_target(self, y: Any) -> np.ndarray:
        return np.asarray(y, np.float64) - self.mean_


def grow_table_tree(
    finder: ColumnSplits, rules: GrowthRules, seed: tuple[int, ...], weight: np.ndarray | None
) -> TableTree:
    """Grow one tree to its end."""
    tree, features = finish(grow(finder, rules, seed, weight))
    feature = tree.feature.copy()
    feature[~tree.is_leaf] = features[feature[~tree.is_leaf]]
    return TableTree(replace(tree, feature=feature), finder.table.kinds, finder.combinations, finder.moments)
