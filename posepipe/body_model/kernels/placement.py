"""Kernels: where the segments of a body are, and how points on them move with posture and shape.

A posture is the place of the root, the turn of every segment from its parent, and the shape coefficients. A *step*
changes it a little (`posepipe.body_model.kernels.normal_equations`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.body_model.kernels.rotations import rotation_of
from posepipe.compilation import njit


class BodyArrays(NamedTuple):
    """The arrays of a `BodyModel`, as kernels take them; shapes and units are those of the model.

    A body of one build has no shape coefficients: its arrays (1 + K, ...) have one row.
    """

    parents: np.ndarray
    origins_m: np.ndarray
    joint_segments: np.ndarray
    joints_m: np.ndarray
    capsule_segments: np.ndarray
    capsule_ends_m: np.ndarray
    radii_m: np.ndarray
    part_capsules: np.ndarray
    turn_mean_rad: np.ndarray
    turn_axes: np.ndarray
    turn_sigma_rad: np.ndarray
    turn_low_rad: np.ndarray
    turn_high_rad: np.ndarray
    pairs: np.ndarray  #: int64 (P, 2), capsules that must not enter each other


class Posture(NamedTuple):
    """One posture and shape; kernels write its arrays in place."""

    root_m: np.ndarray  #: float64 (3,), camera axes
    turns: np.ndarray  #: float64 (S, 3, 3), rotation of each segment from its parent's, of the root from camera axes
    shape: np.ndarray  #: float64 (K,), coefficients

    @classmethod
    def empty(cls, segments: int, coefficients: int) -> Posture:
        """Mean turns of nothing: the identity at the origin."""
        return cls(np.zeros(3), np.tile(np.eye(3), (segments, 1, 1)), np.zeros(coefficients))

    def copy(self) -> Posture:
        """Return a copy of all arrays."""
        return Posture(*(array.copy() for array in self))


class Placement(NamedTuple):
    """A posture in camera axes, and its derivatives by shape."""

    rotations: np.ndarray  #: float64 (S, 3, 3), of each segment from the rest pose
    starts_m: np.ndarray  #: float64 (S, 3)
    starts_by_shape: np.ndarray  #: float64 (S, K, 3), metres a unit
    joints_m: np.ndarray  #: float64 (J, 3)
    ends_m: np.ndarray  #: float64 (C, 2, 3), of the capsules
    radii_m: np.ndarray  #: float64 (C, 2)

    @classmethod
    def empty(cls, body: BodyArrays) -> Placement:
        """Arrays to be filled by `place`."""
        s, k = len(body.parents), len(body.origins_m) - 1
        j, c = len(body.joint_segments), len(body.capsule_segments)
        return cls(
            np.zeros((s, 3, 3)),
            np.zeros((s, 3)),
            np.zeros((s, k, 3)),
            np.zeros((j, 3)),
            np.zeros((c, 2, 3)),
            np.zeros((c, 2)),
        )


@njit(cache=True)
def _built(array, shape, row, axis):
    """One coordinate of a length that is linear in the shape: float64 (1 + K, N, 3) at (row, axis)."""
    value = array[0, row, axis]
    for k in range(len(shape)):
        value += shape[k] * array[1 + k, row, axis]
    return value


@njit(cache=True)
def place(body, posture, out):
    """Fill a `Placement` from a `Posture`.

    References
    ----------
    Forward kinematics. Naive twin: tests/reference/body_model/placement.py
    """
    shape, rotations, starts_m = posture.shape, out.rotations, out.starts_m
    local = np.empty(3)
    for s in range(len(body.parents)):
        place_segment(body, posture, s, out)
    for j in range(len(body.joint_segments)):
        s = body.joint_segments[j]
        for a in range(3):
            local[a] = _built(body.joints_m, shape, j, a)
        _carry(rotations[s], starts_m[s], local, out.joints_m[j])
    for c in range(len(body.capsule_segments)):
        s = body.capsule_segments[c]
        for end in range(2):
            radius = body.radii_m[0, c, end]
            for a in range(3):
                local[a] = body.capsule_ends_m[0, c, end, a]
            for k in range(len(shape)):
                radius += shape[k] * body.radii_m[1 + k, c, end]
                for a in range(3):
                    local[a] += shape[k] * body.capsule_ends_m[1 + k, c, end, a]
            out.radii_m[c, end] = max(radius, 0.005)
            _carry(rotations[s], starts_m[s], local, out.ends_m[c, end])


@njit(cache=True)
def place_segment(body, posture, s, out):
    """Fill in where segment ``s`` of a `Placement` is; its parent is there already."""
    turns, shape, rotations, starts_m = posture.turns, posture.shape, out.rotations, out.starts_m
    parent = body.parents[s]
    if parent < 0:
        for a in range(3):
            starts_m[s, a] = posture.root_m[a]
            for b in range(3):
                rotations[s, a, b] = turns[s, a, b]
            for k in range(len(shape)):
                out.starts_by_shape[s, k, a] = 0.0
        return
    x, y, z = (
        _built(body.origins_m, shape, s, 0),
        _built(body.origins_m, shape, s, 1),
        _built(body.origins_m, shape, s, 2),
    )
    for a in range(3):
        up_x, up_y, up_z = rotations[parent, a, 0], rotations[parent, a, 1], rotations[parent, a, 2]
        for b in range(3):
            rotations[s, a, b] = up_x * turns[s, 0, b] + up_y * turns[s, 1, b] + up_z * turns[s, 2, b]
        starts_m[s, a] = starts_m[parent, a] + up_x * x + up_y * y + up_z * z
        for k in range(len(shape)):
            own = body.origins_m[1 + k, s, 0] * up_x + body.origins_m[1 + k, s, 1] * up_y
            out.starts_by_shape[s, k, a] = out.starts_by_shape[parent, k, a] + own + body.origins_m[1 + k, s, 2] * up_z


@njit(cache=True)
def _carry(rotation, start_m, local_m, out):
    for a in range(3):
        out[a] = start_m[a] + rotation[a, 0] * local_m[0] + rotation[a, 1] * local_m[1] + rotation[a, 2] * local_m[2]


@njit(cache=True)
def take_step(body, root_m, turns, shape, placement, step, out):
    """Fill ``out``, a `Posture`, with root, turns and shape, placed as ``placement``, moved by a step, float64 (D,)."""
    turn, moved, coefficients = np.empty((3, 3)), np.empty(3), len(out.shape)
    for a in range(3):
        out.root_m[a] = root_m[a] + step[a]
    for s in range(len(body.parents)):
        parent, first = body.parents[s], 3 + coefficients + 3 * s
        for a in range(3):
            moved[a] = step[first + a]
            if parent >= 0:  # into the parent's axes, in which the turn is
                up = placement.rotations[parent]
                moved[a] = up[0, a] * step[first] + up[1, a] * step[first + 1] + up[2, a] * step[first + 2]
        rotation_of(moved, turn)
        old = turns[s]
        for a in range(3):
            for b in range(3):
                out.turns[s, a, b] = turn[a, 0] * old[0, b] + turn[a, 1] * old[1, b] + turn[a, 2] * old[2, b]
    for k in range(len(out.shape)):
        out.shape[k] = shape[k] + step[3 + k]
