"""Converts the boosted trees of scikit-learn to the flat arrays of a model file."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF


def flat_trees(boosted: GradientBoostingClassifier | GradientBoostingRegressor, names: tuple[str, ...]) -> BoostedTrees:
    """Put the trees of a classifier of two classes, or of a regressor, one after another.

    Parameters
    ----------
    boosted : fitted
    names : of the numbers that it was fitted to

    Returns
    -------
    BoostedTrees, whose score is the decision function, or the prediction: the first tree's leaves hold the prior too
    """
    trees = [_flat_tree(each, boosted.learning_rate) for each in boosted.estimators_[:, 0]]
    starts = np.cumsum([0, *(len(number) for number, _, _, _ in trees)])
    number, threshold, child, value = (np.concatenate(each) for each in zip(*trees, strict=True))
    inner = number != LEAF
    child[inner] += np.repeat(starts[:-1], np.diff(starts))[inner]
    value[: starts[1]] += _prior(boosted)
    return BoostedTrees(
        names,
        number.astype(np.int32),
        threshold,
        child.astype(np.int32),
        value.astype(np.float32),
        starts[:-1].astype(np.int32),
    )


def _prior(boosted: GradientBoostingClassifier | GradientBoostingRegressor) -> float:
    """What is predicted before the first tree: log-odds of the second class, or the mean."""
    if isinstance(boosted, GradientBoostingRegressor):
        return float(boosted.init_.constant_.item())
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
