"""Naive twin of posepipe/learn/stopping.py: from the root down, a split is tested and what lies below it after it."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.reference.learn.pruning import Node

SAME = 1e-12


def chi_square_tail(statistic, freedom):
    """Probability that a chi-square variable of so many degrees of freedom exceeds a value: its finite series.

    Abramowitz and Stegun 1964, 26.4.4 and 26.4.5.
    """
    half = statistic / 2
    if freedom % 2 == 0:
        return math.exp(-half) * sum(half**i / math.factorial(i) for i in range(freedom // 2))
    series = sum(half ** (i + 0.5) / math.gamma(i + 1.5) for i in range((freedom - 1) // 2))
    return math.erfc(math.sqrt(half)) + math.exp(-half) * series


def p_value(table):
    """Pearson's test of independence for rows of counts; 1 where there is nothing to compare."""
    rows = [row for row in table if sum(row) > 0]
    columns = [column for column in zip(*rows, strict=True) if sum(column) > 0]
    if len(rows) < 2 or len(columns) < 2:
        return 1.0
    total, statistic = sum(map(sum, rows)), 0.0
    for column in columns:
        for row, observed in zip(rows, column, strict=True):
            expected = sum(row) * sum(column) / total
            statistic += (observed - expected) ** 2 / expected
    return chi_square_tail(statistic, (len(rows) - 1) * (len(columns) - 1))


def chi_square_stop(node: Node, significance):
    """The tree without splits that chance may have made."""
    if not node.children:
        return node
    if p_value([child.training for child in node.children]) > significance:
        return replace(node, children=())
    return replace(node, children=tuple(chi_square_stop(child, significance) for child in node.children))


def answer(node: Node, above, moments):
    """What a node says: a class or a mean; one that no training row reached, what the node above it says."""
    if not any(node.training):
        return above
    return node.training[1] / node.training[0] if moments else node.training.index(max(node.training))


def errors(node: Node, said, moments):
    """Errors of one answer on the validation rows of a node: how many are of another class, or summed squares."""
    if moments:
        weight, total, squares = node.validation
        return squares - 2 * said * total + said * said * weight
    return sum(node.validation) - node.validation[said]


def validation_stop(node: Node, moments=False, above=None):
    """The tree without splits that do not lower the errors on validation rows, and the errors of its leaves."""
    said = answer(node, above, moments)
    now = errors(node, said, moments)
    after = sum(errors(child, answer(child, said, moments), moments) for child in node.children)
    if not node.children or after >= now - SAME:
        return replace(node, children=()), now
    below = [validation_stop(child, moments, said) for child in node.children]
    return replace(node, children=tuple(child for child, _ in below)), sum(wrong for _, wrong in below)
