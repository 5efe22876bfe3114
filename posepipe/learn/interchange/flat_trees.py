"""Trees of a forest as flat arrays and plain data: what the exports to JSON and C have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class FlatTrees:
    """All trees of a forest in one list of nodes. The children of a node are adjacent."""

    kind: str  #: "depth" or "table"
    about: dict[str, Any]  #: plain data: names of the classes, rules of the probes, columns
    roots: np.ndarray  #: int32 (T,), node
    feature: np.ndarray  #: int32 (N,), -1 at a leaf
    threshold: np.ndarray  #: (N,), a response up to it goes to the first child; depth: float32, millimetres
    child: np.ndarray  #: int32 (N,), first child; at a leaf, its row
    leaf_start: np.ndarray  #: int32 (L + 1,), first entry of each leaf in the next two, and their end
    leaf_class: np.ndarray  #: uint8 (S,), or int32 for more classes than that holds
    leaf_value: np.ndarray  #: (S,), probability of that class, or the number; depth: uint8 in units of 1 / 255
    #: more arrays by name: ``offsets`` and ``mirrored_class`` of depth, ``n_children``, ``weight``, ``column_kind`` and
    #: ``combinations`` of tables
    more: dict[str, np.ndarray] = field(default_factory=dict)


def flat_depth_forest(forest: DepthForest) -> FlatTrees:
    """Flatten a depth forest.

    Parameters
    ----------
    forest : DepthForest, with leaves as a model file holds them

    Returns
    -------
    FlatTrees

    Raises
    ------
    ValueError
        For leaves that are no bytes: those of a forest that was neither trained nor read from a file.
    """
    shares = forest.packed.leaf_shares
    if shares.dtype != np.uint8:
        raise ValueError("a forest is exported with the leaves of a model file; save it and load it again")
    starts = np.cumsum([0] + [len(table) for table in forest.offsets])[:-1]
    nodes = _flat_nodes(forest.trees, starts)
    mirrored = forest.packed.mirrored_classes
    return FlatTrees(
        "depth",
        {
            "classes": ["background", *forest.body.parts],
            "probes": forest.probes.to_dict(),
            "symmetric": forest.symmetric,
        },
        **{**nodes, "threshold": np.float32(1000) * nodes["threshold"].astype(np.float32)},
        **_sparse_leaves(shares),
        more={
            "offsets": np.concatenate(forest.offsets).reshape(-1, 4).astype(np.float32),
            "mirrored_class": mirrored.astype(np.int32),
        },
    )


def flat_table_trees(learner: Any) -> FlatTrees:
    """Flatten a fitted learner of tables.

    Parameters
    ----------
    learner : fitted ID3, C4.5 or CART tree, or random forest with posteriors as votes

    Returns
    -------
    FlatTrees

    Raises
    ------
    ValueError
        For another learner, one whose prediction is more than the mean of its trees, or classes that are dates.
    """
    trees = getattr(learner, "trees_", None) or ([learner.tree_] if hasattr(learner, "tree_") else [])
    if not trees or not hasattr(learner, "missing"):
        raise ValueError(f"wanted a fitted tree or random forest of tables, got {type(learner).__name__}")
    options = {"vote": "posterior", "vote_weight": None, "costs": None}
    odd = {name: value for name, value in options.items() if getattr(learner, name, value) is not value}
    if odd.keys() - {"vote"} or getattr(learner, "vote", "posterior") != "posterior":
        raise ValueError(f"exported trees predict the mean of their leaves; leave out {', '.join(odd) or 'vote'}")
    if any(len(own.subsets) for own in trees):
        raise ValueError("exported trees split one category from the rest, got sets: category_split='one-vs-rest'")
    schema, classes = learner.schema_, getattr(learner, "classes_", None)
    if classes is not None and classes.dtype.kind in "mM":
        raise ValueError(f"exported trees have classes of text or numbers, got {classes.dtype}; fit with those")
    nodes = _flat_nodes([own.tree for own in trees], [0] * len(trees))
    values = [own.values[own.tree.is_leaf][np.argsort(own.tree.first_child[own.tree.is_leaf])] for own in trees]
    combinations, nodes["feature"] = _joined_combinations(trees, nodes)
    return FlatTrees(
        "table",
        {
            "classes": None if classes is None else classes.tolist(),
            "mean": float(getattr(learner, "mean_", 0.0)),
            "missing": learner.missing,
            "unseen": learner.unseen,
            "columns": _columns(schema),
        },
        **nodes,
        **_sparse_leaves(np.concatenate(values)),
        more={
            "n_children": np.concatenate([own.tree.n_children for own in trees]).astype(np.int32),
            "weight": np.concatenate([own.weight for own in trees]),
            "column_kind": trees[0].kinds.astype(np.int32),
            "combinations": combinations,
        },
    )


def _columns(schema: Any) -> list[dict[str, Any]]:
    edges = schema.edges or (None,) * len(schema.names)
    return [
        {
            "name": str(name),
            "categories": None if categories is None else list(categories),
            "edges": None if own is None else np.asarray(own).tolist(),
        }
        for name, categories, own in zip(schema.names, schema.categories, edges, strict=True)
    ]


def _flat_nodes(trees: Sequence[Tree], first_features: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
    """Nodes of all trees, one after the other; features count on from tree to tree as ``first_features`` says."""
    first_node = np.cumsum([0] + [tree.n_nodes for tree in trees])
    first_leaf = np.cumsum([0] + [tree.n_leaves for tree in trees])
    child = [
        tree.first_child + np.where(tree.is_leaf, leaf, node)
        for tree, node, leaf in zip(trees, first_node[:-1], first_leaf[:-1], strict=True)
    ]
    feature = [np.where(t.is_leaf, -1, t.feature + first) for t, first in zip(trees, first_features, strict=True)]
    return {
        "roots": first_node[:-1].astype(np.int32),
        "feature": np.concatenate(feature).astype(np.int32),
        "threshold": np.concatenate([tree.threshold for tree in trees]),
        "child": np.concatenate(child).astype(np.int32),
    }


def _joined_combinations(trees: Sequence[Any], nodes: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Combinations of the columns of all trees, (D, F), and the features of the nodes that name their rows."""
    n_columns = len(trees[0].kinds)
    first = np.cumsum([0] + [len(own.combinations) for own in trees])[:-1]
    shift = np.repeat(first, [own.tree.n_nodes for own in trees])
    feature = nodes["feature"]
    joined = np.concatenate([np.reshape(own.combinations, (-1, n_columns)) for own in trees])
    return joined, np.where(feature >= n_columns, feature + shift, feature).astype(np.int32)


def _sparse_leaves(values: np.ndarray) -> dict[str, np.ndarray]:
    """Entries of leaves, (L, C), that are not 0."""
    leaf, classes = np.nonzero(values)
    starts = np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=len(values)))])
    return {
        "leaf_start": starts.astype(np.int32),
        "leaf_class": classes.astype(np.uint8 if values.shape[1] <= 256 else np.int32),
        "leaf_value": values[leaf, classes],
    }
