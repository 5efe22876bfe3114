"""Extrinsics of a fixed camera, from a JSON file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posepipe.camera.extrinsics import Extrinsics
from posepipe.errors import FormatError
from posepipe.io.files import read_json_object

KEY = "T_world_camera"
_MAX_VALUE = 1e9  # also excludes NaN and infinities
ROTATION_TOLERANCE = 1e-3
"""Maximum deviation of the rows of a rotation from unit length and right angles: allows four written digits."""


def read_extrinsics(path: str | Path) -> Extrinsics:
    """Read ``{"T_world_camera": [[...] x 4] x 4}``: metres, z up, the floor at 0.

    The rotation is replaced by the nearest exact one.

    Raises
    ------
    FormatError
        When the matrix is missing, or is not a rotation and translation.
    """
    value = read_json_object(path).get(KEY)
    try:
        matrix = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        matrix = np.zeros(0)
    if matrix.shape != (4, 4) or not (np.abs(matrix) < _MAX_VALUE).all():
        raise FormatError(path, f"wanted {KEY!r}, four rows of four numbers, got {str(value)[:60]}")
    rotation = matrix[:3, :3]
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > ROTATION_TOLERANCE or np.linalg.det(rotation) < 0:
        raise FormatError(
            path,
            f"the upper left 3x3 of {KEY!r} is no rotation: wanted rows of length 1 at right angles, without a mirror",
        )
    if np.abs(matrix[3] - [0, 0, 0, 1]).max() > ROTATION_TOLERANCE:
        raise FormatError(path, f"the last row of {KEY!r}: wanted 0 0 0 1, got {matrix[3].tolist()}; is it transposed?")
    left, _, right = np.linalg.svd(rotation)
    return Extrinsics(left @ right, matrix[:3, 3])
