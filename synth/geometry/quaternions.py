"""Quaternions xyzw as plain arrays (..., 4). Rotation objects would cost too much time for the 20 of a pose."""

from __future__ import annotations

import numpy as np


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return rotation b, then a: (..., 4)."""
    ax, ay, az, aw = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bx, by, bz, bw = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def inverse(q: np.ndarray) -> np.ndarray:
    """Invert unit quaternions: (..., 4)."""
    return q * np.array([-1, -1, -1, 1], q.dtype)


def rotate(q: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Rotate vectors (..., 3) by one rotation (4,)."""
    axis, w = q[:3], q[3]
    across = 2 * np.cross(axis, vectors)
    return vectors + w * across + np.cross(axis, across)


def from_rotation_vector(vector_rad: np.ndarray) -> np.ndarray:
    """Return the rotation by |v| about v: (..., 3), radians, to (..., 4)."""
    angle = np.linalg.norm(vector_rad, axis=-1, keepdims=True)
    return np.concatenate([vector_rad * (0.5 * np.sinc(angle / (2 * np.pi))), np.cos(angle / 2)], axis=-1)


def about_axis(axis: int, angle_deg: float) -> np.ndarray:
    """Return the rotation about the axis x, y or z (0, 1, 2), degrees: (4,)."""
    vector_rad = np.zeros(3)
    vector_rad[axis] = np.radians(angle_deg)
    return from_rotation_vector(vector_rad)


def slerp(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """Interpolate from a to b by ``share`` along the shortest arc (Shoemake 1985): (..., 4)."""
    cosine = (a * b).sum(axis=-1, keepdims=True)
    b = np.where(cosine < 0, -b, b)
    angle = np.arccos(np.clip(np.abs(cosine), 0, 1))
    near = angle < 1e-4  # the sine vanishes; linear interpolation is accurate
    sine = np.where(near, 1, np.sin(angle))
    first = np.where(near, 1 - share, np.sin((1 - share) * angle) / sine)
    second = np.where(near, share, np.sin(share * angle) / sine)
    mixed = first * a + second * b
    return mixed / np.linalg.norm(mixed, axis=-1, keepdims=True)
