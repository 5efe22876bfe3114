"""Converts the boosted trees of scikit-learn to the flat arrays of a model file."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF


def flat_trees(
    boosted: HistGradientBoostingClassifier | HistGradientBoostingRegressor, names: tuple[str, ...]
) -> BoostedTrees:
    """Put the trees of a classifier of two classes, or of a regressor, one after another.

    Parameters
    ----------
    boosted : fitted to numbers that are all known, none of them a category
    names : of these numbers

    Returns
    -------
    BoostedTrees, whose score is the decision function, or the prediction: the first tree's leaves hold the prior too
    """
    # scikit-learn shows these trees nowhere else; a test holds their sum against its own decision function
    trees = [_flat_tree(predictor.nodes) for (predictor,) in boosted._predictors]
    starts = np.cumsum([0, *(len(number) for number, _, _, _ in trees)])
    number, threshold, child, value = (np.concatenate(each) for each in zip(*trees, strict=True))
    inner = number != LEAF
    child[inner] += np.repeat(starts[:-1], np.diff(starts))[inner]
    value[: starts[1]] += boosted._baseline_prediction.item()
    return BoostedTrees(
        names,
        number.astype(np.int32),
        threshold,
        child.astype(np.int32),
        value.astype(np.float32),
        starts[:-1].astype(np.int32),
    )


def _flat_tree(nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Number, threshold, child and value of one tree, level by level: children follow one another."""
    order, place = [0], 0
    while place < len(order):
        node = nodes[order[place]]
        if not node["is_leaf"]:
            order += [int(node["left"]), int(node["right"])]
        place += 1
    ordered = nodes[order]
    inner = ordered["is_leaf"] == 0
    rank = np.empty(len(nodes), np.int64)
    rank[order] = np.arange(len(nodes))
    number = np.where(inner, ordered["feature_idx"], LEAF)
    child = np.where(inner, rank[ordered["left"]], 0)
    return number, _rounded_down(ordered["num_threshold"]), child, ordered["value"].copy()


def _rounded_down(threshold: np.ndarray) -> np.ndarray:
    """Thresholds as float32 that send every float32 number the way that those of float64 do."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded).astype(np.float32)
