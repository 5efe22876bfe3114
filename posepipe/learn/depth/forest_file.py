"""Depth forest as arrays of a model file.

Tree k has ``feature_k`` int16 or int32, ``threshold_k`` float32 and ``offsets_k`` float32 (F, 2, 2). Children are not
stored: nodes are in level order, so the children of the n-th inner node and the row of the n-th leaf follow from
counting.

Leaves hold shares of classes in units of 1 / 255, most of them 0. ``leaf_classes_k`` uint8 (L, C / 8) has a bit for
each share that is not, ``leaf_shares_k`` uint8 these shares, in order. Version 1 of the section has ``leaves_k`` uint8
(L, C).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.packed_forest import WHOLE
from posepipe.learn.depth.probes.probe_rules import METRIC, ProbeRules
from posepipe.learn.tree import LEAF, Tree

_MAX_LENGTH_M = np.float64(1e6)  # no plain number: half precision would be compared with it in half precision
_MAX_LEVELS = 256  # below the root; every pixel is compared once a level


def forest_to_arrays(forest: DepthForest) -> dict[str, np.ndarray]:
    """Convert trees and feature tables to arrays. Raises ValueError for nodes that are not in level order."""
    arrays: dict[str, np.ndarray] = {}
    for k, (tree, table) in enumerate(zip(forest.trees, forest.offsets, strict=True)):
        _check_level_order(tree)
        arrays[f"feature_{k}"] = tree.feature.astype(np.int16 if len(table) < 32768 else np.int32)
        arrays[f"threshold_{k}"] = tree.threshold[tree.feature != LEAF]
        arrays[f"offsets_{k}"] = table.astype(np.float32)
        arrays |= _leaves_to_arrays(quantise_leaves(tree.leaf_statistics), k)
    return arrays


def _leaves_to_arrays(leaves: np.ndarray, k: int) -> dict[str, np.ndarray]:
    """Arrays of the leaves of tree ``k``, uint8 (L, C): a bit for each class, and the shares that are not 0."""
    return {
        f"leaf_classes_{k}": np.packbits(leaves > 0, axis=1),
        f"leaf_shares_{k}": leaves[leaves > 0],
    }


def forest_from_arrays(
    arrays: Mapping[str, np.ndarray], n_trees: int, body: BodyDefinition, symmetric: bool, probes: ProbeRules = METRIC
) -> DepthForest:
    """Inverse of `forest_to_arrays`. Raises KeyError for a missing array, ValueError for arrays that do not match."""
    trees, offsets = zip(*(_read_tree(arrays, k, body.n_classes) for k in range(n_trees)), strict=True)
    return DepthForest(trees, offsets, body, symmetric, probes)


def quantise_leaves(probabilities: np.ndarray, steps: int = WHOLE) -> np.ndarray:
    """Quantise leaf posteriors, float (L, C), to uint8 (L, C) that sum to 255; no class changes by more than 1 / steps.

    Largest remainder method: values are rounded down to multiples of 1 / steps, and the rest goes to the classes with
    the largest remainders, the first of equal ones. Leaves of uint8 are such shares already. ``steps`` divides 255.
    """
    if probabilities.dtype == np.uint8:
        return probabilities
    exact = probabilities.astype(np.float64) * steps
    counts = np.floor(exact).astype(np.int64)
    missing = steps - counts.sum(axis=1)
    order = np.argsort(counts - exact, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return ((counts + (rank < missing[:, None])) * (WHOLE // steps)).astype(np.uint8)


def as_stored(tree: Tree) -> Tree:
    """Return the tree with leaves as stored in a file, so that parameters fitted to it match the stored model."""
    counts = tree.leaf_statistics
    posteriors = (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    return replace(tree, leaf_statistics=_leaf_probabilities(quantise_leaves(posteriors)))


def _leaf_probabilities(quantised: np.ndarray) -> np.ndarray:
    weights = quantised.astype(np.float32)
    return weights / weights.sum(axis=1, keepdims=True)


def _level_order(feature: np.ndarray) -> np.ndarray:
    """First child of each inner node and row of each leaf, by level order."""
    inner = feature != LEAF
    return np.where(inner, 2 * np.cumsum(inner) - 1, np.cumsum(~inner) - 1).astype(np.int32)


def _check_level_order(tree: Tree) -> None:
    if not np.array_equal(_level_order(tree.feature), tree.first_child):
        raise ValueError("a model file needs a tree whose nodes and leaves are in level order")


def _read_tree(arrays: Mapping[str, np.ndarray], k: int, n_classes: int) -> tuple[Tree, np.ndarray]:
    _check_dtype(f"feature_{k}", arrays[f"feature_{k}"], "i")
    _check_dtype(f"threshold_{k}", arrays[f"threshold_{k}"], "f")
    _check_dtype(f"offsets_{k}", arrays[f"offsets_{k}"], "f")
    feature = arrays[f"feature_{k}"].astype(np.int32)
    _check_levels(feature, k)
    threshold = np.zeros(len(feature), np.float32)
    threshold[feature != LEAF] = _metres(f"threshold_{k}", arrays[f"threshold_{k}"])
    tree = Tree(feature, threshold, _level_order(feature), _read_leaves(arrays, k, n_classes))
    return tree, _metres(f"offsets_{k}", arrays[f"offsets_{k}"])


def _check_levels(feature: np.ndarray, k: int) -> None:
    """Raise ValueError for a tree in level order that is too deep: a chain of a million nodes packs into few bytes."""
    start, count = 0, 1
    for _ in range(_MAX_LEVELS + 1):
        inner = int(np.count_nonzero(feature[start : start + count] != LEAF))
        start, count = start + count, 2 * inner
    if count:
        raise ValueError(f"tree {k} has more than {_MAX_LEVELS} levels")


def _read_leaves(arrays: Mapping[str, np.ndarray], k: int, n_classes: int) -> np.ndarray:
    """Leaves of tree ``k``: uint8 (L, C) where they sum to 255, otherwise posteriors, float32."""
    leaves = arrays[f"leaves_{k}"] if f"leaves_{k}" in arrays else _expand_leaves(arrays, k, n_classes)
    if leaves.dtype != np.uint8 or leaves.ndim != 2:
        raise ValueError(f"tree {k} needs uint8 (L, C) leaves, got {leaves.dtype} {leaves.shape}")
    sums = leaves.sum(axis=1, dtype=np.int32)
    if not sums.all():
        raise ValueError(f"tree {k} has a leaf without classes")
    return leaves if (sums == WHOLE).all() else _leaf_probabilities(leaves)


def _expand_leaves(arrays: Mapping[str, np.ndarray], k: int, n_classes: int) -> np.ndarray:
    """Inverse of `_leaves_to_arrays`."""
    classes, shares = arrays[f"leaf_classes_{k}"], arrays[f"leaf_shares_{k}"]
    if not classes.dtype == shares.dtype == np.uint8 or (classes.ndim, shares.ndim) != (2, 1):
        raise ValueError(f"tree {k} needs uint8 leaf_classes (L, C / 8) and leaf_shares (S,)")
    if classes.shape[1] != -(-n_classes // 8):
        raise ValueError(f"tree {k} needs {-(-n_classes // 8)} bytes of bits for {n_classes} classes of a leaf")
    has_class = np.unpackbits(classes, axis=1, count=n_classes).view(bool)
    if np.count_nonzero(has_class) != len(shares):
        raise ValueError(f"tree {k} needs a share for each class of a leaf, got {len(shares)}")
    leaves = np.zeros(has_class.shape, np.uint8)
    leaves[has_class] = shares
    return leaves


def _metres(name: str, array: np.ndarray) -> np.ndarray:
    """Convert lengths to float32. Raises ValueError for one that no probe has: kernels compute with millimetres."""
    if not (np.abs(array) < _MAX_LENGTH_M).all():
        raise ValueError(f"{name} must be finite lengths below {_MAX_LENGTH_M:g} m")
    return array.astype(np.float32)


def _check_dtype(name: str, array: np.ndarray, kind: str) -> None:
    if array.dtype.kind != kind:
        wanted = {"i": "whole numbers", "f": "floating point"}[kind]
        raise ValueError(f"{name} must be {wanted}, got {array.dtype}")
