"""Early stopping of growth: by a test of each split, or by a maximum number of leaves.

The split of a node is independent of all other nodes. Refusing splits in a fully grown tree, from the root
down, therefore gives the same tree as refusing them during growth, and the growth loop stays simple.
"""

from __future__ import annotations

import heapq

import numpy as np
from scipy.stats import chi2

from posepipe.learn.impurity import MISCLASSIFICATION, NO_COSTS, impurity
from posepipe.learn.pruning import TOLERANCE, Pruned, in_rows, training_statistics, validation_errors
from posepipe.learn.tree import Tree


def chi_square_stop(tree: Tree, significance: float, row_weight: float = 1.0) -> Tree:
    """Refuse splits whose branch and class are independent by Pearson's chi-square test.

    Parameters
    ----------
    tree : Tree, with class weights as leaf statistics
    significance : float, above 0 and at most 1; maximum p-value of a split that is kept
    row_weight : float, weight of one row; the test needs counts

    Raises
    ------
    ValueError
        When the significance is out of range.

    References
    ----------
    Quinlan 1986, section 4.
    """
    if not 0 < significance <= 1:
        raise ValueError(f"significance must lie between 0 and 1, got {significance}")
    statistics = in_rows(tree.node_statistics(), row_weight)
    parents = tree.parents()
    weight = statistics.sum(axis=1)
    above = parents[1:]
    expected = statistics[above] * (weight[1:] / np.where(weight[above] > 0, weight[above], 1))[:, None]
    squares = (statistics[1:] - expected) ** 2 / np.where(expected > 0, expected, 1)
    statistic = np.bincount(above, weights=np.where(expected > 0, squares, 0).sum(axis=1), minlength=tree.n_nodes)
    branches = np.bincount(above, weights=weight[1:] > 0, minlength=tree.n_nodes)
    freedom = np.maximum((branches - 1) * ((statistics > 0).sum(axis=1) - 1), 1)
    return tree.collapse(~tree.is_leaf & (chi2.sf(statistic, freedom) > significance))


def validation_stop(
    tree: Tree, validation: np.ndarray, criterion: int = MISCLASSIFICATION, costs: np.ndarray = NO_COSTS
) -> Pruned:
    """Refuse splits that do not decrease the error on validation rows.

    Parameters
    ----------
    tree : Tree
    validation : float64 (N, K), class weights or moments of the validation rows that reach each node
    criterion : int, SQUARED_ERROR for moments
    costs : float64 (C, C), of misclassification, as in `posepipe.learn.impurity.impurity_of`

    References
    ----------
    Pre-pruning on a validation set, for example Mitchell 1997, section 3.7.1.
    """
    errors, total = validation_errors(tree, validation, criterion, costs)
    after = np.bincount(tree.parents()[1:], weights=errors[1:], minlength=tree.n_nodes)
    refused = ~tree.is_leaf & (after >= errors - TOLERANCE * errors[0])
    stopped = tree.collapse(refused)
    leaves = tree.kept(refused) & (tree.is_leaf | refused)
    return Pruned(stopped, float(errors[leaves].sum() / total), refused)


def best_first(tree: Tree, criterion: int, max_leaves: int, costs: np.ndarray = NO_COSTS) -> Tree:
    """Keep the splits of maximum impurity decrease, from the root down, within a number of leaves.

    This is best-first growth: of all open nodes, the one whose split decreases the impurity of the training rows
    most is split next. A split that would exceed the maximum is refused.

    Parameters
    ----------
    tree : Tree
    criterion : int, a value of CRITERIA
    max_leaves : int, at least 1
    costs : float64 (C, C), misclassification costs; Gini only

    References
    ----------
    Shi, Best-first decision tree learning, 2007.
    """
    statistics, weight = training_statistics(tree, criterion)
    total_impurity = impurity(criterion, statistics, costs) * weight
    decrease = total_impurity - np.bincount(tree.parents()[1:], weights=total_impurity[1:], minlength=tree.n_nodes)
    refused, n_leaves = np.ones(tree.n_nodes, bool), 1
    open_nodes = [] if tree.is_leaf[0] else [(-decrease[0], 0)]
    while open_nodes and n_leaves < max_leaves:
        _, node = heapq.heappop(open_nodes)
        children = tree.children(node)
        if n_leaves + len(children) - 1 > max_leaves:
            continue
        refused[node] = False
        n_leaves += len(children) - 1
        for child in children:
            if not tree.is_leaf[child]:
                heapq.heappush(open_nodes, (-decrease[child], child))
    return tree.collapse(refused & ~tree.is_leaf)
