"""Header of a model file: hash and figures, without reading the trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.errors import FormatError, PosepipeError
from posepipe.io.limits import max_model_bytes
from posepipe.io.npz import array_hash, read_npz, write_npz
from posepipe.models.durations import DURATIONS

MEASURED = ("figures", *DURATIONS)
"""Header fields, of stages too, that do not affect results: measured accuracy, and durations in older files."""


def answer_hash(path: str | Path) -> str:
    """SHA-256, hexadecimal, of what determines a model's results: arrays, and header without MEASURED.

    Raises
    ------
    FormatError
        When the file is no model.
    """
    return _answer_hash(*_read(Path(path)))


def add_figures(path: str | Path, title: str, figures: dict[str, Any], measured_on: str) -> None:
    """Write figures to ``header["figures"][title]`` of a model file, in one step; arrays are not changed.

    Parameters
    ----------
    path : the model file
    title : name of the frames that were scored
    figures : plain data, see `Report.summary`
    measured_on : `answer_hash` of the model that was scored

    Raises
    ------
    FormatError
        When the file is no model.
    PosepipeError
        When the file holds another model than the one scored.
    """
    path = Path(path)
    header, arrays = _read(path)
    if _answer_hash(header, arrays) != measured_on:
        raise PosepipeError(f"{path} was replaced while it was being scored; evaluate it again")
    header = {**header, "figures": {**header.get("figures", {}), title: figures}}
    write_npz(path, {name: _encode(header) if name == "header" else array for name, array in arrays.items()})


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header, and all arrays including that of the header."""
    arrays = read_npz(path, "a posepipe model", limit=max_model_bytes)
    try:
        header = json.loads(arrays["header"].tobytes())
    except (KeyError, ValueError) as error:
        raise FormatError(path, f"not a posepipe model: no header that can be read ({error})") from None
    if not isinstance(header, dict):
        raise FormatError(path, f"not a posepipe model: its header is a {type(header).__name__}, no object")
    return header, arrays


def _answer_hash(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    return array_hash({**arrays, "header": _encode(_without_measured(header), sort_keys=True)})


def _without_measured(header: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_measured(value) if isinstance(value, dict) else value
        for name, value in header.items()
        if name not in MEASURED
    }


def _encode(header: dict[str, Any], sort_keys: bool = False) -> np.ndarray:
    return np.frombuffer(json.dumps(header, sort_keys=sort_keys).encode(), np.uint8)
