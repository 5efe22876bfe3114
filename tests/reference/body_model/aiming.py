"""The rotation nearest to a matrix, by its singular values."""

from __future__ import annotations

import numpy as np


def nearest_rotation(matrix):
    """Kabsch's rotation."""
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt
