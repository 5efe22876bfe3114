"""Extrinsics of a fixed camera, in a JSON file."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np

from posepipe.camera.extrinsics import Extrinsics
from posepipe.errors import FormatError
from posepipe.io.files import read_json_object, replace_file

_log = logging.getLogger(__name__)

KEY = "T_world_camera"
OFFSET_KEY = "time_offset_s"
MAX_OFFSET_S = 3600.0
MAX_HEIGHT_M = 50.0
"""Height of a camera above the floor from which on its unit is doubted."""
_DECIMALS = 9


def read_extrinsics(path: str | Path) -> Extrinsics:
    """Read ``{"T_world_camera": [[...] x 4] x 4}``: metres, z up, the floor at 0.

    The rotation is replaced by the nearest exact one. A camera below the floor, or above any ceiling, is warned of.

    Raises
    ------
    FormatError
        When the matrix is missing, or is not a rotation and translation.
    """
    try:
        extrinsics = Extrinsics.of_matrix(read_json_object(path).get(KEY))
    except ValueError as error:
        raise FormatError(path, str(error)) from None
    if not 0 <= (height_m := extrinsics.translation_m[2]) <= MAX_HEIGHT_M:
        _log.warning("%s: the camera is %g m above the floor; wanted metres, z up, the floor at 0", path, height_m)
    return extrinsics


def read_time_offset_s(path: str | Path) -> float:
    """Read ``time_offset_s``: seconds to add to this camera's times for those of the first camera; 0 where absent.

    Raises
    ------
    FormatError
        When it is no number, or above `MAX_OFFSET_S`.
    """
    value = read_json_object(path).get(OFFSET_KEY, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_OFFSET_S:
        raise FormatError(path, f"key {OFFSET_KEY!r}: wanted seconds within {MAX_OFFSET_S:g} of 0, got {value!r:.60}")
    return float(value)


def write_extrinsics(path: str | Path, extrinsics: Extrinsics, time_offset_s: float = 0.0) -> None:
    """Write a file for `read_extrinsics` and `read_time_offset_s`, replacing an older one when it is complete."""
    rows = ", ".join(json.dumps(row) for row in np.round(extrinsics.matrix, _DECIMALS).tolist())
    offset = f', "{OFFSET_KEY}": {json.dumps(time_offset_s)}' if time_offset_s else ""
    replace_file(path, f'{{"{KEY}": [{rows}]{offset}}}\n'.encode())
