"""Rotation vectors, matrices and quaternions, by SciPy; the derivative of a vector by finite differences."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

STEP = 1e-6


def rotation_of(vector):
    """Rotation matrix of a rotation vector."""
    return Rotation.from_rotvec(vector).as_matrix()


def vector_of(rotation):
    """Rotation vector of a rotation matrix."""
    return Rotation.from_matrix(rotation).as_rotvec()


def quaternion_of(rotation):
    """Unit quaternion x, y, z, w of a rotation matrix; w is not negative."""
    return Rotation.from_matrix(rotation).as_quat(canonical=True)


def inverse_jacobian(vector):
    """Derivative of a rotation's vector by a turn that is applied after it, axis by axis."""
    columns = []
    for turn in STEP * np.eye(3):
        ahead, back = (Rotation.from_rotvec(sign * turn) * Rotation.from_rotvec(vector) for sign in (1, -1))
        columns.append((ahead.as_rotvec() - back.as_rotvec()) / (2 * STEP))
    return np.stack(columns, axis=1)
