"""Kernels: rotation matrices and rotation vectors."""

from __future__ import annotations

import math

from posepipe.compilation import compiled_for, helper, njit

SMALL_RAD = 1e-4
"""Angles below which series replace quotients of small numbers."""


@njit(cache=True, error_model="numpy")
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


@helper(cache=True, error_model="numpy")
def quaternion_of(rotations, s):
    """Unit quaternion x, y, z, w of a rotation matrix, float64 (S, 3, 3) at ``s``; w is not negative.

    References
    ----------
    Shepperd, Quaternion from rotation matrix, J. Guidance and Control 1, 1978: the largest component first.
    """
    xx, yy, zz = rotations[s, 0, 0], rotations[s, 1, 1], rotations[s, 2, 2]
    zy, xz, yx = (
        rotations[s, 2, 1] - rotations[s, 1, 2],
        rotations[s, 0, 2] - rotations[s, 2, 0],
        rotations[s, 1, 0] - rotations[s, 0, 1],
    )
    xy, yz, zx = (
        rotations[s, 1, 0] + rotations[s, 0, 1],
        rotations[s, 2, 1] + rotations[s, 1, 2],
        rotations[s, 0, 2] + rotations[s, 2, 0],
    )
    trace = xx + yy + zz
    if trace >= max(xx, yy, zz):
        x, y, z, w = zy, xz, yx, 1 + trace
    elif xx >= max(yy, zz):
        x, y, z, w = 1 + xx - yy - zz, xy, zx, zy
    elif yy >= zz:
        x, y, z, w = xy, 1 + yy - xx - zz, yz, xz
    else:
        x, y, z, w = zx, yz, 1 + zz - xx - yy, yx
    size = math.sqrt(x * x + y * y + z * z + w * w)
    if w < 0:
        size = -size
    return x / size, y / size, z / size, w / size


@compiled_for("f8[:,:,::1], i8[::1], f8[:,::1]")
@njit(cache=True, error_model="numpy")
def quaternions_of(rotations, rows, out):
    """Fill ``out``, float64 (J, 4), with the quaternions of some rotations, int64 (J,); see `quaternion_of`."""
    for j in range(len(rows)):
        out[j, 0], out[j, 1], out[j, 2], out[j, 3] = quaternion_of(rotations, rows[j])


@njit(cache=True, error_model="numpy")
def vector_of(rotations, s, out):
    """Fill ``out``, float64 (3,), with the rotation vector of a rotation matrix, of length 0 to pi, radians."""
    x, y, z, w = quaternion_of(rotations, s)
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 if sine < SMALL_RAD else 2 * math.atan2(sine, w) / sine
    out[0], out[1], out[2] = x * scale, y * scale, z * scale


@njit(cache=True, error_model="numpy")
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
