"""A model changed after training: fewer trees or passes, coarser leaves, class 0 weighed, a stricter person filter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posepipe.learn.depth.class_prior import weigh_classes
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import quantise_leaves
from posepipe.learn.depth.packed_forest import WHOLE
from posepipe.models.pose_model import PoseModel


def keep_trees(model: PoseModel, count: int) -> PoseModel:
    """Keep the first trees of a model: a smaller and faster one.

    Joint parameters and second pass stay as they were fitted to all trees; ``posepipe train --only joints``, then
    ``--only second-pass``, fit them anew.

    Parameters
    ----------
    model : PoseModel
    count : int, trees to keep, from 1 to those that there are

    Returns
    -------
    PoseModel, without the figures of the whole one

    Raises
    ------
    ValueError
        For a count outside its range.
    """
    forest = model.forest
    if not 1 <= count <= len(forest.trees):
        raise ValueError(f"the model has {len(forest.trees)} trees; keep 1 to {len(forest.trees)}, got {count}")
    first = DepthForest(forest.trees[:count], forest.offsets[:count], forest.body, forest.symmetric, forest.probes)
    return replace(model, forest=first, votes=model.votes[:count]).with_metadata(figures=None, trees_kept=count)


def keep_first_pass(model: PoseModel) -> PoseModel:
    """Return a model without its second pass, and without the figures of the whole one: faster, and less accurate."""
    return replace(model, second_pass=None).with_metadata(figures=None, second_pass=None)


def accept_people_from(model: PoseModel, probability: float) -> PoseModel:
    """Let the person filter of a model take candidates for people from another probability on.

    A higher one finds less furniture, and fewer people.

    Parameters
    ----------
    model : PoseModel, with a person classifier
    probability : float, between 0 and 1

    Returns
    -------
    PoseModel, without the figures of the model as it was

    Raises
    ------
    ValueError
        For a model without a person classifier, or a probability outside its range.
    """
    if model.person_classifier is None:
        raise ValueError("the model has no person classifier; train one by posepipe train --only filter")
    classifier = replace(model.person_classifier, min_probability=probability)
    return replace(model, person_classifier=classifier).with_metadata(figures=None)


def coarsen_leaves(model: PoseModel, steps: int) -> PoseModel:
    """Round the posteriors of leaves to multiples of 1 / steps, for a smaller file.

    The mean over trees is hardly less exact. Joint parameters stay.

    Parameters
    ----------
    model : PoseModel
    steps : int, a divisor of 255, which is what a byte of a leaf holds at most

    Returns
    -------
    PoseModel, without the figures of the exact one

    Raises
    ------
    ValueError
        For steps that do not divide 255.
    """
    if steps < 1 or WHOLE % steps:
        raise ValueError(f"leaves have 1, 3, 5, 15, 17, 51, 85 or 255 steps, got {steps}")
    forest = model.forest
    trees = [replace(tree, leaf_statistics=_rounded(tree.leaf_statistics, steps)) for tree in forest.trees]
    coarse = DepthForest(trees, forest.offsets, forest.body, forest.symmetric, forest.probes)
    before = model.metadata.get("leaf_steps", WHOLE)
    kept = before if steps % before == 0 else steps  # finer steps leave coarse posteriors as they are
    return replace(model, forest=coarse).with_metadata(figures=None, leaf_steps=kept)


def _rounded(leaves: np.ndarray, steps: int) -> np.ndarray:
    return quantise_leaves(leaves / leaves.sum(axis=1, dtype=np.float64, keepdims=True), steps)


def weigh_background(model: PoseModel, weight: float) -> PoseModel:
    """Weigh class 0, "not a person", against the parts of the body in the leaves of a model.

    Below 1 fewer pixels of people are taken for furniture, and more of furniture for people, which a person filter then
    judges; train it after this. Joint parameters stay.

    Parameters
    ----------
    model : PoseModel
    weight : float, above 0; 1 = as it is

    Returns
    -------
    PoseModel, without the figures of the model as trained

    Raises
    ------
    ValueError
        For a weight that is not above 0.
    """
    weights = np.ones(model.body.n_classes)
    weights[0] = weight
    weighed = replace(model, forest=weigh_classes(model.forest, weights))
    whole = weight * model.metadata.get("background_weight", 1.0)  # of one that was weighed before
    return weighed.with_metadata(figures=None, background_weight=whole)
