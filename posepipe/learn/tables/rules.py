"""A tree as a list of rules (Quinlan 1993, chapter 5): one for each leaf, shortened where that costs no accuracy."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv
from sklearn.utils import check_consistent_length

from posepipe.learn.tables.questions import (
    ABOVE,
    AT_MOST,
    IS,
    IS_NOT,
    Condition,
    Questions,
    amount,
    answers_of_nodes,
    class_names,
)
from posepipe.learn.tables.single_tree import SingleTreeClassifier
from posepipe.learn.tree import Tree

CONFIDENCE = 0.25
"""C4.5's: how likely so few errors, or fewer, would be if a rule's error rate were at the limit."""
NO_RULE = -1
"""Rule of a row that no rule covers."""
_WIDEST = 80
"""Rules are padded to the longest of at most so many letters, so that their figures stand in a column."""

ErrorEstimate = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(weight of the rows that rules get wrong, weight of the rows that they cover) to an error from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions are met, then a class. The figures are of all rows that meet them, alone, in no order."""

    conditions: tuple[Condition, ...]  #: none = every row
    answer: int  #: class, its place in `classes_`
    covered: float  #: rows that meet the conditions, or their weight
    right: float  #: those of them that have the class
    error: float  #: estimated share of new rows that it gets wrong; 1 where nothing is known


@dataclass(frozen=True, slots=True, eq=False)
class RuleList:
    """Rules in the order in which they are asked: the first that covers a row answers."""

    rules: tuple[Rule, ...]
    default: int  #: class of a row that no rule covers, its place in `classes_`
    measured_on: str  #: what the rules' figures were counted on, and how their error was estimated
    questions: Questions  #: what the conditions mean
    learner: SingleTreeClassifier  #: as it was when it was made into rules; it reads tables

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def classes_(self) -> np.ndarray:
        return self.learner.classes_

    def first_rule(self, X: Any) -> np.ndarray:
        """The rule that answers each row, int64 (N,), or NO_RULE. A missing cell meets no condition."""
        columns = self.learner._code(X)
        first = np.full(columns.shape[1], NO_RULE)
        for k, rule in enumerate(self.rules):
            first[(first == NO_RULE) & self.questions.all_met(rule.conditions, columns)] = k
        return first

    def predict(self, X: Any) -> np.ndarray:
        """Class of every row, (N,)."""
        answers = np.array([*(rule.answer for rule in self.rules), self.default])  # NO_RULE = -1 reads the default
        return self.classes_[answers[self.first_rule(X)]]

    def text(self) -> str:
        """A line a rule, then the default, then what was measured."""
        names = class_names(self.learner)
        said = [f"{self._conditions(rule)} {names[rule.answer]}" for rule in self.rules]
        width = max((len(line) for line in said if len(line) <= _WIDEST), default=0)
        lines = [f"{line:<{width}}   ({_figures(rule)})" for line, rule in zip(said, self.rules, strict=True)]
        return "\n".join([*lines, f"otherwise {names[self.default]}", f"[{self.measured_on}]"])

    def _conditions(self, rule: Rule) -> str:
        return f"if {self.questions.all_in_words(rule.conditions)} then" if rule.conditions else "always"


def _figures(rule: Rule) -> str:
    if rule.covered == 0:
        return "no rows"
    rows = "1 row" if rule.covered == 1 else f"{amount(rule.covered)} rows"
    return f"{rows}, {100 * rule.right / rule.covered:.0f} % right, estimated {100 * (1 - rule.error):.0f} %"


def extract_rules(classifier: SingleTreeClassifier, names: Sequence[str] | None = None) -> RuleList:
    """One rule for each leaf, which together answer as the tree does, as long as no cell is missing.

    Parameters
    ----------
    classifier : fitted
    names : of the columns, for a table that came without

    Returns
    -------
    RuleList, in the order of the tree's leaves from left to right. Its figures are the leaves' own weights of
    training rows; the default is what the tree says at its root. Conditions that a deeper one implies are
    left out: of ``x <= 5`` and ``x <= 3`` the first

    Raises
    ------
    TypeError
        For a learner that predicts a number, or more than one tree.
    """
    if not isinstance(classifier, SingleTreeClassifier):
        raise TypeError(f"rules are made of one tree that predicts classes, got {type(classifier).__name__}")
    questions = Questions.of(classifier, names)
    tree, answers = classifier.tree_.tree, answers_of_nodes(classifier)
    statistics = tree.node_statistics()
    rules = []
    for leaf, conditions in _paths(tree, questions):
        covered, right = float(statistics[leaf].sum()), float(statistics[leaf, answers[leaf]])
        error = float(pessimistic_error(covered - right, covered))
        rules.append(Rule(conditions, int(answers[leaf]), covered, right, error))
    measured_on = f"measured on the {amount(statistics[0].sum())} training rows in the tree's leaves; {_PESSIMISTIC}"
    return RuleList(tuple(rules), int(answers[0]), measured_on, questions, copy.copy(classifier))


def _paths(tree: Tree, questions: Questions) -> list[tuple[int, tuple[Condition, ...]]]:
    """Every leaf, from left to right, and what a row must meet to get there."""
    found: list[tuple[int, tuple[Condition, ...]]] = []
    waiting: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while waiting:
        node, conditions = waiting.pop()
        children = tree.children(node)
        if not children:
            found.append((node, conditions))
            continue
        demands = questions.branches(int(tree.feature[node]), tree.threshold[node], len(children))
        further = [(child, _and(conditions, demand)) for child, demand in zip(children, demands, strict=True)]
        waiting += reversed(further)
    return found


def _and(conditions: tuple[Condition, ...], new: Condition) -> tuple[Condition, ...]:
    """Add a condition from further down, in place of those that imply less, beside others of its column."""
    implied = {AT_MOST: (AT_MOST,), ABOVE: (ABOVE,), IS: (IS, IS_NOT), IS_NOT: ()}[new.relation]
    same = [k for k, c in enumerate(conditions) if c.column == new.column]
    place = same[-1] + 1 if same else len(conditions)
    before = [c for c in conditions[:place] if c.column != new.column or c.relation not in implied]
    return (*before, new, *conditions[place:])


_PESSIMISTIC = f"estimated: upper {CONFIDENCE:.0%} confidence limit of the error (Quinlan 1993)".replace("%", " %")


def pessimistic_error(wrong: Any, covered: Any) -> np.ndarray:
    """Upper confidence limit of an error rate, of which E of N rows were seen: C4.5's U_CF(E, N).

    It is the rate p at which so few errors have the probability CF,

        sum over k = 0..E of  C(N, k) p^k (1 - p)^(N - k)  =  CF

    in closed form 1 - CF^(1/N) for E = 0, and else the quantile 1 - CF of Beta(E + 1, N - E), which also
    serves rows that count in part.

    Parameters
    ----------
    wrong, covered : E and N, 0 <= E <= N; numbers or arrays. CF is CONFIDENCE

    Returns
    -------
    float64, 1 where N = E; U(0, 6) = 0.206, U(0, 9) = 0.143, U(0, 1) = 0.75

    References
    ----------
    Quinlan 1993, section 4.2; as a quantile: Clopper and Pearson, Biometrika 26, 1934. C4.5's program
    approximates it by a normal distribution: the book has 0.157 for U(1, 16), which is 0.160.
    """
    wrong, covered = np.broadcast_arrays(np.asarray(wrong, np.float64), np.asarray(covered, np.float64))
    right = np.maximum(covered - wrong, 0)
    some = right > 0
    limit = betaincinv(wrong + 1, np.where(some, right, 1), 1 - CONFIDENCE)
    return np.where(some, limit, 1.0)


def observed_error(wrong: Any, covered: Any) -> np.ndarray:
    """Share of the rows that were got wrong, float64; 1 where there were none."""
    wrong, covered = np.asarray(wrong, np.float64), np.asarray(covered, np.float64)
    return np.where(covered > 0, wrong / np.where(covered > 0, covered, 1), 1.0)


def prune_rules(rules: RuleList, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> RuleList:
    """Shorten each rule, drop doubles, and sort.

    A rule loses the condition without which its estimated error is least, the last of equals, and so on while
    the estimate does not rise. Rules of leaves that no training row reached are left out first: they only
    repeat what the tree says above. What follows a rule without conditions would never be asked, and goes.

    Parameters
    ----------
    rules : of `extract_rules`
    X, y : training rows, each of which counts once, whatever it weighed when the tree was grown
    validation : other rows (X, y), on which the error is then measured as it is, in place of the pessimistic
        estimate from the training rows

    Returns
    -------
    RuleList, by estimated error, then coverage, largest first, then the order in which they came; its default is
    the commonest class of the training rows that no rule covers, or of all if there are none, the first of equals

    Raises
    ------
    ValueError
        For rows that do not fit, or a class that the tree does not know.

    References
    ----------
    Quinlan 1993, chapter 5, without its choice of rules by description length. With validation rows: rule
    post-pruning, Mitchell, Machine Learning, 1997, section 3.7.1.2.
    """
    columns, target = _read(rules, X, y)
    measured, estimate, said = (columns, target), pessimistic_error, f"training rows; {_PESSIMISTIC}"
    if validation is not None:
        measured, estimate = _read(rules, *validation), observed_error
        said = "validation rows; estimated: the error seen there"
    shortened: dict[tuple[frozenset[Condition], int], Rule] = {}
    for rule in rules.rules:
        if rule.covered > 0:
            short = _shorten(rule, rules.questions, *measured, estimate)
            shortened.setdefault((frozenset(short.conditions), short.answer), short)
    ordered = sorted(shortened.values(), key=lambda rule: (rule.error, -rule.covered))
    ends = [k + 1 for k, rule in enumerate(ordered) if not rule.conditions]
    pruned = replace(
        rules,
        rules=tuple(ordered[: ends[0]] if ends else ordered),
        measured_on=f"measured on {len(measured[1])} {said}",
    )
    uncovered = np.ones(len(target), bool)
    for rule in pruned.rules:
        uncovered &= ~rules.questions.all_met(rule.conditions, columns)
    left = target[uncovered] if uncovered.any() else target
    return replace(pruned, default=int(np.bincount(left).argmax()))


def _read(rules: RuleList, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Coded cells, float64 (F, N), and classes, int64 (N,)."""
    check_consistent_length(X, y)
    return rules.learner._code(X), rules.learner._code_target(y)


def _shorten(
    rule: Rule, questions: Questions, columns: np.ndarray, target: np.ndarray, estimate: ErrorEstimate
) -> Rule:
    """Drop conditions while the estimated error does not rise."""
    met = np.zeros((len(rule.conditions), len(target)), bool)
    for k, condition in enumerate(rule.conditions):
        met[k] = questions.met(condition, columns)
    right = target == rule.answer
    unmet = (~met).sum(axis=0)  # of each row
    kept = list(range(len(met)))
    n_covered, n_right = (unmet == 0).sum(), (right & (unmet == 0)).sum()
    error = estimate(n_covered - n_right, n_covered)
    while kept:
        # a row that one condition alone keeps out comes in without it
        near = np.flatnonzero(unmet == 1)
        barrier = np.argmin(met[:, near], axis=0)
        more = np.bincount(barrier, minlength=len(met))
        more_right = np.bincount(barrier[right[near]], minlength=len(met))
        errors = estimate(n_covered + more - n_right - more_right, n_covered + more)
        drop = min(reversed(kept), key=lambda k: errors[k])
        if errors[drop] > error:
            break
        error, n_covered, n_right = errors[drop], n_covered + more[drop], n_right + more_right[drop]
        unmet -= ~met[drop]
        met[drop] = True
        kept.remove(drop)
    conditions = tuple(rule.conditions[k] for k in kept)
    return Rule(conditions, rule.answer, float(n_covered), float(n_right), float(error))
