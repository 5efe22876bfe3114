"""Checkpoints of training, on disk: the state of every tree after its last level, and other results of a long run.

A level depends only on the seed and its number, so a resumed run grows the same tree bit for bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.errors import FormatError, PosepipeError, counted
from posepipe.io.files import disk_errors, read_json_object, replace_file
from posepipe.io.npz import read_npz, write_npz
from posepipe.learn.growing import Growth

_NOTES = {"tree": "run.json", "fold": "fold-run.json"}
"""Kinds of results, which one folder may hold side by side, and the file that tells what each kind is of."""
_LEVEL_LISTS = ("feature", "threshold", "first_child", "n_children", "features", "leaf_statistics")


class Checkpoints:
    """Folder with the results so far of one training run, the latest state of every tree among them.

    Parameters
    ----------
    folder : created if needed
    parameters : plain data, all settings that affect what is trained
    data : identifies the training data; a run is resumed only with the same data and parameters
    resume : False = a new run, where there is none to resume
    kind : "tree" or "fold", with which the names of its results begin; other kinds are left alone

    Raises
    ------
    PosepipeError
        When the run to resume has other parameters or data, or a new one would replace it.
    """

    def __init__(
        self, folder: Path, parameters: Mapping[str, Any], data: str, resume: bool, kind: str = "tree"
    ) -> None:
        self.folder = folder
        key = json.dumps({"parameters": parameters, "data": data}, sort_keys=True)
        digest = hashlib.sha256(key.encode()).hexdigest()
        run = folder / _NOTES[kind]
        kept = len(list(folder.glob(f"{kind}-*.npz")))
        if kept and not resume:
            held = f"{folder} holds {counted(kept, kind)} of an interrupted run"
            raise PosepipeError(f"{held}; give --resume to go on, or remove the folder")
        if resume and (kept or run.is_file()) and _digest(run) != digest:
            raise PosepipeError(
                f"{folder} holds a run with other parameters or data; use those, or remove the folder to start again"
            )
        with disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        replace_file(run, json.dumps({"digest": digest, "run": json.loads(key)}, indent=1).encode())

    def save(self, tree: int, growth: Growth) -> None:
        """Write the state after a level, in one step."""
        arrays = {"order": growth.order, "starts": growth.starts, "ends": growth.ends}
        for name in _LEVEL_LISTS:
            levels = getattr(growth, name)
            arrays[name] = np.concatenate(levels)
            arrays[name + "_sizes"] = np.array([len(level) for level in levels], np.int64)
        self.save_arrays(f"tree-{tree}", arrays)

    def load(self, tree: int) -> Growth | None:
        """Read the state of a tree; None when it is missing or the file is damaged."""
        data = self.load_arrays(f"tree-{tree}")
        if data is None:
            return None
        try:
            levels = {name: np.split(data[name], np.cumsum(data[name + "_sizes"])[:-1]) for name in _LEVEL_LISTS}
            return Growth(
                data["order"], None, len(levels["feature"]), starts=data["starts"], ends=data["ends"], **levels
            )
        except (ValueError, KeyError, TypeError, IndexError):
            return None  # the tree is grown again from its root

    def save_arrays(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Write a result, in one step."""
        write_npz(self._path(name), arrays, compress=False)

    def load_arrays(self, name: str) -> dict[str, np.ndarray] | None:
        """Read a result; None when it is missing or the file is damaged."""
        path = self._path(name)
        if not path.is_file():
            return None
        try:
            return read_npz(path, "a checkpoint")
        except FormatError:
            return None

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npz"


def remove_checkpoints(folder: Path, kind: str = "tree") -> None:
    """Delete the checkpoints of one kind in a folder, and the folder itself if it is then empty."""
    for path in [*folder.glob(f"{kind}-*.npz*"), *folder.glob(f"{_NOTES[kind]}*")]:
        path.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def remove_if_idle(folder: Path, kind: str = "tree") -> None:
    """Delete what a run that has saved nothing leaves: the note of what it is of, and a folder that is then empty."""
    if not any(folder.glob(f"{kind}-*.npz")):
        remove_checkpoints(folder, kind)


def _digest(run: Path) -> object:
    """Digest of the run that a file tells of; None where there is no file."""
    return read_json_object(run).get("digest") if run.is_file() else None
