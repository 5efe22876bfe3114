"""Conditions of the branches of a table's tree, evaluated on rows and written as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posepipe.learn.tables.single_tree import SingleTree, SingleTreeClassifier
from posepipe.learn.tables.splitting.schema import DIGITS, Schema, digits_apart, format_number
from posepipe.learn.tables.splitting.split_gain import MULTIWAY, NUMERIC, SUBSET
from posepipe.learn.tree import Tree

LESS_EQUAL, GREATER, EQUAL, NOT_EQUAL, ONE_OF = "<=", ">", "is", "is not", "is one of"


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition of one branch. A row with a missing cell does not meet it."""

    column: int  #: or, with F columns, F + a row of the tree's combinations
    relation: str  #: LESS_EQUAL or GREATER with a threshold; EQUAL or NOT_EQUAL with a category; ONE_OF with a set
    value: float  #: threshold, code of the category, or row of the categories' sets


@dataclass(frozen=True, slots=True, eq=False)
class SplitConditions:
    """Meaning of the splits of one fitted tree."""

    schema: Schema
    kinds: np.ndarray  #: uint8 (F,), see `posepipe.learn.tables.splitting.split_gain`
    combinations: np.ndarray  #: float64 (D, F), linear combinations of columns
    sets: np.ndarray  #: bool (2 S, K), categories of the first and the second branch of each split by sets
    digits: dict[int, int] = field(default_factory=dict)  #: of the thresholds of a column, where DIGITS are too few

    @classmethod
    def of(cls, learner: SingleTree, names: Sequence[str] | None = None) -> SplitConditions:
        """Take the splits of a fitted learner.

        Parameters
        ----------
        learner : SingleTree, fitted
        names : of the columns, for a training table without names

        Raises
        ------
        ValueError
            When the number of names is not that of the columns, or the learner is no single tree.
        """
        if not isinstance(learner, SingleTree):
            what = "one of its estimators_" if hasattr(learner, "estimators_") else "an ID3, C4.5 or CART tree"
            raise ValueError(f"wanted {what}, got {type(learner).__name__}")
        check_is_fitted(learner)
        schema = learner.schema_
        if names is not None:
            if len(names) != len(schema.names):
                raise ValueError(f"names must be one for each of the {len(schema.names)} columns, got {len(names)}")
            schema = replace(schema, names=tuple(map(str, names)))
        subsets = learner.tree_.subsets
        sets = np.stack([subsets == 0, subsets == 1], axis=1).reshape(2 * len(subsets), subsets.shape[1])
        digits = _digits(learner.tree_.tree, len(learner.tree_.kinds))
        return cls(schema, learner.tree_.kinds, learner.tree_.combinations, sets, digits)

    def branches(self, column: int, threshold: float, n_children: int) -> list[Condition]:
        """Return the condition of each branch of a node, with the node as in `posepipe.learn.tree.Tree`."""
        kind = self.kinds[column] if column < len(self.kinds) else NUMERIC
        if kind == MULTIWAY:
            return [Condition(column, EQUAL, float(code)) for code in range(n_children)]
        if kind == SUBSET:
            return [Condition(column, ONE_OF, 2 * float(threshold) + branch) for branch in range(2)]
        relations = (LESS_EQUAL, GREATER) if kind == NUMERIC else (EQUAL, NOT_EQUAL)
        return [Condition(column, relation, float(threshold)) for relation in relations]

    def met(self, condition: Condition, columns: np.ndarray) -> np.ndarray:
        """Evaluate a condition: bool (N,). ``columns`` float64 (F, N), coded like the training table."""
        cells = self.cells(condition.column, columns)
        if condition.relation == LESS_EQUAL:
            return cells <= condition.value
        if condition.relation == GREATER:
            return cells > condition.value
        if condition.relation == EQUAL:
            return cells == condition.value
        if condition.relation == ONE_OF:
            members = np.append(self.sets[int(condition.value)], False)  # neither missing nor unknown
            known = (cells >= 0) & (cells < len(members))
            return members[np.where(known, cells, -1).astype(np.int64)]
        return (cells != condition.value) & (cells >= 0)  # neither missing nor unknown

    def all_met(self, conditions: Sequence[Condition], columns: np.ndarray) -> np.ndarray:
        """Evaluate a conjunction of conditions: bool (N,)."""
        met = np.ones(columns.shape[1], bool)
        for condition in conditions:
            met &= self.met(condition, columns)
        return met

    def cells(self, column: int, columns: np.ndarray) -> np.ndarray:
        """Return a tested column, or combination, of encoded rows: float64 (N,)."""
        if column < len(self.kinds):
            return columns[column]
        direction = self.combinations[column - len(self.kinds)]
        cells = np.zeros(columns.shape[1])
        for k in np.flatnonzero(direction):  # summed in the order of the tree's kernel, for equal rounding
            cells += direction[k] * columns[k]
        return cells

    def column_text(self, column: int) -> str:
        """Write the tested column: its name, or ``0.5 height - 2 width``."""
        if column < len(self.kinds):
            return _one_line(self.schema.names[column])
        direction = self.combinations[column - len(self.kinds)]
        text = ""
        for k in np.flatnonzero(direction):
            sign = "-" if direction[k] < 0 else "+" if text else ""
            term = f"{abs(direction[k]):.3g} {_one_line(self.schema.names[k])}"
            text += f" {sign} {term}" if text else sign + term
        return text

    def branch_text(self, condition: Condition) -> str:
        """Write a condition without its column: ``<= 6.5``, ``sunny`` or ``not sunny``."""
        if condition.relation in (LESS_EQUAL, GREATER):
            return f"{condition.relation} {self._threshold_text(condition)}"
        if condition.relation == ONE_OF:
            codes = np.flatnonzero(self.sets[int(condition.value)]).tolist()
            return " or ".join(_one_line(self.schema.describe(condition.column, code)) for code in codes)
        category, negated = int(condition.value), condition.relation == NOT_EQUAL
        if negated and self.schema.n_codes[condition.column] == 2:  # of two categories, name the other
            category, negated = 1 - category, False
        return ("not " if negated else "") + _one_line(self.schema.describe(condition.column, category))

    def _threshold_text(self, condition: Condition) -> str:
        """Write a threshold: a number, or the last category up to it in a column of ordered categories."""
        column = condition.column
        if column < len(self.kinds) and self.schema.is_ordered[column]:
            return _one_line(self.schema.describe(column, int(condition.value)))
        return format_number(condition.value, self.digits.get(column, DIGITS))

    def condition_text(self, condition: Condition) -> str:
        """Write a condition: ``width <= 6.5``, ``outlook is sunny``."""
        numeric = condition.relation in (LESS_EQUAL, GREATER)
        interval = not numeric and self.schema.categories[condition.column] is None  # "age above 5 to 8"
        verb = "" if numeric or interval else "is "
        return f"{self.column_text(condition.column)} {verb}{self.branch_text(condition)}"

    def conjunction_text(self, conditions: Sequence[Condition]) -> str:
        """Write a conjunction, with ranges of a column joined: ``2 < width <= 6.5 and outlook is sunny``."""
        parts: list[str] = []
        for k, condition in enumerate(conditions):
            before = conditions[k - 1] if k else condition
            if before.column == condition.column and {before.relation, condition.relation} == {GREATER, LESS_EQUAL}:
                low, high = sorted((before, condition), key=lambda each: each.value)
                column = self.column_text(condition.column)
                parts[-1] = f"{self._threshold_text(low)} < {column} <= {self._threshold_text(high)}"
            else:
                parts.append(self.condition_text(condition))
        return " and ".join(parts)


def _digits(tree: Tree, n_columns: int) -> dict[int, int]:
    """Digits that tell the thresholds of each column apart, where that takes more than DIGITS."""
    digits = {}
    for column in np.unique(tree.feature[~tree.is_leaf]).tolist():
        if column < n_columns:
            thresholds = np.unique(tree.threshold[~tree.is_leaf & (tree.feature == column)])
            digits[column] = digits_apart(tuple(thresholds.tolist()))
    return {column: wanted for column, wanted in digits.items() if wanted > DIGITS}


def class_names(classifier: SingleTreeClassifier) -> list[str]:
    """Return the names of the classes, each on one line."""
    return [_one_line(name) for name in classifier.classes_.tolist()]


def predicted_classes(classifier: SingleTreeClassifier) -> np.ndarray:
    """Return the class that each node predicts, or would as a leaf, as its index in `classes_`: int64 (N,)."""
    posteriors = classifier.tree_.values
    if getattr(classifier, "costs", None) is not None:  # minimum expected cost, as in CartClassifier.predict
        return np.argmin(posteriors @ np.asarray(classifier.costs, np.float64), axis=1)
    return np.argmax(posteriors, axis=1)


def format_weight(weight: float) -> str:
    """Write a number of rows, or a fractional weight of rows."""
    return format_number(round(weight, 2) if weight > 1 else float(f"{round(weight, 9):.2g}"))


def format_rows(weight: float) -> str:
    """Write a weight with its unit: ``no rows``, ``1 row`` or ``2.5 rows``."""
    return "no rows" if weight == 0 else "1 row" if weight == 1 else f"{format_weight(weight)} rows"


def _one_line(text: object) -> str:
    return " ".join(str(text).split()) or "''"
