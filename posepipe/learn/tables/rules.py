"""Rules from trees (Quinlan 1993, chapter 5): one rule per leaf, simplified where that costs no accuracy."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv
from sklearn.utils import check_consistent_length

from posepipe.learn.pruning import in_rows
from posepipe.learn.tables.conditions import (
    EQUAL,
    GREATER,
    LESS_EQUAL,
    NOT_EQUAL,
    ONE_OF,
    Condition,
    SplitConditions,
    class_names,
    format_rows,
    format_weight,
    predicted_classes,
)
from posepipe.learn.tables.single_tree import SingleTreeClassifier
from posepipe.learn.tree import Tree

CONFIDENCE = 0.25
"""Confidence level of C4.5's error limit: probability of the observed errors or fewer at that error rate."""
NO_RULE = -1
"""Index of the rule for a row that no rule covers."""
_MAX_RULE_WIDTH = 80
"""Maximum width to which rules are padded to align their figures, in characters."""

ErrorEstimate = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Maps (weight of misclassified rows, weight of covered rows) of rules to an error rate, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A conjunction of conditions and the class it predicts. Its figures ignore the other rules of a list."""

    conditions: tuple[Condition, ...]  #: empty = every row
    prediction: int  #: class, as its index in `classes_`
    covered: float  #: weight of the rows that meet the conditions
    correct: float  #: weight of those that have the class
    error: float  #: estimated error rate on new rows; 1 without covered rows


@dataclass(frozen=True, slots=True, eq=False)
class RuleList:
    """An ordered list of rules: the first one that covers a row predicts its class."""

    rules: tuple[Rule, ...]
    default: int  #: class of a row that no rule covers, as its index in `classes_`
    measured_on: str  #: rows behind the rules' figures, and the estimate of the error
    splits: SplitConditions  #: meaning of the conditions
    learner: SingleTreeClassifier  #: copy of the classifier, which encodes tables

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def classes_(self) -> np.ndarray:
        """Class labels, (C,)."""
        return self.learner.classes_

    def first_rule(self, X: Any) -> np.ndarray:
        """Return the index of the first rule that covers each row, int64 (N,), or NO_RULE."""
        columns = self.learner._encode(X)
        first = np.full(columns.shape[1], NO_RULE)
        for k, rule in enumerate(self.rules):
            first[(first == NO_RULE) & self.splits.all_met(rule.conditions, columns)] = k
        return first

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of every row, (N,)."""
        predictions = np.array([*(rule.prediction for rule in self.rules), self.default])  # NO_RULE = -1 is the default
        return self.classes_[predictions[self.first_rule(X)]]

    def text(self) -> str:
        """Write one line per rule, then the default, then how the figures were measured."""
        names = class_names(self.learner)
        written = [f"{self._conditions(rule)} {names[rule.prediction]}" for rule in self.rules]
        width = max((len(line) for line in written if len(line) <= _MAX_RULE_WIDTH), default=0)
        lines = [f"{line:<{width}}   ({_figures(rule)})" for line, rule in zip(written, self.rules, strict=True)]
        return "\n".join([*lines, f"otherwise {names[self.default]}", f"[{self.measured_on}]"])

    def _conditions(self, rule: Rule) -> str:
        return f"if {self.splits.conjunction_text(rule.conditions)} then" if rule.conditions else "always"


def _figures(rule: Rule) -> str:
    if rule.covered == 0:
        return "no rows"
    right, estimated = 100 * rule.correct / rule.covered, 100 * (1 - rule.error)
    return f"{format_rows(rule.covered)}, {right:.0f} % right, estimated {estimated:.0f} %"


def extract_rules(classifier: SingleTreeClassifier, names: Sequence[str] | None = None) -> RuleList:
    """Make one rule of each leaf; without missing cells they predict like the tree.

    Parameters
    ----------
    classifier : SingleTreeClassifier, fitted
    names : of the columns, for a training table without names

    Returns
    -------
    RuleList, in the order of the tree's leaves from left to right. The figures are the numbers of training rows
    in the leaves, and the default is the prediction of the root. Implied conditions are dropped: of ``x <= 5``
    and ``x <= 3`` the first

    Raises
    ------
    TypeError
        For a regressor or an ensemble.
    """
    if not isinstance(classifier, SingleTreeClassifier):
        raise TypeError(f"rules need a classifier of a single tree, got {type(classifier).__name__}")
    splits = SplitConditions.of(classifier, names)
    tree, predictions = classifier.tree_.tree, predicted_classes(classifier)
    statistics = in_rows(tree.node_statistics(), classifier.row_weight_)
    rules = []
    for leaf, conditions in _paths(tree, splits):
        covered, correct = float(statistics[leaf].sum()), float(statistics[leaf, predictions[leaf]])
        error = float(pessimistic_error(covered - correct, covered))
        rules.append(Rule(conditions, int(predictions[leaf]), covered, correct, error))
    n_rows = format_weight(statistics[0].sum())
    measured_on = f"measured on the {n_rows} training rows in the tree's leaves; {_PESSIMISTIC}"
    return RuleList(tuple(rules), int(predictions[0]), measured_on, splits, copy.copy(classifier))


def _paths(tree: Tree, splits: SplitConditions) -> list[tuple[int, tuple[Condition, ...]]]:
    """Return every leaf, from left to right, with the conditions on its path."""
    paths: list[tuple[int, tuple[Condition, ...]]] = []
    stack: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while stack:
        node, conditions = stack.pop()
        children = tree.children(node)
        if not children:
            paths.append((node, conditions))
            continue
        branches = splits.branches(int(tree.feature[node]), tree.threshold[node], len(children))
        below = [(child, _add_condition(conditions, new)) for child, new in zip(children, branches, strict=True)]
        stack += reversed(below)
    return paths


def _add_condition(conditions: tuple[Condition, ...], new: Condition) -> tuple[Condition, ...]:
    """Add a deeper condition next to those of its column, in place of the conditions that it implies."""
    implied_by = {
        LESS_EQUAL: (LESS_EQUAL,),
        GREATER: (GREATER,),
        EQUAL: (EQUAL, NOT_EQUAL),
        NOT_EQUAL: (),
        ONE_OF: (ONE_OF,),
    }
    implied = implied_by[new.relation]
    same = [k for k, c in enumerate(conditions) if c.column == new.column]
    place = same[-1] + 1 if same else len(conditions)
    before = [c for c in conditions[:place] if c.column != new.column or c.relation not in implied]
    return (*before, new, *conditions[place:])


_PESSIMISTIC = f"estimated: upper {CONFIDENCE:.0%} confidence limit of the error (Quinlan 1993)".replace("%", " %")


def pessimistic_error(wrong: Any, covered: Any) -> np.ndarray:
    """Upper confidence limit of an error rate after E errors in N rows, C4.5's U_CF(E, N).

    It is the rate p at which E errors or fewer have the probability CF,

        sum over k = 0..E of  C(N, k) p^k (1 - p)^(N - k)  =  CF

    which is the quantile 1 - CF of Beta(E + 1, N - E) and, for E = 0, equals 1 - CF^(1/N). The quantile is also
    defined for fractional weights.

    Parameters
    ----------
    wrong, covered : E and N, 0 <= E <= N; numbers or arrays. CF is CONFIDENCE

    Returns
    -------
    float64, 1 where N = E; U(0, 6) = 0.206, U(0, 9) = 0.143, U(0, 1) = 0.75

    References
    ----------
    Quinlan 1993, section 4.2; as a quantile: Clopper and Pearson, Biometrika 26, 1934. C4.5 itself uses a
    normal approximation: the book has 0.157 for U(1, 16), where the exact value is 0.160.
    """
    wrong, covered = np.broadcast_arrays(np.asarray(wrong, np.float64), np.asarray(covered, np.float64))
    correct = np.maximum(covered - wrong, 0)
    has_correct = correct > 0
    limit = betaincinv(wrong + 1, np.where(has_correct, correct, 1), 1 - CONFIDENCE)
    return np.where(has_correct, limit, 1.0)


def observed_error(wrong: Any, covered: Any) -> np.ndarray:
    """Error rate on the covered rows, float64; 1 where there are none."""
    wrong, covered = np.asarray(wrong, np.float64), np.asarray(covered, np.float64)
    return np.where(covered > 0, wrong / np.where(covered > 0, covered, 1), 1.0)


def prune_rules(rules: RuleList, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> RuleList:
    """Simplify the rules, remove duplicates, and sort.

    A rule drops the condition whose removal gives the lowest estimated error, the last one of a tie, and repeats
    while the estimate does not increase. Rules of leaves without training rows are removed first, because they
    only repeat an ancestor. Rules after one without conditions are removed, because they never apply.

    Parameters
    ----------
    rules : RuleList, by `extract_rules`
    X, y : training rows, of weight 1 each
    validation : (X, y) of other rows; their observed error replaces the pessimistic estimate on training rows

    Returns
    -------
    RuleList, sorted by estimated error, then by coverage in descending order, else in the given order. The default
    is the most frequent class of the training rows that no rule covers, or of all rows if every one is covered

    Raises
    ------
    ValueError
        For rows that do not fit, or a class that the tree does not have.

    References
    ----------
    Quinlan 1993, chapter 5, without its choice of rules by description length. With validation rows: rule
    post-pruning, Mitchell, Machine Learning, 1997, section 3.7.1.2.
    """
    columns, target = _encode_rows(rules, X, y)
    measured, estimate, source = (columns, target), pessimistic_error, f"training rows; {_PESSIMISTIC}"
    if validation is not None:
        measured, estimate = _encode_rows(rules, *validation), observed_error
        source = "validation rows; estimated: the error seen there"
    simplified: dict[tuple[frozenset[Condition], int], Rule] = {}
    for rule in rules.rules:
        if rule.covered > 0:
            simple = _simplify(rule, rules.splits, *measured, estimate)
            simplified.setdefault((frozenset(simple.conditions), simple.prediction), simple)
    ordered = sorted(simplified.values(), key=lambda rule: (rule.error, -rule.covered))
    ends = [k + 1 for k, rule in enumerate(ordered) if not rule.conditions]
    kept = tuple(ordered[: ends[0]] if ends else ordered)
    return replace(
        rules,
        rules=kept,
        default=_default_class(kept, rules.splits, columns, target),
        measured_on=f"measured on {len(measured[1])} {source}",
    )


def _default_class(rules: tuple[Rule, ...], splits: SplitConditions, columns: np.ndarray, target: np.ndarray) -> int:
    """Most frequent class of the rows that no rule covers, or of all rows; the first one of a tie."""
    uncovered = np.ones(len(target), bool)
    for rule in rules:
        uncovered &= ~splits.all_met(rule.conditions, columns)
    return int(np.bincount(target[uncovered] if uncovered.any() else target).argmax())


def _encode_rows(rules: RuleList, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Encoded cells, float64 (F, N), and classes, int64 (N,)."""
    check_consistent_length(X, y)
    return rules.learner._encode(X), rules.learner._encode_target(y)


def _simplify(
    rule: Rule, splits: SplitConditions, columns: np.ndarray, target: np.ndarray, estimate: ErrorEstimate
) -> Rule:
    """Drop conditions while the estimated error does not increase."""
    met = np.zeros((len(rule.conditions), len(target)), bool)
    for k, condition in enumerate(rule.conditions):
        met[k] = splits.met(condition, columns)
    has_class = target == rule.prediction
    unmet = (~met).sum(axis=0)  # conditions that each row does not meet
    kept = list(range(len(met)))
    n_covered, n_correct = (unmet == 0).sum(), (has_class & (unmet == 0)).sum()
    error = estimate(n_covered - n_correct, n_covered)
    while kept:
        # a row that fails a single condition is covered without it
        near = np.flatnonzero(unmet == 1)
        failed = np.argmin(met[:, near], axis=0)
        more = np.bincount(failed, minlength=len(met))
        more_correct = np.bincount(failed[has_class[near]], minlength=len(met))
        errors = estimate(n_covered + more - n_correct - more_correct, n_covered + more)
        drop = min(reversed(kept), key=lambda k: errors[k])
        if errors[drop] > error:
            break
        error, n_covered, n_correct = errors[drop], n_covered + more[drop], n_correct + more_correct[drop]
        unmet -= ~met[drop]
        met[drop] = True
        kept.remove(drop)
    conditions = tuple(rule.conditions[k] for k in kept)
    return Rule(conditions, rule.prediction, float(n_covered), float(n_correct), float(error))
