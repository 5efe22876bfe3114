"""Pruning of a trained model: smaller trees, from the model file alone.

A model holds the posteriors of its leaves, not how many training pixels reached them. All leaves of a tree weigh the
same here: trees grow until leaves are small. Cost-complexity pruning closes the splits that say least about the parts
for the leaves that they cost.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posepipe.learn.cost_complexity import cost_complexity_path
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import as_stored
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.learn.impurity import ENTROPY
from posepipe.learn.tree import Tree
from posepipe.models.pose_model import PoseModel


def prune_model(model: PoseModel, share: float) -> PoseModel:
    """Prune the trees of a model to a share of their leaves.

    A closed node gets the mean posterior of its leaves, and of their vote nodes the one that most of them share. Joint
    parameters stay as they were fitted to the full trees. The segmentation stays whole.

    Parameters
    ----------
    model : PoseModel
    share : float, above 0 and below 1, maximum number of leaves of each tree, as a share of those it has

    Returns
    -------
    PoseModel, without the figures of the full one; its metadata name the share as ``pruned``

    Raises
    ------
    ValueError
        For a share outside its range.

    References
    ----------
    Breiman et al. 1984, chapter 3.
    """
    if not 0 < share < 1:
        raise ValueError(f"a model is pruned to a share of its leaves above 0 and below 1, got {share}")
    forest, trees, votes = model.forest, [], []
    for k, tree in enumerate(forest.trees):
        weighted = _with_weights(tree)
        closed = _closed_nodes(weighted, share)
        trees.append(as_stored(weighted.collapse(closed)))
        if model.votes:
            votes.append(_merged_votes(model.votes[k], weighted, closed))
    smaller = DepthForest(trees, forest.offsets, forest.body, forest.symmetric, forest.probes)
    return replace(model, forest=smaller, votes=tuple(votes)).with_metadata(figures=None, pruned=share)


def _with_weights(tree: Tree) -> Tree:
    """Tree whose leaves hold the weight of each class, that of a leaf being 1."""
    shares = tree.leaf_statistics / tree.leaf_statistics.sum(axis=1, dtype=np.float64, keepdims=True)
    return replace(tree, leaf_statistics=shares)


def _closed_nodes(tree: Tree, share: float) -> np.ndarray:
    """Nodes that are closed in the largest subtree of the path that has at most that share of leaves: bool (N,)."""
    path = cost_complexity_path(tree, ENTROPY)
    step = int(np.flatnonzero(path.leaves <= max(share * tree.n_leaves, 1))[0])
    return path.closed_at <= step


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
