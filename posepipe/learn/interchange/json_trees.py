"""Trees as JSON, for programs in any language. docs/reference/interchange.md describes the file."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import numpy as np

from posepipe.io.files import replace_file
from posepipe.learn.interchange.flat_trees import FlatTrees

FORMAT = "posepipe-trees"
VERSION = 1


def write_json_trees(path: Path, trees: FlatTrees) -> None:
    """Write trees as JSON, in one step; numbers are written such that they come back to the bit."""
    arrays = {each.name: getattr(trees, each.name) for each in fields(trees)} | trees.more
    lists = {name: _plain(array) for name, array in arrays.items() if isinstance(array, np.ndarray)}
    content = {"format": FORMAT, "version": VERSION, "kind": trees.kind, **trees.about, **lists}
    replace_file(path, (json.dumps(content, separators=(",", ":")) + "\n").encode())


def _plain(array: np.ndarray) -> list:
    return array.astype(np.float64).tolist() if array.dtype.kind == "f" else array.tolist()
