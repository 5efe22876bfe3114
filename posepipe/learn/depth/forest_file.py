"""The model file: a forest, its body, joint parameters and history in one `.npz`, never pickled.

Per tree k: ``feature_k`` int16 or int32, ``threshold_k`` float32, ``leaves_k`` uint8 (L, C), and ``offsets_k``
float32; with votes, the arrays of `LeafVotes`, ``votes_*_k``; with a network that refines joints, ``refine_*``.
Children need no room: nodes stand level by level, so the n-th inner node's children, and the n-th leaf's row,
follow from counting. `header` is JSON: version, body, rules of the probes, history.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import FormatError
from posepipe.io.files import disk_errors
from posepipe.io.npz import read_npz, write_npz
from posepipe.joints.joint_parameters import FUSION_TERMS, JointParameters, Refinement, n_inputs
from posepipe.joints.offset_votes import LeafVotes
from posepipe.landmarks import METHODS, landmarks_of
from posepipe.learn.depth.depth_features import BACKGROUND_M
from posepipe.learn.tree import LEAF, Tree

FORMAT = "posepipe-forest"
VERSION = 4
"""1 knew no votes, and so no method of joints; 2 no symmetric forests; 3 no refinement of joints."""
PROBE_RULES = {"rounding": "half up", "outside": "background", "background_m": BACKGROUND_M}
_JOINT_FIELDS = tuple(name for name in JointParameters.__dataclass_fields__ if name not in ("method", "refinement"))
_VOTE_FIELDS = tuple(LeafVotes.__dataclass_fields__)


class StoredForest(NamedTuple):
    """What a model file holds."""

    trees: tuple[Tree, ...]
    offsets: tuple[np.ndarray, ...]  #: float32 (F, 2, 2) a tree, metres
    body: BodyDefinition
    joint_parameters: JointParameters
    header: dict[str, Any]
    votes: tuple[LeafVotes, ...]  #: one a tree, or none
    symmetric: bool


def write_forest(
    path: str | Path,
    trees: Sequence[Tree],
    offsets: Sequence[np.ndarray],
    body: BodyDefinition,
    joint_parameters: JointParameters,
    header: Mapping[str, Any],
    votes: Sequence[LeafVotes] = (),
    symmetric: bool = False,
) -> None:
    """Write a model file in one step: a file of that name is whole or not there."""
    meta = {
        **header,
        "format": FORMAT,
        "version": VERSION,
        "body": body.to_dict(),
        "probes": PROBE_RULES,
        "trees": len(trees),
        "joints_from": joint_parameters.method,
        "symmetric": symmetric,
    }
    arrays: dict[str, np.ndarray] = {"header": np.frombuffer(json.dumps(meta).encode(), np.uint8)}
    for k, (tree, table) in enumerate(zip(trees, offsets, strict=True)):
        _check_level_order(tree)
        arrays[f"feature_{k}"] = tree.feature.astype(np.int16 if len(table) < 32768 else np.int32)
        arrays[f"threshold_{k}"] = tree.threshold[tree.feature != LEAF]
        arrays[f"offsets_{k}"] = table.astype(np.float32)
        arrays[f"leaves_{k}"] = quantise_leaves(tree.leaf_statistics)
    for k, own in enumerate(votes):
        arrays |= {f"votes_{name}_{k}": getattr(own, name) for name in _VOTE_FIELDS}
    for name in _JOINT_FIELDS:
        arrays[f"joints_{name}"] = getattr(joint_parameters, name)
    if joint_parameters.refinement is not None:
        arrays |= _refinement_arrays(joint_parameters.refinement)
    with disk_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_npz(path, arrays)


def is_forest_file(path: str | Path) -> bool:
    """Whether a file is a zip with a model's header in it; whether it holds together, reading it tells."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return {"header.npy", "feature_0.npy"} <= set(archive.namelist())


def quantise_leaves(probabilities: np.ndarray) -> np.ndarray:
    """Leaf posteriors as uint8 (L, C) that sum to 255: no class is off by more than 1 in 255.

    Rounded down; what then is missing goes to the classes that lost most, the first of equals (largest remainder).
    """
    exact = probabilities.astype(np.float64) * 255
    counts = np.floor(exact).astype(np.int64)
    missing = 255 - counts.sum(axis=1)
    order = np.argsort(counts - exact, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return (counts + (rank < missing[:, None])).astype(np.uint8)


def as_kept(tree: Tree) -> Tree:
    """The tree as it will read back: what is fitted to a forest in memory then fits the forest in its file."""
    counts = tree.leaf_statistics
    posteriors = (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    return replace(tree, leaf_statistics=_leaf_probabilities(quantise_leaves(posteriors)))


def _leaf_probabilities(quantised: np.ndarray) -> np.ndarray:
    weights = quantised.astype(np.float32)
    return weights / weights.sum(axis=1, keepdims=True)


def _level_order(feature: np.ndarray) -> np.ndarray:
    """First child of every inner node, row of every leaf, counted from the order of the nodes."""
    inner = feature != LEAF
    return np.where(inner, 2 * np.cumsum(inner) - 1, np.cumsum(~inner) - 1).astype(np.int32)


def _check_level_order(tree: Tree) -> None:
    if not np.array_equal(_level_order(tree.feature), tree.first_child):
        raise ValueError("a model file needs a tree whose nodes and leaves stand level by level")


def read_forest(path: str | Path) -> StoredForest:
    """Read a model file.

    Raises
    ------
    FormatError
        When it is missing, cut, of a newer version, or does not hold together.
    """
    path = Path(path)
    arrays = read_npz(path, "a posepipe model")
    try:
        header = json.loads(arrays["header"].tobytes().decode())
        _check_header(path, header)
        body = BodyDefinition.from_dict(header["body"])
        trees, offsets = zip(*(_read_tree(arrays, k) for k in range(header["trees"])), strict=True)
        joint_arrays = {name: arrays[f"joints_{name}"] for name in _JOINT_FIELDS}
        method = header.get("joints_from", "parts")
        joint_parameters = JointParameters(**joint_arrays, method=method, refinement=_read_refinement(arrays))
        _check_joint_parameters(joint_parameters, body)
        votes, symmetric = _read_votes(arrays, len(trees)), header.get("symmetric", False) is True
        return StoredForest(trees, offsets, body, joint_parameters, header, votes, symmetric)
    except KeyError as error:
        raise FormatError(path, f"not a posepipe model: it lacks {error}") from None
    except (ValueError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise FormatError(path, f"a posepipe model that does not hold together: {error}") from None


def _check_header(path: Path, header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(path, f"not a posepipe model: its header does not say {FORMAT!r}")
    if header["version"] > VERSION:
        raise FormatError(path, f"model version {header['version']}, this posepipe reads up to {VERSION}; update it")
    if header["probes"] != PROBE_RULES:
        raise FormatError(path, f"probe rules {header['probes']}, this posepipe knows {PROBE_RULES}")
    if not 1 <= header["trees"] <= 1000:
        raise FormatError(path, f"wanted 1 to 1000 trees, the header says {header['trees']}")


def _read_tree(arrays: Mapping[str, np.ndarray], k: int) -> tuple[Tree, np.ndarray]:
    _check_dtype(f"feature_{k}", arrays[f"feature_{k}"], "i")
    _check_dtype(f"threshold_{k}", arrays[f"threshold_{k}"], "f")
    _check_dtype(f"offsets_{k}", arrays[f"offsets_{k}"], "f")
    feature = arrays[f"feature_{k}"].astype(np.int32)
    threshold = np.zeros(len(feature), np.float32)
    threshold[feature != LEAF] = arrays[f"threshold_{k}"]
    leaves = arrays[f"leaves_{k}"]
    if leaves.dtype != np.uint8 or leaves.ndim != 2 or not leaves.any(axis=1).all():
        raise ValueError(f"tree {k} needs uint8 (L, C) leaves, none all zero, got {leaves.dtype} {leaves.shape}")
    tree = Tree(feature, threshold, _level_order(feature), _leaf_probabilities(leaves))
    return tree, arrays[f"offsets_{k}"].astype(np.float32)


def _read_votes(arrays: Mapping[str, np.ndarray], n_trees: int) -> tuple[LeafVotes, ...]:
    if not any(name.startswith("votes_") for name in arrays):
        return ()
    return tuple(LeafVotes(*(arrays[f"votes_{name}_{k}"] for name in _VOTE_FIELDS)) for k in range(n_trees))


def _refinement_arrays(refinement: Refinement) -> dict[str, np.ndarray]:
    """Half precision will do for weights: what they lose is a thousandth of each."""
    arrays = {
        "refine_mean": refinement.input_mean,
        "refine_deviation": refinement.input_deviation,
        "refine_calibration": refinement.calibration,
        "refine_certainty": refinement.certainty,
    }
    for k, (weight, bias) in enumerate(zip(refinement.weights, refinement.biases, strict=True)):
        arrays |= {f"refine_weight_{k}": weight.astype(np.float16), f"refine_bias_{k}": bias}
    return arrays


def _read_refinement(arrays: Mapping[str, np.ndarray]) -> Refinement | None:
    if "refine_mean" not in arrays:
        return None
    layers = range(sum(name.startswith("refine_weight_") for name in arrays))
    return Refinement(
        arrays["refine_mean"],
        arrays["refine_deviation"],
        tuple(arrays[f"refine_weight_{k}"].astype(np.float32) for k in layers),
        tuple(arrays[f"refine_bias_{k}"] for k in layers),
        arrays["refine_calibration"],
        arrays["refine_certainty"],
    )


def _check_dtype(name: str, array: np.ndarray, kind: str) -> None:
    if array.dtype.kind != kind:
        wanted = {"i": "whole numbers", "f": "floating point"}[kind]
        raise ValueError(f"{name} must be {wanted}, got {array.dtype}")


def _check_joint_parameters(parameters: JointParameters, body: BodyDefinition) -> None:
    if parameters.method not in METHODS:
        raise ValueError(f"joints come from one of {', '.join(METHODS)}, the header says {parameters.method!r}")
    wanted = JointParameters.default(body, parameters.method)
    for name in _JOINT_FIELDS:
        have = getattr(parameters, name)
        if have.shape != getattr(wanted, name).shape or have.dtype != np.float32 or not np.isfinite(have).all():
            raise ValueError(
                f"joint parameter {name} must be finite float32 {getattr(wanted, name).shape}"
                f" for {len(landmarks_of(body, parameters.method))} landmarks, got {have.dtype} {have.shape}"
            )
    if (parameters.bandwidth_m <= 0).any():
        raise ValueError("a bandwidth must be above 0")
    if (np.diagonal(parameters.covariance_m2, axis1=1, axis2=2) < 0).any():
        raise ValueError("a variance must not be negative")
    if parameters.refinement is not None:
        _check_refinement(parameters.refinement, n_inputs(body, parameters.method), 4 * len(body.joints))


def _check_refinement(refinement: Refinement, n_in: int, n_out: int) -> None:
    columns = [n_in, *(weight.shape[-1] for weight in refinement.weights)]
    wanted = {
        "mean": (refinement.input_mean, (n_in,)),
        "deviation": (refinement.input_deviation, (n_in,)),
        "calibration": (refinement.calibration, (n_out // 4, 2)),
        "certainty": (refinement.certainty, (2, n_out // 4, FUSION_TERMS)),
        **{f"weight {k}": (w, (columns[k], columns[k + 1])) for k, w in enumerate(refinement.weights)},
        **{f"bias {k}": (b, (columns[k + 1],)) for k, b in enumerate(refinement.biases)},
    }
    for name, (array, shape) in wanted.items():
        if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
            raise ValueError(f"refinement: {name} must be finite float32 {shape}, got {array.dtype} {array.shape}")
    if columns[-1] != n_out or len(columns) < 2:
        raise ValueError(f"refinement: wanted {n_out} answers, got {columns[-1]}")
    if (refinement.input_deviation <= 0).any():
        raise ValueError("refinement: a deviation must be above 0")
