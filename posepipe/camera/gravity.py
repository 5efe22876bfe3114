"""Direction of up in camera axes, and how an accelerometer gives it.

At rest an accelerometer measures the force that holds it against gravity, which points up (REP 145).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

UpVector = tuple[float, float, float]
"""Unit vector away from the ground, camera axes."""
CAMERA_UP: UpVector = (0.0, -1.0, 0.0)
"""Of a level camera."""
GRAVITY_M_S2 = 9.81
MAX_OFF_M_S2 = 1.5
"""Maximum difference from gravity of the mean acceleration of a camera that is held still or carried."""


def unit_up(direction: Sequence[float] | np.ndarray) -> UpVector:
    """Scale a direction (3,) to length 1. Raises ValueError unless it is finite and not 0."""
    x, y, z = map(float, direction)
    length = math.hypot(x, y, z)
    if not (math.isfinite(length) and length > 0):
        raise ValueError(f"up: wanted a direction in camera axes, got {(x, y, z)}")
    return x / length, y / length, z / length


def up_of(acceleration_m_s2: np.ndarray) -> UpVector | None:
    """Direction of up by a mean acceleration (3,), camera axes; None = the camera shakes, or the mean is not finite."""
    strength = float(np.linalg.norm(acceleration_m_s2))
    return unit_up(acceleration_m_s2) if abs(strength - GRAVITY_M_S2) < MAX_OFF_M_S2 else None
