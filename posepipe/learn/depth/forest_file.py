"""Depth forest as arrays of a model file.

Tree k has ``feature_k`` int16 or int32, ``threshold_k`` float32, ``leaves_k`` uint8 (L, C) and ``offsets_k`` float32
(F, 2, 2). Children are not stored: nodes are in level order, so the children of the n-th inner node and the row of the
n-th leaf follow from counting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.learn.depth.depth_features import BACKGROUND_M
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.tree import LEAF, Tree

_MAX_LENGTH_M = np.float64(1e6)  # no plain number: half precision would be compared with it in half precision
_MAX_LEVELS = 256  # below the root; every pixel is compared once a level
PROBE_RULES = {"rounding": "half up", "outside": "background", "background_m": BACKGROUND_M}


def forest_to_arrays(forest: DepthForest) -> dict[str, np.ndarray]:
    """Convert trees and feature tables to arrays. Raises ValueError for nodes that are not in level order."""
    arrays: dict[str, np.ndarray] = {}
    for k, (tree, table) in enumerate(zip(forest.trees, forest.offsets, strict=True)):
        _check_level_order(tree)
        arrays[f"feature_{k}"] = tree.feature.astype(np.int16 if len(table) < 32768 else np.int32)
        arrays[f"threshold_{k}"] = tree.threshold[tree.feature != LEAF]
        arrays[f"offsets_{k}"] = table.astype(np.float32)
        arrays[f"leaves_{k}"] = quantise_leaves(tree.leaf_statistics)
    return arrays


def forest_from_arrays(
    arrays: Mapping[str, np.ndarray], n_trees: int, body: BodyDefinition, symmetric: bool
) -> DepthForest:
    """Inverse of `forest_to_arrays`. Raises KeyError for a missing array, ValueError for arrays that do not match."""
    trees, offsets = zip(*(_read_tree(arrays, k) for k in range(n_trees)), strict=True)
    return DepthForest(trees, offsets, body, symmetric)


def quantise_leaves(probabilities: np.ndarray) -> np.ndarray:
    """Quantise leaf posteriors, float (L, C), to uint8 (L, C) that sum to 255; no class changes by more than 1 / 255.

    Largest remainder method: values are rounded down, and the rest goes to the classes with the largest remainders, the
    first of equal ones.
    """
    exact = probabilities.astype(np.float64) * 255
    counts = np.floor(exact).astype(np.int64)
    missing = 255 - counts.sum(axis=1)
    order = np.argsort(counts - exact, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return (counts + (rank < missing[:, None])).astype(np.uint8)


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


def _read_tree(arrays: Mapping[str, np.ndarray], k: int) -> tuple[Tree, np.ndarray]:
    _check_dtype(f"feature_{k}", arrays[f"feature_{k}"], "i")
    _check_dtype(f"threshold_{k}", arrays[f"threshold_{k}"], "f")
    _check_dtype(f"offsets_{k}", arrays[f"offsets_{k}"], "f")
    feature = arrays[f"feature_{k}"].astype(np.int32)
    _check_levels(feature, k)
    threshold = np.zeros(len(feature), np.float32)
    threshold[feature != LEAF] = _metres(f"threshold_{k}", arrays[f"threshold_{k}"])
    leaves = arrays[f"leaves_{k}"]
    if leaves.dtype != np.uint8 or leaves.ndim != 2 or not leaves.any(axis=1).all():
        raise ValueError(f"tree {k} needs uint8 (L, C) leaves, none all zero, got {leaves.dtype} {leaves.shape}")
    tree = Tree(feature, threshold, _level_order(feature), _leaf_probabilities(leaves))
    return tree, _metres(f"offsets_{k}", arrays[f"offsets_{k}"])


def _check_levels(feature: np.ndarray, k: int) -> None:
    """Raise ValueError for a tree in level order that is too deep: a chain of a million nodes packs into few bytes."""
    start, count = 0, 1
    for _ in range(_MAX_LEVELS + 1):
        inner = int(np.count_nonzero(feature[start : start + count] != LEAF))
        start, count = start + count, 2 * inner
    if count:
        raise ValueError(f"tree {k} has more than {_MAX_LEVELS} levels")


def _metres(name: str, array: np.ndarray) -> np.ndarray:
    """Convert lengths to float32. Raises ValueError for one that no probe has: kernels compute with millimetres."""
    if not (np.abs(array) < _MAX_LENGTH_M).all():
        raise ValueError(f"{name} must be finite lengths below {_MAX_LENGTH_M:g} m")
    return array.astype(np.float32)


def _check_dtype(name: str, array: np.ndarray, kind: str) -> None:
    if array.dtype.kind != kind:
        wanted = {"i": "whole numbers", "f": "floating point"}[kind]
        raise ValueError(f"{name} must be {wanted}, got {array.dtype}")
