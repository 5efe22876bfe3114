"""What the nodes of a table's tree ask, and what each branch demands of a row; in words, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from posepipe.learn.tables.single_tree import SingleTree, SingleTreeClassifier
from posepipe.learn.tables.splitting.column_scan import EACH, NUMERIC
from posepipe.learn.tables.splitting.schema import Schema

AT_MOST, ABOVE, IS, IS_NOT = "<=", ">", "is", "is not"


@dataclass(frozen=True, slots=True)
class Condition:
    """What one branch demands of a row. A row whose cell is missing meets none."""

    column: int  #: or, of F columns, F + a row of the tree's combinations
    relation: str  #: AT_MOST or ABOVE a threshold; IS or IS_NOT a category
    value: float  #: the threshold, or the category's code


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """The questions of one fitted tree."""

    schema: Schema
    kinds: np.ndarray  #: uint8 (F,), see `posepipe.learn.tables.splitting.column_scan`
    combinations: np.ndarray  #: float64 (D, F), linear combinations of columns

    @classmethod
    def of(cls, learner: SingleTree, names: Sequence[str] | None = None) -> Questions:
        """Those of a fitted learner. ``names`` of the columns, for a table that came without.

        Raises
        ------
        ValueError
            For another number of names than of columns.
        """
        schema = learner.schema_
        if names is not None:
            if len(names) != len(schema.names):
                raise ValueError(f"names must be one for each of the {len(schema.names)} columns, got {len(names)}")
            schema = replace(schema, names=tuple(map(str, names)))
        return cls(schema, learner.tree_.kinds, learner.tree_.combinations)

    def branches(self, column: int, threshold: float, n_children: int) -> list[Condition]:
        """What the branches of a node demand, in their order; the node as `posepipe.learn.tree.Tree` has it."""
        kind = self.kinds[column] if column < len(self.kinds) else NUMERIC
        if kind == EACH:
            return [Condition(column, IS, float(code)) for code in range(n_children)]
        relations = (AT_MOST, ABOVE) if kind == NUMERIC else (IS, IS_NOT)
        return [Condition(column, relation, float(threshold)) for relation in relations]

    def met(self, condition: Condition, columns: np.ndarray) -> np.ndarray:
        """Which rows meet a condition: bool (N,). ``columns`` float64 (F, N), coded like the training table."""
        cells = self._cells(condition.column, columns)
        if condition.relation == AT_MOST:
            return cells <= condition.value
        if condition.relation == ABOVE:
            return cells > condition.value
        if condition.relation == IS:
            return cells == condition.value
        return (cells != condition.value) & ~np.isnan(cells)

    def all_met(self, conditions: Sequence[Condition], columns: np.ndarray) -> np.ndarray:
        """Which rows meet all conditions: bool (N,)."""
        met = np.ones(columns.shape[1], bool)
        for condition in conditions:
            met &= self.met(condition, columns)
        return met

    def _cells(self, column: int, columns: np.ndarray) -> np.ndarray:
        if column < len(self.kinds):
            return columns[column]
        direction = self.combinations[column - len(self.kinds)]
        cells = np.zeros(columns.shape[1])
        for k in np.flatnonzero(direction):  # summed in the order of the tree's own kernel, to the same bits
            cells += direction[k] * columns[k]
        return cells

    def subject(self, column: int) -> str:
        """What is asked for: a column's name, or ``0.5 height - 2 width``."""
        if column < len(self.kinds):
            return _one_line(self.schema.names[column])
        direction = self.combinations[column - len(self.kinds)]
        text = ""
        for k in np.flatnonzero(direction):
            sign = "-" if direction[k] < 0 else "+" if text else ""
            term = f"{abs(direction[k]):.3g} {_one_line(self.schema.names[k])}"
            text += f" {sign} {term}" if text else sign + term
        return text

    def answer(self, condition: Condition) -> str:
        """A branch in words: ``<= 6.5``, ``sunny`` or ``not sunny``."""
        if condition.relation in (AT_MOST, ABOVE):
            return f"{condition.relation} {number(condition.value)}"
        category, other = int(condition.value), condition.relation == IS_NOT
        if other and self.schema.n_codes[condition.column] == 2:  # not the one is the other
            category, other = 1 - category, False
        return ("not " if other else "") + _one_line(self.schema.describe(condition.column, category))

    def words(self, condition: Condition) -> str:
        """A condition in words: ``width <= 6.5``, ``outlook is sunny``."""
        numeric = condition.relation in (AT_MOST, ABOVE)
        interval = not numeric and self.schema.categories[condition.column] is None  # "age above 5 to 8"
        verb = "" if numeric or interval else "is "
        return f"{self.subject(condition.column)} {verb}{self.answer(condition)}"

    def all_in_words(self, conditions: Sequence[Condition]) -> str:
        """Conditions that are joined, those of a column side by side: ``2 < width <= 6.5 and outlook is sunny``."""
        parts: list[str] = []
        for k, condition in enumerate(conditions):
            before = conditions[k - 1] if k else condition
            if before.column == condition.column and {before.relation, condition.relation} == {ABOVE, AT_MOST}:
                low, high = sorted((before.value, condition.value))
                parts[-1] = f"{number(low)} < {self.subject(condition.column)} <= {number(high)}"
            else:
                parts.append(self.words(condition))
        return " and ".join(parts)


def class_names(classifier: SingleTreeClassifier) -> list[str]:
    """Names of the classes, one line each."""
    return [_one_line(name) for name in classifier.classes_.tolist()]


def answers_of_nodes(classifier: SingleTreeClassifier) -> np.ndarray:
    """Class that each node says, or would as a leaf, by its place among the classes: int64 (N,)."""
    posteriors = classifier.tree_.values
    if getattr(classifier, "costs", None) is not None:  # as CartClassifier.predict weighs its mistakes
        return np.argmin(posteriors @ np.asarray(classifier.costs, np.float64), axis=1)
    return np.argmax(posteriors, axis=1)


def number(value: float) -> str:
    """Six digits, and no exponent where a plain number does."""
    return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"


def amount(weight: float) -> str:
    """A number of rows, or the weight of rows that count in part."""
    return number(round(weight, 2))


def _one_line(text: object) -> str:
    return " ".join(str(text).split()) or "''"
