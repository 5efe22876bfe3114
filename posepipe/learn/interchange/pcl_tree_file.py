"""Tree files of the Point Cloud Library's people detector: read into trees of our own.

The file is text, plain or compressed with bzip2: the height h; 2^h - 1 nodes of five whole numbers, ``du1 dv1 du2 dv2
threshold``; 2^h leaves of one label. Nodes stand in heap order: node n has the children 2n + 1 and 2n + 2, and a pixel
goes to the latter if d(p1) - d(p2) > threshold, millimetres. Offsets are pixels at 1 m of a camera of 525 pixels focal
length, du along columns and dv along rows (`probe_rules.CLAMPED`).

Trees are full: below most nodes all leaves have one label. Such nodes become leaves, and no label changes.
"""

from __future__ import annotations

import warnings
from bz2 import BZ2File
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import FormatError
from posepipe.io.decompression import decompress
from posepipe.io.files import is_absent, open_regular, read_regular
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.packed_forest import WHOLE
from posepipe.learn.depth.probes.probe_rules import CLAMPED
from posepipe.learn.interchange.pcl_body import PCL_BODY
from posepipe.learn.tree import LEAF, Tree

MAX_HEIGHT = 22
"""Maximum height of a tree; those of the library have 20."""
_NODE_NUMBERS = 5
_MAX_BYTES = 160 << 20  # of text: 6 for each number of the highest tree
_MAX_NUMBER = 1 << 15
_BZIP2 = b"BZh"
_START_BYTES = 128


def read_pcl_forest(paths: Sequence[Path]) -> DepthForest:
    """Read a forest from tree files.

    Parameters
    ----------
    paths : one file a tree

    Returns
    -------
    DepthForest of `PCL_BODY` with the probe rules `CLAMPED`; a leaf has one class, the label + 1

    Raises
    ------
    FormatError
        When a file is missing, cut, or no such tree.
    """
    trees, tables = zip(*(read_pcl_tree(path, PCL_BODY) for path in paths), strict=True)
    return DepthForest(trees, tables, PCL_BODY, probes=CLAMPED)


def read_pcl_tree(path: Path, body: BodyDefinition) -> tuple[Tree, np.ndarray]:
    """Read one tree file.

    Parameters
    ----------
    path : the file
    body : BodyDefinition, its part k has label k - 1

    Returns
    -------
    tree : Tree, leaves uint8 with `WHOLE` at their class
    table : float32 (F, 2, 2), its offsets, axes (feature, first or second probe, row or column)

    Raises
    ------
    FormatError
        When it is missing, cut, or no such tree.
    """
    try:
        numbers = _numbers(_text(path))
        nodes, labels = _checked(numbers, len(body.parts))
    except ValueError as error:
        raise FormatError(path, f"not a tree file of the Point Cloud Library: {error}") from None
    return _to_tree(nodes, labels, body.n_classes)


def pcl_tree_files(path: Path) -> tuple[Path, ...]:
    """Tree files at a path: the file itself, or all of a folder, by name; empty where there are none."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return tuple(file for file in files if file.is_file() and _is_tree_file(file))


def _is_tree_file(path: Path) -> bool:
    """Whether a file begins as a tree file does: a height, and a node on the next line."""
    try:
        with open_regular(path) as stream:
            start = stream.read(_START_BYTES)
            if start.startswith(_BZIP2):
                stream.seek(0)
                start = BZ2File(stream).read(_START_BYTES)
        first, second, *_ = start.split(b"\n")
        return (
            len([int(word) for word in first.split()]) == 1 and len([int(w) for w in second.split()]) == _NODE_NUMBERS
        )
    except (OSError, EOFError, ValueError):
        return False


def _text(path: Path) -> bytes:
    if is_absent(path):
        raise FormatError(path, "no such file; wanted a tree file of the Point Cloud Library")
    content = read_regular(path)
    return decompress("bz2", content) if content.startswith(_BZIP2) else content


def _numbers(text: bytes) -> np.ndarray:
    """All whole numbers of the text, int32. Raises ValueError for anything else in it, or too much."""
    if len(text) > _MAX_BYTES:
        raise ValueError(f"{len(text)} bytes of text; a tree of height {MAX_HEIGHT} has at most {_MAX_BYTES}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # NumPy's word for text that is no number
        try:
            numbers = np.fromstring(text, np.int64, sep=" ")
        except (DeprecationWarning, ValueError):  # by version of NumPy
            raise ValueError("it holds something besides whole numbers") from None
    if len(numbers) == 0 or numbers.min() < -_MAX_NUMBER or numbers.max() > _MAX_NUMBER:
        raise ValueError(f"wanted whole numbers up to {_MAX_NUMBER}")
    return numbers.astype(np.int32)


def _checked(numbers: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes int32 (N, 5) and labels int32 (N + 1,). Raises ValueError when their number or a label does not fit."""
    height = int(numbers[0])
    if not 1 <= height <= MAX_HEIGHT:
        raise ValueError(f"wanted a height of 1 to {MAX_HEIGHT}, got {height}")
    n_nodes = 2**height - 1
    wanted = 1 + _NODE_NUMBERS * n_nodes + n_nodes + 1
    if len(numbers) != wanted:
        raise ValueError(f"a tree of height {height} has {wanted} numbers, got {len(numbers)}")
    nodes, labels = np.split(numbers[1:], [_NODE_NUMBERS * n_nodes])
    if labels.min() < 0 or labels.max() >= n_labels:
        raise ValueError(f"wanted labels of 0 to {n_labels - 1}, got {labels.min()} to {labels.max()}")
    return nodes.reshape(-1, _NODE_NUMBERS), labels


def _to_tree(nodes: np.ndarray, labels: np.ndarray, n_classes: int) -> tuple[Tree, np.ndarray]:
    """Tree without splits that part equal labels, nodes level by level, and its table of offsets."""
    order, leaf_labels = [], []
    places = np.zeros(1, np.int64)  # of the nodes that remain in a level
    for level, label_of in enumerate(_labels_by_level(labels)):
        own = label_of[places]
        order.append(np.where(own < 0, 2**level - 1 + places, -1))
        leaf_labels.append(own[own >= 0])
        places = (2 * places[own < 0, None] + np.arange(2)).ravel()
    heap, classes = np.concatenate(order), np.concatenate(leaf_labels) + 1
    inner = heap >= 0
    table, features = np.unique(nodes[heap[inner], :4], axis=0, return_inverse=True)
    feature, threshold = np.full(len(heap), LEAF, np.int32), np.zeros(len(heap), np.float32)
    feature[inner] = features.ravel()
    threshold[inner] = (nodes[heap[inner], 4] + 0.5) / 1000  # between two responses: above it, or not
    first_child = np.where(inner, 2 * np.cumsum(inner) - 1, np.cumsum(~inner) - 1).astype(np.int32)
    leaves = np.zeros((len(classes), n_classes), np.uint8)
    leaves[np.arange(len(classes)), classes] = WHOLE
    return Tree(feature, threshold, first_child, leaves), table.reshape(-1, 2, 2)[..., ::-1].astype(np.float32)


def _labels_by_level(labels: np.ndarray) -> list[np.ndarray]:
    """Label that all leaves below each node have, -1 where they differ; a level each, from the root down."""
    levels = [labels]
    while len(levels[-1]) > 1:
        left, right = levels[-1].reshape(-1, 2).T
        levels.append(np.where(left == right, left, -1))
    return levels[::-1]
