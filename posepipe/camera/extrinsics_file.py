"""Where a camera is in the world, from a JSON file: measured once, for a camera that is bolted down."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posepipe.camera.extrinsics import Extrinsics
from posepipe.errors import FormatError
from posepipe.io.files import read_json_object

KEY = "T_world_camera"
TURN_TOLERANCE = 1e-3
"""How far rows of a rotation may be from unit length and right angles: numbers written with four digits are."""


def read_extrinsics(path: str | Path) -> Extrinsics:
    """Read ``{"T_world_camera": [[...] x 4] x 4}``: metres, z up, the floor at 0.

    Raises
    ------
    FormatError
        For a file without it, or a matrix that is no rotation and translation.
    """
    value = read_json_object(path).get(KEY)
    try:
        matrix = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        matrix = np.zeros(0)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise FormatError(path, f"wanted {KEY!r}, four rows of four numbers, got {str(value)[:60]}")
    turn = matrix[:3, :3]
    if np.abs(turn @ turn.T - np.eye(3)).max() > TURN_TOLERANCE or np.linalg.det(turn) < 0:
        raise FormatError(
            path, f"the upper left 3x3 of {KEY!r} is no rotation: rows of length 1 at right angles, and no mirror"
        )
    if np.abs(matrix[3] - [0, 0, 0, 1]).max() > TURN_TOLERANCE:
        raise FormatError(path, f"the last row of {KEY!r} is 0 0 0 1, got {matrix[3].tolist()}; is it transposed?")
    left, _, right = np.linalg.svd(turn)
    return Extrinsics(left @ right, matrix[:3, 3])
