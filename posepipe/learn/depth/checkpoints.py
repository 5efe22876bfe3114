"""Training that survives a kill: the growth after every level, and every finished tree, on disk.

A level depends on the seed and its number alone, so a run that goes on from a checkpoint grows the
same tree, bit for bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.errors import FormatError, PosepipeError
from posepipe.io.files import disk_errors, read_json_object, replace_file
from posepipe.io.npz import read_npz, write_npz
from posepipe.learn.growing import Growth

_LEVEL_LISTS = ("feature", "threshold", "first_child", "n_children", "features", "leaf_statistics")


class Checkpoints:
    """A folder with the newest state of every tree of one training run.

    Parameters
    ----------
    folder : made if needed
    parameters : plain data, all that decides how the trees grow
    data : names the training data; a run is gone on with only on the same data and parameters
    resume : False starts anew and removes what an earlier run left

    Raises
    ------
    PosepipeError
        When asked to resume a run of other parameters or data.
    """

    def __init__(self, folder: Path, parameters: Mapping[str, Any], data: str, resume: bool) -> None:
        self.folder = folder
        key = json.dumps({"parameters": parameters, "data": data}, sort_keys=True)
        digest = hashlib.sha256(key.encode()).hexdigest()
        run = folder / "run.json"
        if not resume:
            self.remove()
        elif run.is_file() and read_json_object(run).get("digest") != digest:
            raise PosepipeError(
                f"{folder} holds a run with other parameters or data; use those, or leave out --resume to start anew"
            )
        with disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        replace_file(run, json.dumps({"digest": digest, "run": json.loads(key)}, indent=1).encode())

    def save(self, tree: int, growth: Growth) -> None:
        """Keep the state after a level, in one step."""
        arrays = {"order": growth.order, "starts": growth.starts, "ends": growth.ends}
        for name in _LEVEL_LISTS:
            levels = getattr(growth, name)
            arrays[name] = np.concatenate(levels)
            arrays[name + "_sizes"] = np.array([len(level) for level in levels], np.int64)
        write_npz(self._path(tree), arrays, compress=False)

    def load(self, tree: int) -> Growth | None:
        """The state of a tree, None when there is none or the file is damaged."""
        path = self._path(tree)
        if not path.is_file():
            return None
        try:
            data = read_npz(path, "a checkpoint")
            levels = {name: np.split(data[name], np.cumsum(data[name + "_sizes"])[:-1]) for name in _LEVEL_LISTS}
            return Growth(
                data["order"], None, len(levels["feature"]), starts=data["starts"], ends=data["ends"], **levels
            )
        except (FormatError, ValueError, KeyError):
            return None  # the tree is grown again from its root

    def remove(self) -> None:
        """Delete the checkpoints, and the folder unless something else lies in it."""
        for path in [*self.folder.glob("tree-*.npz*"), *self.folder.glob("run.json*")]:
            path.unlink()
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _path(self, tree: int) -> Path:
        return self.folder / f"tree-{tree}.npz"
