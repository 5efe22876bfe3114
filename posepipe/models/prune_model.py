"""Pruning of a trained model: smaller trees, from the model file, with or without frames that no tree was grown on.

A model holds the posteriors of its leaves, not how many training pixels reached them. Without frames all leaves of a
tree weigh the same: trees grow until leaves are small. Cost-complexity pruning closes the splits that say least about
the parts for the leaves that they cost. With frames, it closes those that lower the error on their pixels least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from posepipe.learn.cost_complexity import PruningPath, cost_complexity_path, path_of_risks
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import as_stored
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.learn.impurity import ENTROPY
from posepipe.learn.tree import Tree
from posepipe.models.pose_model import PoseModel


def prune_model(model: PoseModel, share: float | None, reached: Sequence[np.ndarray] | None = None) -> PoseModel:
    """Prune the trees of a model to a share of their leaves, or to those that lower the error on other frames.

    A closed node gets the mean posterior of its leaves, and of their vote nodes the one that most of them share. Joint
    parameters stay as they were fitted to the full trees. The segmentation stays whole.

    Parameters
    ----------
    model : PoseModel
    share : float, above 0 and below 1, maximum number of leaves of each tree, as a share of those it has; None = those
        of minimum error, with ``reached``
    reached : float64 (L, C) of each tree, of `posepipe.training.leaf_counts.count_pixels`; None = leaves weigh the same

    Returns
    -------
    PoseModel, without the figures of the full one; its metadata name the share of the leaves as trained, ``pruned``

    Raises
    ------
    ValueError
        For a share outside its range.

    References
    ----------
    Breiman et al. 1984, chapter 3.
    """
    if share is None and reached is None:
        raise ValueError("a model is pruned to a share of its leaves, or by frames; got neither")
    if share is not None and not 0 < share < 1:
        raise ValueError(f"a model is pruned to a share of its leaves above 0 and below 1, got {share}")
    forest, trees, votes = model.forest, [], []
    for k, tree in enumerate(forest.trees):
        counts = None if reached is None else reached[k]
        weighted = _with_weights(tree, counts)
        path = cost_complexity_path(weighted, ENTROPY) if counts is None else _path_of_errors(weighted, counts)
        closed = path.closed_at <= (0 if share is None else _step(path, share))
        trees.append(as_stored(weighted.collapse(closed)))
        if model.votes:
            votes.append(_merged_votes(model.votes[k], weighted, closed))
    smaller = DepthForest(trees, forest.offsets, forest.body, forest.symmetric, forest.probes)
    kept = sum(tree.n_leaves for tree in trees) / sum(tree.n_leaves for tree in forest.trees)
    told = (round(kept, 3) if share is None else share) * model.metadata.get("pruned", 1.0)  # of one pruned before
    return replace(model, forest=smaller, votes=tuple(votes)).with_metadata(figures=None, pruned=told)


def _path_of_errors(tree: Tree, reached: np.ndarray) -> PruningPath:
    """Path by the quadratic error (Brier score) of the nodes' posteriors on the pixels that reach them."""
    statistics = tree.node_statistics()
    posterior = statistics / statistics.sum(axis=1, keepdims=True)
    of_nodes = np.zeros(statistics.shape)
    of_nodes[tree.is_leaf] = reached[tree.first_child[tree.is_leaf]]
    pixels = tree.sum_up(of_nodes)
    total = pixels.sum(axis=1)
    error = total - 2 * (pixels * posterior).sum(axis=1) + total * (posterior**2).sum(axis=1)
    return path_of_risks(tree, ENTROPY, np.maximum(error, 0) / total[0], np.ones(tree.n_nodes))


def _step(path: PruningPath, share: float) -> int:
    """Step of the path with the largest subtree that has at most that share of leaves."""
    return int(np.flatnonzero(path.leaves <= max(share * path.tree.n_leaves, 1))[0])


def _with_weights(tree: Tree, reached: np.ndarray | None) -> Tree:
    """Tree whose leaves hold the weight of each class; the weight of a leaf is 1, and 1 more for a pixel."""
    shares = tree.leaf_statistics / tree.leaf_statistics.sum(axis=1, dtype=np.float64, keepdims=True)
    if reached is not None:
        shares *= 1 + reached.sum(axis=1, keepdims=True)
    return replace(tree, leaf_statistics=shares)


def _merged_votes(votes: LeafVotes, tree: Tree, closed: np.ndarray) -> LeafVotes:
    """Votes of the leaves of a collapsed tree: of the vote nodes below each, the one that most leaves share."""
    leaf_nodes = np.empty(tree.n_leaves, np.int64)
    leaf_nodes[tree.first_child[tree.is_leaf]] = np.flatnonzero(tree.is_leaf)
    kept = tree.kept(closed)
    row = np.cumsum(kept & (closed | tree.is_leaf)) - 1  # of the new leaves, in the order of their nodes
    new_leaf = tree.inherit(~kept, row[:, None])[leaf_nodes, 0]
    pairs, counts = np.unique(new_leaf * len(votes.n_votes) + votes.node_of_leaf, return_counts=True)
    of_leaf, node = np.divmod(pairs, len(votes.n_votes))
    order = np.lexsort((-counts, of_leaf))
    return _with_nodes(votes, node[order][np.unique(of_leaf[order], return_index=True)[1]])


def _with_nodes(votes: LeafVotes, nodes: np.ndarray) -> LeafVotes:
    """Votes of leaves that use these vote nodes, int (L,); vote nodes that no leaf uses are left out."""
    used, node_of_leaf = np.unique(nodes, return_inverse=True)
    is_used = np.zeros(len(votes.n_votes), bool)
    is_used[used] = True
    of_vote = np.repeat(is_used, votes.n_votes)
    return LeafVotes(
        node_of_leaf.astype(np.int32),
        votes.n_votes[used],
        votes.joint[of_vote],
        votes.offset[of_vote],
        votes.weight[of_vote],
        votes.n_joints,
    )
