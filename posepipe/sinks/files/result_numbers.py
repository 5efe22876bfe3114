"""Numbers and names of results: rounded when they are written, checked when they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_DECIMALS = 4  # 0.1 mm: far below the resolution of a depth camera
_MAX_LENGTH_ERROR = 0.01  # of a quaternion


def rounded(value: float) -> float:
    """Round to four decimals; never -0.0."""
    return round(float(value), _DECIMALS) + 0.0  # adding 0.0 turns -0.0 into 0.0


def rounded_point(xyz_m: Sequence[float] | np.ndarray) -> tuple[float, float, float]:
    """Round a point to 0.1 mm."""
    x, y, z = map(rounded, xyz_m)
    return x, y, z


def finite(value: object) -> float:
    """Check one number of JSON. Raises ValueError for any but a finite one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"wanted a finite number, got {value!r:.40}")
    return float(value)


def whole(value: object) -> int:
    """Check one whole number of JSON; programs write 1.0, too. Raises ValueError for any other."""
    number = finite(value)
    if number != int(number):
        raise ValueError(f"wanted a whole number, got {value!r:.40}")
    return int(value)  # type: ignore[call-overload]  # large ones have no float of their own


def point(values: Sequence[float]) -> tuple[float, float, float]:
    """Check three coordinates. Raises ValueError for any but finite numbers."""
    x, y, z = map(finite, values)
    return x, y, z


def quaternion(values: Sequence[float]) -> tuple[float, float, float, float]:
    """Check a rotation, x y z w. Raises ValueError for one of another length than 1."""
    x, y, z, w = map(finite, values)
    length = math.hypot(x, y, z, w)
    if abs(length - 1) > _MAX_LENGTH_ERROR:
        raise ValueError(f"wanted a quaternion of length 1, got length {length:.3g}")
    return x, y, z, w


def names(values: object) -> tuple[str, ...]:
    """Check a list of names. Raises ValueError for anything but different texts."""
    if not isinstance(values, list) or not all(isinstance(name, str) for name in values):
        raise ValueError(f"wanted a list of names, got {values!r:.40}")
    if len(set(values)) < len(values):
        raise ValueError(f"wanted different names, got {values!r:.40}")
    return tuple(values)
