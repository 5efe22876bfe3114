"""Pruning of grown trees: pessimistic and reduced-error, from node statistics alone.

To close a node is to make it a leaf and drop its descendants. The splits themselves do not matter, so every
tree can be pruned whose leaves hold class weights or moments (`impurity`) of training rows, not posteriors.

A leaf without training rows counts as no leaf in any rule below. It stems from a multiway split, predicts like
its nearest ancestor with rows, and has no errors of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.compilation import njit
from posepipe.learn.impurity import CRITERIA, MISCLASSIFICATION, NO_COSTS, SQUARED_ERROR
from posepipe.learn.tree import Tree

TOLERANCE = 1e-12
"""Maximum difference of two sums that count as equal, as a share of the root's value."""


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """A tree pruned with validation rows."""

    tree: Tree
    #: error rate or mean cost by validation weight, or mean squared error; optimistic, as these rows chose the tree
    error: float
    closed: np.ndarray  #: bool (N,), nodes of the full tree that were closed, descendants of closed nodes included


def pessimistic(tree: Tree, row_weight: float = 1.0) -> Tree:
    """Pessimistic pruning: by training errors, with half an error added for each leaf.

    From the root down, a node is closed when its errors as a leaf do not exceed those of its subtree plus
    their standard error:

        e(t) + 1/2  <=  e' + sqrt(e' (n - e') / n)    with    e' = sum of e over the leaves + leaves / 2

    Parameters
    ----------
    tree : Tree, with class weights as leaf statistics; n is the number of rows at a node, its weight / row_weight
    row_weight : float, weight of one row

    References
    ----------
    Quinlan, Simplifying decision trees, 1987. The last release of C4.5 uses a confidence limit of the error
    instead: Quinlan 1993, section 4.2.
    """
    statistics, weight = training_statistics(tree, MISCLASSIFICATION)
    statistics, weight = in_rows(statistics, row_weight), in_rows(weight, row_weight)
    as_leaf = weight - statistics.max(axis=1) + (weight > 0) / 2
    subtree = sum_below(tree, as_leaf)
    variance = np.maximum(subtree * (weight - subtree), 0) / np.where(weight > 0, weight, 1)
    return tree.collapse(as_leaf <= subtree + np.sqrt(variance))


def validation_errors(
    tree: Tree, validation: np.ndarray, criterion: int, costs: np.ndarray = NO_COSTS, power: int = 1
) -> tuple[np.ndarray, float]:
    """Validation errors of every node as a leaf.

    Parameters
    ----------
    tree, validation, criterion, costs : as in `reduced_error`
    power : int, of the costs that are added up: 2 for their variance

    Returns
    -------
    errors : float64 (N,), weight of the misclassified rows times their costs, or sum of squared errors
    total : float, weight of all validation rows

    Raises
    ------
    ValueError
        When the statistics do not fit the tree, or no validation row reaches the root.
    """
    training, weight = training_statistics(tree, criterion)
    validation = np.asarray(validation, np.float64)
    if validation.shape != training.shape:
        raise ValueError(f"validation statistics need the shape {training.shape} of the nodes', got {validation.shape}")
    total = validation[0, 0] if criterion == SQUARED_ERROR else validation[0].sum()
    if not total > 0:
        raise ValueError("pruning by validation needs rows that reach the root, got none")
    tree.inherit(weight <= 0, training)
    if criterion == SQUARED_ERROR:
        mean = training[:, 1] / training[:, 0]
        squares = validation[:, 2] - 2 * mean * validation[:, 1] + mean**2 * validation[:, 0]
        return np.maximum(squares, 0), float(total)
    if len(costs):
        predicted = np.argmin(training @ costs, axis=1)
        return (validation * costs[:, predicted].T ** power).sum(axis=1), float(total)
    predicted = training.argmax(axis=1)
    return validation.sum(axis=1) - validation[np.arange(len(predicted)), predicted], float(total)


def reduced_error(
    tree: Tree, validation: np.ndarray, criterion: int = MISCLASSIFICATION, costs: np.ndarray = NO_COSTS
) -> Pruned:
    """Reduced-error pruning: close every node whose validation error as a leaf is not above that of its subtree.

    Nodes are visited from the bottom up. A leaf predicts the most frequent class of its training rows, the
    first one of a tie, or their mean. With costs it predicts the class of minimum expected cost.

    Parameters
    ----------
    tree : Tree
    validation : float64 (N, K), class weights or moments of the validation rows that reach each node
    criterion : int, SQUARED_ERROR for moments; all others give the same result for class weights
    costs : float64 (C, C), of misclassification, as in `posepipe.learn.impurity.impurity_of`

    Returns
    -------
    Pruned, with the minimum error of all prunings on these rows and, of those, the fewest leaves

    References
    ----------
    Quinlan 1987, for classes.
    """
    errors, total = validation_errors(tree, validation, criterion, costs)
    closed = np.zeros(tree.n_nodes, bool)
    remaining = _close_bottom_up(tree.parents(), tree.is_leaf, errors, TOLERANCE * errors[0], closed)
    return Pruned(tree.collapse(closed), float(remaining / total), closed)


def training_statistics(tree: Tree, criterion: int) -> tuple[np.ndarray, np.ndarray]:
    """Training statistics of every node, (N, K), and their weight, (N,).

    Raises ValueError for an unknown criterion, for squared error without its three moments, or for leaves of weight 0.
    """
    if criterion not in CRITERIA.values():
        raise ValueError(f"criterion must be one of {CRITERIA}, got {criterion}")
    statistics = tree.node_statistics()
    if criterion == SQUARED_ERROR and statistics.shape[1] != 3:
        raise ValueError(f"squared error needs 3 moments per leaf, got {statistics.shape[1]} numbers")
    weight = statistics[:, 0] if criterion == SQUARED_ERROR else statistics.sum(axis=1)
    if not weight[0] > 0:
        raise ValueError("leaves of the tree need statistics of their training rows, got a total weight of 0")
    return statistics, weight


def in_rows(weights: np.ndarray, row_weight: float) -> np.ndarray:
    """Divide weights by the weight of a row, rounded so that whole numbers of rows are exact."""
    return weights if row_weight == 1.0 else np.round(weights / row_weight, 9)


def sum_below(tree: Tree, values: np.ndarray) -> np.ndarray:
    """Sum a value, (N,), over the leaves below every node: float64 (N,)."""
    return tree.sum_up(np.where(tree.is_leaf, values, 0.0)[:, None])[:, 0]


@njit(cache=True)
def _close_bottom_up(parents, is_leaf, errors, tolerance, closed):
    """Fill ``closed`` and return the errors of the pruned tree."""
    below = np.zeros(len(parents))  # errors of the pruned subtree of each node
    for node in range(len(parents) - 1, -1, -1):
        closed[node] = not is_leaf[node] and errors[node] <= below[node] + tolerance
        if closed[node] or is_leaf[node]:
            below[node] = errors[node]
        if node > 0:
            below[parents[node]] += below[node]
    return below[0]
