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
_MAX_VALUE = 1e9  # also excludes NaN and infinities
ROTATION_TOLERANCE = 1e-3
"""Maximum deviation of the rows of a rotation from unit length and right angles: allows four written digits."""


def read_extrinsics(path: str | Path) -> Extrinsics:
    """Read ``{"T_world_camera": [[...] x 4] x 4}``: metres, z up, the floor at 0.

    The rotation is replaced by the nearest exact one. A camera below the floor, or above any ceiling, is warned of.

    Raises
    ------
    FormatError
        When the matrix is missing, or is not a rotation and translation.
    """
    try:
        extrinsics = parse_extrinsics(read_json_object(path).get(KEY))
    except ValueError as error:
        raise FormatError(path, str(error)) from None
    if not 0 <= (height_m := extrinsics.translation_m[2]) <= MAX_HEIGHT_M:
        _log.warning("%s: the camera is %g m above the floor; wanted metres, z up, the floor at 0", path, height_m)
    return extrinsics


def parse_extrinsics(value: object) -> Extrinsics:
    """Make extrinsics of four rows of four numbers; raises ValueError if they are not a rotation and translation."""
    try:
        given = np.array(value)
        matrix = given.astype(float) if given.dtype.kind in "iuf" else np.zeros(0)  # numbers in quotes are text
    except (TypeError, ValueError, OverflowError):
        matrix = np.zeros(0)
    if matrix.shape != (4, 4) or not (np.abs(matrix) < _MAX_VALUE).all():
        raise ValueError(f"wanted {KEY!r}, four rows of four numbers, got {str(value)[:60]}")
    rotation = matrix[:3, :3]
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > ROTATION_TOLERANCE or np.linalg.det(rotation) < 0:
        raise ValueError(
            f"the upper left 3x3 of {KEY!r} is no rotation: wanted rows of length 1 at right angles, without a mirror"
        )
    if np.abs(matrix[3] - [0, 0, 0, 1]).max() > ROTATION_TOLERANCE:
        raise ValueError(f"the last row of {KEY!r}: wanted 0 0 0 1, got {matrix[3].tolist()}; is it transposed?")
    left, _, right = np.linalg.svd(rotation)
    return Extrinsics(left @ right, matrix[:3, 3])


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
