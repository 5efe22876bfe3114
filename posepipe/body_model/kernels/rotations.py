"""Kernels: rotation matrices and rotation vectors."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import njit

SMALL_RAD = 1e-4
"""Angles below which series replace quotients of small numbers."""


@njit(cache=True)
def rotation_of(vector, out):
    """Fill ``out``, float64 (3, 3), with the rotation of a rotation vector, float64 (3,), radians.

    References
    ----------
    Rodrigues' formula. Naive twin: tests/reference/body_model/rotations.py
    """
    x, y, z = vector[0], vector[1], vector[2]
    angle2 = x * x + y * y + z * z
    angle = math.sqrt(angle2)
    if angle < SMALL_RAD:
        a, b = 1 - angle2 / 6, 0.5 - angle2 / 24
    else:
        a, b = math.sin(angle) / angle, (1 - math.cos(angle)) / angle2
    out[0, 0], out[0, 1], out[0, 2] = 1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    out[1, 0], out[1, 1], out[1, 2] = b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x
    out[2, 0], out[2, 1], out[2, 2] = b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)


@njit(cache=True)
def quaternion_of(rotation, out):
    """Fill ``out``, float64 (4,), with the unit quaternion x, y, z, w of a rotation matrix; w is not negative.

    References
    ----------
    Shepperd, Quaternion from rotation matrix, J. Guidance and Control 1, 1978: the largest component first.
    """
    r = rotation
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    largest = 3
    value = trace
    for i in range(3):
        if r[i, i] > value:
            largest, value = i, r[i, i]
    if largest == 3:
        out[3] = 1 + trace
        out[0], out[1], out[2] = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        out[i] = 1 + 2 * r[i, i] - trace
        out[j], out[k] = r[j, i] + r[i, j], r[k, i] + r[i, k]
        out[3] = r[k, j] - r[j, k]
    size = math.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
    if out[3] < 0:
        size = -size
    for i in range(4):
        out[i] /= size


@njit(cache=True)
def vector_of(rotation, out):
    """Fill ``out``, float64 (3,), with the rotation vector of a rotation matrix, of length 0 to pi, radians."""
    quaternion = np.empty(4)
    quaternion_of(rotation, quaternion)
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 if sine < SMALL_RAD else 2 * math.atan2(sine, w) / sine
    out[0], out[1], out[2] = x * scale, y * scale, z * scale


@njit(cache=True)
def inverse_jacobian(vector, out):
    """Fill ``out``, float64 (3, 3), with the derivative of a rotation's vector by a turn that is applied after it.

    For a small turn ``d``, the vector of ``exp(d) exp(v)`` is ``v + out d``.

    References
    ----------
    Sola, Deray, Atchuthan, A micro Lie theory for state estimation in robotics, 2018, eq. 146.
    """
    x, y, z = vector[0], vector[1], vector[2]
    angle2 = x * x + y * y + z * z
    angle = math.sqrt(angle2)
    half = angle / 2
    b = 1 / 12 + angle2 / 720 if angle < 1e-2 else 1 / angle2 - math.cos(half) / (2 * angle * math.sin(half))
    out[0, 0], out[0, 1], out[0, 2] = 1 - b * (y * y + z * z), b * x * y + z / 2, b * x * z - y / 2
    out[1, 0], out[1, 1], out[1, 2] = b * x * y - z / 2, 1 - b * (x * x + z * z), b * y * z + x / 2
    out[2, 0], out[2, 1], out[2, 2] = b * x * z + y / 2, b * y * z - x / 2, 1 - b * (x * x + y * y)
