"""Durations of training, ``NAME.seconds.json`` beside ``NAME.npz``: the model file itself does not hold them.

The same training therefore writes the same model file to the byte, however long it took. A model without this file is
complete; its card then names no durations. Older model files hold the durations in their headers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posepipe.errors import FormatError
from posepipe.io.files import disk_errors, is_absent, read_json_object, replace_file

DURATIONS = ("seconds", "joint_seconds", "resumed")
"""Fields of a model's metadata, and of its stages, that tell how long training took."""


def durations_path(model: str | Path) -> Path:
    """File of the durations of a model file."""
    return Path(model).with_suffix(".seconds.json")


def split_durations(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split metadata into what decides nothing but tells the time, and all else; tables of stages are split likewise.

    Returns
    -------
    tuple[dict, dict]
        Other metadata, durations.
    """
    others: dict[str, Any] = {}
    durations: dict[str, Any] = {}
    for name, value in metadata.items():
        if name in DURATIONS:
            durations[name] = value
        elif isinstance(value, Mapping) and name != "figures":
            others[name], own = split_durations(value)
            if own:
                durations[name] = own
        else:
            others[name] = value
    return others, durations


def write_durations(model: str | Path, durations: Mapping[str, Any]) -> None:
    """Write the durations of a model file, or remove those of an earlier one where there are none."""
    path = durations_path(model)
    if durations:
        replace_file(path, f"{json.dumps(durations, indent=1)}\n".encode())
    else:
        with disk_errors(path):
            path.unlink(missing_ok=True)


def with_durations(model: str | Path, metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata of a model file with its durations, where there are any.

    Raises
    ------
    FormatError
        When the file of the durations is damaged.
    """
    path = durations_path(model)
    return metadata if is_absent(path) else _merged(path, metadata, read_json_object(path))


def _merged(path: Path, metadata: Mapping[str, Any], durations: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with durations; those of stages that the model does not have are passed over."""
    merged = dict(metadata)
    for name, value in durations.items():
        if name in DURATIONS:
            if not isinstance(value, int | float):
                raise FormatError(path, f"{name}: wanted a number, got {value!r:.60}; the file may be removed")
            merged[name] = value
        elif isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = _merged(path, merged[name], value)
    return merged
