"""The prior of classes, changed after training: leaves as training pixels of other shares would have made them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import as_stored


def weigh_classes(forest: DepthForest, weights: np.ndarray) -> DepthForest:
    """Weigh the classes of a forest: posteriors are multiplied by ``weights``, (C,), and normalised.

    Parameters
    ----------
    forest : DepthForest
    weights : (C,), above 0

    Returns
    -------
    DepthForest of the same splits

    Raises
    ------
    ValueError
        For a weight that is not above 0.

    References
    ----------
    Saerens, Latinne and Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities, 2002.
    """
    weights = np.asarray(weights, np.float64)
    if not np.all(weights > 0) or not np.all(np.isfinite(weights)):
        raise ValueError(f"weights of classes are finite and above 0, got {weights.tolist()}")
    trees = [
        as_stored(replace(tree, leaf_statistics=(tree.leaf_statistics * weights).astype(np.float32)))
        for tree in forest.trees
    ]
    return DepthForest(trees, forest.offsets, forest.body, forest.symmetric, forest.probes)
