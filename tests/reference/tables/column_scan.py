"""Naive twin of posepipe/learn/tables/splitting/column_scan.py.

Every split of one column, from the rows themselves.

A column is a list of cells, None where a cell is missing. A split assigns each row a branch, None where the
branch is unknown. Quinlan 1993, chapter 2 and section 3.2; Breiman et al. 1984, chapters 2, 4 and 8.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise

from tests.reference.learn import tree_criteria

NUMERIC, MULTIWAY, ONE_VS_REST, SUBSET = "numeric", "multiway", "one-vs-rest", "subset"
SAME_GAIN = 1e-9  #: maximum difference of gains that count as equal
NO_SPLIT = (-math.inf, 0.0, 0.0)


def impurity(criterion, target, weights, costs=None):
    """Impurity of the rows of one node or branch; ``costs`` as in `tree_criteria.gini`."""
    if criterion == "gini":
        return tree_criteria.gini(target, weights, costs)
    return getattr(tree_criteria, criterion)(target, weights)


def of_rows(values, rows):
    return [values[row] for row in rows]


def gain(criterion, branches, target, weights, costs=None):
    """Impurity decrease on the rows of known branch, times their share of the weight."""
    known = [row for row, branch in enumerate(branches) if branch is not None]
    known_weight = sum(of_rows(weights, known))
    decrease = impurity(criterion, of_rows(target, known), of_rows(weights, known), costs)
    for branch in set(of_rows(branches, known)):
        inside = [row for row in known if branches[row] == branch]
        share = sum(of_rows(weights, inside)) / known_weight
        decrease -= share * impurity(criterion, of_rows(target, inside), of_rows(weights, inside), costs)
    return decrease * known_weight / sum(weights)


def intrinsic_value(branches, weights):
    """Entropy of the branches in bits, with "unknown" as one more branch."""
    return tree_criteria.entropy(["unknown" if branch is None else branch for branch in branches], weights)


def splits(kind, column):
    """All splits of a column: pairs of a threshold or category, and the branch of every row."""
    present = sorted({cell for cell in column if cell is not None})
    if kind == NUMERIC:
        tests = [((low + high) / 2, lambda cell, high=high: cell >= high) for low, high in pairwise(present)]
    elif kind == SUBSET:  # all sets that do not hold the last category
        sets = [set(inside) for size in range(1, len(present)) for inside in combinations(present[:-1], size)]
        tests = [(0.0, lambda cell, inside=inside: cell not in inside) for inside in sets]
    elif kind == ONE_VS_REST:
        tests = [(category, lambda cell, category=category: cell != category) for category in present]
    else:
        tests = [(0.0, lambda cell: cell)]
    return [(name, [None if cell is None else branch(cell) for cell in column]) for name, branch in tests]


def allowed(branches, weights, min_leaf):
    """Whether at least two branches have rows and the minimum weight."""
    of_branch = tree_criteria.weight_by(branches, weights)
    of_branch.pop(None, None)
    return sum(weight >= min_leaf for weight in of_branch.values()) >= 2


def best_split(kind, column, target, weights, criterion, costs=None, min_leaf=0.0, sizes=None):
    """Gain, intrinsic value and threshold or category of the best split, the first one of a tie.

    Without a split the gain is minus infinity. The threshold of a multiway split is 0. ``sizes`` is what each row
    adds to the size of its branch; None = its weight.
    """
    best = NO_SPLIT
    for name, branches in splits(kind, column):
        if allowed(branches, weights if sizes is None else sizes, min_leaf):
            decrease = gain(criterion, branches, target, weights, costs)
            if decrease > best[0] + SAME_GAIN:
                best = decrease, intrinsic_value(branches, weights), name
    return best


def combine(coefficients, columns):
    """Linear combination of columns, row by row; None for a row with a missing cell."""
    used = [(c, column) for c, column in zip(coefficients, columns, strict=True) if c != 0]
    rows = range(len(columns[0]))
    return [
        None if any(column[row] is None for _, column in used) else sum(c * column[row] for c, column in used)
        for row in rows
    ]


def best_of_columns(best_splits, choice, column_costs=None, guard=True):
    """Index of the best column by ``choice``, "gain" or "gain ratio", the first one of a tie; None without a split.

    ``best_splits`` holds `best_split` of every column. By gain ratio, a column needs a positive gain and, with
    ``guard``, at least the average of all columns with a split. With costs the score is (gain ratio)^2 / cost.
    """
    possible = [k for k, (decrease, _, _) in enumerate(best_splits) if decrease > -math.inf]
    if not possible:
        return None
    if choice == "gain":
        score = {k: best_splits[k][0] for k in possible}
    else:
        average = sum(best_splits[k][0] for k in possible) / len(possible)
        minimum = max(average - SAME_GAIN if guard else 0, SAME_GAIN)
        score = {k: best_splits[k][0] / best_splits[k][1] for k in possible if best_splits[k][0] >= minimum}
        if not score:
            return None
        if column_costs is not None:
            score = {k: ratio * ratio / column_costs[k] for k, ratio in score.items()}
    maximum = max(score.values())
    return min(k for k, own in score.items() if own >= maximum - SAME_GAIN)
