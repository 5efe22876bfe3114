"""Why a tree predicts what it predicts: the path of a row in words, and the candidates of every split."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from posepipe.learn.tables.conditions import (
    GREATER,
    LESS_EQUAL,
    Condition,
    SplitConditions,
    class_names,
    format_rows,
    format_weight,
    predicted_classes,
)
from posepipe.learn.tables.single_tree import SingleTree, SingleTreeClassifier
from posepipe.learn.tables.splitting.descent import path_indicator
from posepipe.learn.tables.splitting.schema import DIGITS, digits_apart, format_number
from posepipe.learn.tables.splitting.split_gain import EQUAL_GAIN


@dataclass(frozen=True, slots=True)
class Step:
    """One split on the path of a row."""

    node: int
    question: str  #: tested column
    answer: str  #: the row's cell, in the words of the training table
    condition: str  #: condition that the branch stands for
    rows: str  #: training rows of the branch


@dataclass(frozen=True, slots=True)
class Explanation:
    """The path of one row, from the root to a leaf."""

    prediction: str
    rows: str  #: training rows of the whole tree
    steps: tuple[Step, ...]
    #: whether a cell that is missing, or a category that no row of its node has, divides the row among branches; the
    #: path is then the most common one
    is_shared: bool

    def __str__(self) -> str:
        lines = [f"all rows: {self.rows}"]
        for step in self.steps:
            lines.append(f"{step.condition} (here {step.answer}): {step.rows}")
        note = "; the mean of several leaves, because a cell on its path has no branch" if self.is_shared else ""
        return "\n".join([*lines, f"prediction: {self.prediction}{note}"])


def explain(learner: SingleTree, row: Any, names: Sequence[str] | None = None) -> Explanation:
    """Say which conditions lead a row to its prediction, with the training rows that meet them.

    Parameters
    ----------
    learner : SingleTree, fitted; a tree of a forest is one of its `estimators_`
    row : (F,) cells, or a table of one row; the names of a row or table of pandas are checked as `predict` checks them
    names : of the columns, for a training table without names

    Returns
    -------
    Explanation; `str` writes one line for each split. A missing cell takes the branch of maximum training weight

    Raises
    ------
    ValueError
        For more than one row, and for columns of other names, or in another order, than in training.

    Examples
    --------
    >>> from posepipe.learn import Id3Classifier, explain, load_example
    >>> weather = load_example("weather")
    >>> tree = Id3Classifier().fit(weather.rows, weather.target)
    >>> print(explain(tree, ["rain", "mild", "high", "weak"], weather.columns))
    all rows: yes 9, no 5
    outlook is rain (here rain): yes 3, no 2
    wind is weak (here weak): yes 3
    prediction: yes
    """
    table = row if hasattr(row, "columns") else _one_row(row, hasattr(learner, "feature_names_in_"))
    columns = learner._encode(table)
    if columns.shape[1] != 1:
        raise ValueError(f"explain takes one row, got {columns.shape[1]}")
    splits, tree = SplitConditions.of(learner, names), learner.tree_.tree
    describe = _row_counts(learner)
    path = np.flatnonzero(path_indicator(tree, learner.tree_.leaves(columns)).toarray()[0]).tolist()
    steps, is_shared = [], False
    for node, child in pairwise(path):
        column, children = int(tree.feature[node]), tree.children(node)
        branches, cell = splits.branches(column, tree.threshold[node], len(children)), splits.cells(column, columns)[0]
        condition = branches[children.index(child)]
        has_branch = any(splits.met(branch, columns)[0] for branch in branches)
        is_shared |= not has_branch and not cell < 0 and learner.missing == "fractional"  # below 0: unseen="majority"
        apart = _digits_of_both(splits, condition, cell)
        question, answer = splits.column_text(column), _answer(apart, condition, cell, has_branch)
        steps.append(Step(node, question, answer, apart.condition_text(condition), describe(child)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they came above
        found = learner.predict(table)[0]
    text = format_number(float(found)) if not isinstance(learner, SingleTreeClassifier) else str(found)
    return Explanation(text, describe(0), tuple(steps), is_shared)


def _one_row(row: Any, named: bool) -> Any:
    if named and hasattr(row, "to_frame"):
        return row.to_frame().T.infer_objects()
    cells = row if isinstance(row, np.ndarray) else np.array(row, object)
    if cells.dtype == object and all(isinstance(cell, float | int | np.number) for cell in cells.ravel()):
        cells = cells.astype(np.float64)
    return cells.reshape(1, -1) if cells.ndim == 1 else cells


def _row_counts(learner: SingleTree) -> Any:
    """Return a function that describes the training rows of a node: ``yes 3, no 2``, or ``5 rows, mean 6.5``."""
    tree = learner.tree_
    if not isinstance(learner, SingleTreeClassifier):
        means = tree.values[:, 0] + learner.mean_
        return lambda node: f"{format_rows(float(tree.weight[node]))}, mean {format_number(means[node])}"
    names, statistics, predicted = class_names(learner), tree.tree.node_statistics(), predicted_classes(learner)

    def describe(node: int) -> str:
        present = [k for k in (-statistics[node]).argsort(kind="stable") if statistics[node, k] > 0]
        if not present:
            return f"no rows, {names[predicted[node]]} as above"
        return ", ".join(f"{names[k]} {format_weight(statistics[node, k])}" for k in present)

    return describe


def _digits_of_both(splits: SplitConditions, condition: Condition, cell: float) -> SplitConditions:
    """Write a threshold with enough digits to tell the row's number from it."""
    if condition.relation not in (LESS_EQUAL, GREATER) or np.isnan(cell) or cell == condition.value:
        return splits
    digits = max(digits_apart((float(cell), condition.value)), splits.digits.get(condition.column, DIGITS))
    return replace(splits, digits=splits.digits | {condition.column: digits})


def _answer(splits: SplitConditions, condition: Condition, cell: float, has_branch: bool) -> str:
    """Write the cell that a condition tests."""
    if np.isnan(cell):
        return "missing"
    column, schema = condition.column, splits.schema
    if column >= len(splits.kinds) or (schema.categories[column] is None and schema.edges[column] is None):
        return format_number(cell, splits.digits.get(column, DIGITS))
    if cell < 0:
        return "a category unknown to training"
    return schema.describe(column, int(cell)) + ("" if has_branch else ", which no row of the node has")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column that a node could be split by."""

    node: int
    column: str
    gain: float  #: in the unit of the criterion; negative infinity where no split separates the rows
    ratio: float  #: gain over intrinsic value
    score: float  #: by which the learner chooses; negative infinity where it leaves the column out
    is_chosen: bool

    @property
    def is_below_average(self) -> bool:
        """Whether C4.5 leaves the column out, whatever its ratio, for a gain below the node's average."""
        return bool(np.isneginf(self.score) and self.gain > EQUAL_GAIN)


@dataclass(frozen=True, slots=True)
class SplitLog:
    """All candidates of all splits of a tree, node by node in the order of growth."""

    candidates: tuple[Candidate, ...]

    def of(self, node: int) -> tuple[Candidate, ...]:
        """Return the candidates of one node."""
        return tuple(candidate for candidate in self.candidates if candidate.node == node)

    def __str__(self) -> str:
        width = max((len(candidate.column) for candidate in self.candidates), default=0)
        lines = []
        for c in self.candidates:
            mark = "  <- split" if c.is_chosen else "  below the average gain" if c.is_below_average else ""
            figures = "cannot separate" if np.isneginf(c.gain) else f"gain {c.gain:.3f}  ratio {c.ratio:.3f}"
            lines.append(f"node {c.node}  {c.column:<{width}}  {figures}{mark}")
        return "\n".join(lines)


def split_log(learner: SingleTree, names: Sequence[str] | None = None) -> SplitLog:
    """Return the candidates of every split, of a tree fitted with ``log=True``.

    Parameters
    ----------
    learner : SingleTree, fitted with ``log=True``
    names : of the columns, for a training table without names

    Returns
    -------
    SplitLog, of the splits before pruning; `str` writes one line for each candidate

    Raises
    ------
    ValueError
        For a tree fitted without a log.

    Examples
    --------
    >>> from posepipe.learn import Id3Classifier, load_example, split_log
    >>> loans = load_example("loans")
    >>> tree = Id3Classifier().fit(loans.rows, loans.target, log=True)
    >>> print(split_log(tree, loans.columns))
    node 0  age     gain 0.083  ratio 0.052
    node 0  job     gain 0.324  ratio 0.352
    node 0  house   gain 0.420  ratio 0.433  <- split
    node 0  credit  gain 0.363  ratio 0.232
    node 1  age     gain 0.252  ratio 0.164
    node 1  job     gain 0.918  ratio 1.000  <- split
    node 1  house   cannot separate
    node 1  credit  gain 0.474  ratio 0.340
    """
    log = getattr(learner, "_log", None)
    if log is None:
        raise ValueError("the candidates of the splits are not known: fit the tree with log=True")
    splits, found = SplitConditions.of(learner, names), []
    inner = np.flatnonzero(~learner._grown[0].is_leaf)
    for node, (columns, gain, intrinsic, score) in zip(inner.tolist(), log, strict=True):
        chosen = int(np.argmax(score >= score.max() - 1e-10))
        for k, column in enumerate(columns.tolist()):
            ratio = gain[k] / intrinsic[k] if intrinsic[k] > 0 and gain[k] > 0 else 0.0
            name = splits.column_text(column) if column < len(splits.kinds) else "combination"
            found.append(Candidate(node, name, float(gain[k]), float(ratio), float(score[k]), k == chosen))
    return SplitLog(tuple(found))
