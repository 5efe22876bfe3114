"""Stopping early, by tests of each split that was made.

A node is split the same way whatever happens elsewhere. So to refuse a split during growth, and to cut it
off a tree that was grown to its end, from the root down, give one and the same tree: growth stays simple.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from posepipe.learn.impurity import MISCLASSIFICATION
from posepipe.learn.pruning import TOLERANCE, Pruned, validation_errors
from posepipe.learn.tree import Tree


def chi_square_stop(tree: Tree, significance: float) -> Tree:
    """Refuse splits whose branches could show such different classes by chance.

    Parameters
    ----------
    tree : with class weights as leaf statistics
    significance : a split stays when its p value is at most this

    References
    ----------
    Pearson's test of independence of branch and class; as a stop: Quinlan 1986, section 4.
    """
    if not 0 < significance <= 1:
        raise ValueError(f"significance must lie between 0 and 1, got {significance}")
    statistics = tree.node_statistics()
    parents = tree.parents()
    weight = statistics.sum(axis=1)
    above = parents[1:]
    expected = statistics[above] * (weight[1:] / np.where(weight[above] > 0, weight[above], 1))[:, None]
    squares = (statistics[1:] - expected) ** 2 / np.where(expected > 0, expected, 1)
    statistic = np.bincount(above, weights=np.where(expected > 0, squares, 0).sum(axis=1), minlength=tree.n_nodes)
    branches = np.bincount(above, weights=weight[1:] > 0, minlength=tree.n_nodes)
    freedom = np.maximum((branches - 1) * ((statistics > 0).sum(axis=1) - 1), 1)
    return tree.collapse(~tree.is_leaf & (chi2.sf(statistic, freedom) > significance))


def validation_stop(tree: Tree, validation: np.ndarray, criterion: int = MISCLASSIFICATION) -> Pruned:
    """Refuse splits that do not lower the error on validation rows.

    Parameters
    ----------
    tree : Tree
    validation : float64 (N, K), class weights or moments of the validation rows that reach each node
    criterion : int, SQUARED_ERROR for moments

    References
    ----------
    Prepruning on a validation set, e.g. Mitchell 1997, section 3.7.1.
    """
    wrong, total = validation_errors(tree, validation, criterion)
    after = np.bincount(tree.parents()[1:], weights=wrong[1:], minlength=tree.n_nodes)
    refused = ~tree.is_leaf & (after >= wrong - TOLERANCE * wrong[0])
    stopped = tree.collapse(refused)
    left = tree.kept(refused) & (tree.is_leaf | refused)
    return Pruned(stopped, float(wrong[left].sum() / total), refused)
