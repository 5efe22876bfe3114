"""Naive twin of posepipe/learn/tables/splitting/column_scan.py.

Every question about one column, from the rows themselves.

A column is a list of cells, None where a cell is missing; a question parts its rows into branches, None where
the branch is not known. Quinlan 1993, chapter 2 and section 3.2; Breiman et al. 1984, chapters 2, 4 and 8.
"""

from __future__ import annotations

import math
from itertools import pairwise

from tests.reference.learn import tree_criteria

NUMERIC, EACH, EQUALS = "numeric", "each", "equals"
SAME_GAIN = 1e-9  #: gains that differ by less are the same number
NO_SPLIT = (-math.inf, 0.0, 0.0)


def impurity(criterion, target, weights, costs=None):
    """Of the rows of one node or branch. ``costs`` as in `tree_criteria.gini`."""
    if criterion == "gini":
        return tree_criteria.gini(target, weights, costs)
    return getattr(tree_criteria, criterion)(target, weights)


def of_rows(values, rows):
    return [values[row] for row in rows]


def gain(criterion, branches, target, weights, costs=None):
    """Impurity saved on the rows whose branch is known, times their share of the weight."""
    known = [row for row, branch in enumerate(branches) if branch is not None]
    known_weight = sum(of_rows(weights, known))
    saved = impurity(criterion, of_rows(target, known), of_rows(weights, known), costs)
    for branch in set(of_rows(branches, known)):
        inside = [row for row in known if branches[row] == branch]
        share = sum(of_rows(weights, inside)) / known_weight
        saved -= share * impurity(criterion, of_rows(target, inside), of_rows(weights, inside), costs)
    return saved * known_weight / sum(weights)


def intrinsic_value(branches, weights):
    """Bits needed to tell the branch, "not known" being one."""
    return tree_criteria.entropy(["unknown" if branch is None else branch for branch in branches], weights)


def questions(kind, column):
    """All that may be asked of a column: pairs of a threshold or category, and the branch of every row."""
    there = sorted({cell for cell in column if cell is not None})
    if kind == NUMERIC:
        asked = [((low + high) / 2, lambda cell, high=high: cell >= high) for low, high in pairwise(there)]
    elif kind == EQUALS:
        asked = [(category, lambda cell, category=category: cell != category) for category in there]
    else:
        asked = [(0.0, lambda cell: cell)]
    return [(name, [None if cell is None else branch(cell) for cell in column]) for name, branch in asked]


def allowed(branches, weights, min_leaf):
    """Whether two branches at least have rows, and enough of them."""
    of_branch = tree_criteria.weight_by(branches, weights)
    of_branch.pop(None, None)
    return sum(weight >= min_leaf for weight in of_branch.values()) >= 2


def best_split(kind, column, target, weights, criterion, costs=None, min_leaf=0.0):
    """Gain, intrinsic value and threshold or category of the best question, the first of equals.

    What parts no rows has a gain of minus infinity; the threshold of a question for each category is 0.
    """
    best = NO_SPLIT
    for name, branches in questions(kind, column):
        if allowed(branches, weights, min_leaf):
            saved = gain(criterion, branches, target, weights, costs)
            if saved > best[0] + SAME_GAIN:
                best = saved, intrinsic_value(branches, weights), name
    return best


def combine(coefficients, columns):
    """Linear combination of columns, row by row; a row with a missing cell has none."""
    used = [(c, column) for c, column in zip(coefficients, columns, strict=True) if c != 0]
    rows = range(len(columns[0]))
    return [
        None if any(column[row] is None for _, column in used) else sum(c * column[row] for c, column in used)
        for row in rows
    ]


def best_of_columns(splits, choice, column_costs=None, guard=True):
    """Number of the best column by ``choice``, "gain" or "gain ratio"; the first of equals, None where none will do.

    ``splits`` holds what `best_split` says of every column. By gain ratio a column must save something and, with
    ``guard``, at least the average of all that part rows. With costs the score is (gain ratio)^2 / cost.
    """
    possible = [k for k, (saved, _, _) in enumerate(splits) if saved > -math.inf]
    if not possible:
        return None
    if choice == "gain":
        score = {k: splits[k][0] for k in possible}
    else:
        average = sum(splits[k][0] for k in possible) / len(possible)
        least = average - SAME_GAIN if guard else 0
        score = {k: splits[k][0] / splits[k][1] for k in possible if splits[k][0] >= max(least, SAME_GAIN)}
        if not score:
            return None
        if column_costs is not None:
            score = {k: ratio * ratio / column_costs[k] for k, ratio in score.items()}
    most = max(score.values())
    return min(k for k, own in score.items() if own >= most - SAME_GAIN)
