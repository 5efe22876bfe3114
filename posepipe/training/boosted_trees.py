"""Converts the boosted trees of scikit-learn to the flat arrays of a model file."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeRegressor

from posepipe.segmentation.person_classifier.sum_of_leaves import LEAF


def flat_trees(boosted: GradientBoostingClassifier) -> dict[str, np.ndarray]:
    """Put the trees of a classifier of two classes one after another, with the children of a node side by side.

    Parameters
    ----------
    boosted : GradientBoostingClassifier, fitted

    Returns
    -------
    dict
        number int32, threshold float32, child int32, value float32, all (N,), and roots int32 (T,), as in
        `posepipe.segmentation.person_classifier.person_classifier.PersonClassifier`. The sum of the values is the
        decision function: the first tree's leaves hold the prior too.
    """
    trees = [_flat_tree(each, boosted.learning_rate) for each in boosted.estimators_[:, 0]]
    starts = np.cumsum([0, *(len(number) for number, _, _, _ in trees)])
    number, threshold, child, value = (np.concatenate(each) for each in zip(*trees, strict=True))
    inner = number != LEAF
    child[inner] += np.repeat(starts[:-1], np.diff(starts))[inner]
    value[: starts[1]] += _prior_log_odds(boosted)
    return {
        "number": number.astype(np.int32),
        "threshold": threshold,
        "child": child.astype(np.int32),
        "value": value.astype(np.float32),
        "roots": starts[:-1].astype(np.int32),
    }


def _prior_log_odds(boosted: GradientBoostingClassifier) -> float:
    share = float(boosted.init_.class_prior_[1])
    return float(np.log(share / (1 - share)))


def _flat_tree(
    regressor: DecisionTreeRegressor, learning_rate: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Number, threshold, child and value of one tree, level by level: children follow one another."""
    tree = regressor.tree_
    order, place = [0], 0
    while place < len(order):
        node = order[place]
        if tree.children_left[node] != -1:
            order += [tree.children_left[node], tree.children_right[node]]
        place += 1
    nodes = np.array(order)
    inner = tree.children_left[nodes] != -1
    rank = np.empty(len(nodes), np.int64)
    rank[nodes] = np.arange(len(nodes))
    number = np.where(inner, tree.feature[nodes], LEAF)
    child = np.where(inner, rank[tree.children_left[nodes]], 0)
    value = tree.value[nodes, 0, 0] * learning_rate
    return number, _rounded_down(tree.threshold[nodes]), child, value


def _rounded_down(threshold: np.ndarray) -> np.ndarray:
    """Thresholds as float32 that send every float32 number the way that those of float64 do."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded).astype(np.float32)
