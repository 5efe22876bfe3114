"""Kernels: where the segments of a body are, and how points on them move with posture and shape.

A posture is the place of the root, the turn of every segment from its parent, and the shape coefficients. A *step*
changes it a little (`posepipe.body_model.normal_equations`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.body_model.body_model import BodyModel
from posepipe.body_model.rotations import rotation_of
from posepipe.compilation import njit


class BodyArrays(NamedTuple):
    """The arrays of a `BodyModel`, as kernels take them; shapes and units are those of the model."""

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

    @classmethod
    def of(cls, model: BodyModel, pairs: np.ndarray) -> BodyArrays:
        """Take the arrays of a model."""
        arrays = {name: np.ascontiguousarray(getattr(model, name)) for name in cls._fields if name != "pairs"}
        return cls(**arrays, pairs=pairs)


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
def place(body, posture, out):  # noqa: C901 - one pass over segments, joints and capsules
    """Fill a `Placement` from a `Posture`.

    References
    ----------
    Forward kinematics. Naive twin: tests/reference/body_model/placement.py
    """
    root_m, turns, shape = posture
    rotations, starts_m, by_shape = out.rotations, out.starts_m, out.starts_by_shape
    local = np.empty(3)
    for s in range(len(body.parents)):
        parent = body.parents[s]
        if parent < 0:
            rotations[s] = turns[s]
            starts_m[s] = root_m
            by_shape[s] = 0.0
            continue
        up = rotations[parent]
        for a in range(3):
            local[a] = _built(body.origins_m, shape, s, a)
            for b in range(3):
                rotations[s, a, b] = up[a, 0] * turns[s, 0, b] + up[a, 1] * turns[s, 1, b] + up[a, 2] * turns[s, 2, b]
        for a in range(3):
            starts_m[s, a] = starts_m[parent, a] + up[a, 0] * local[0] + up[a, 1] * local[1] + up[a, 2] * local[2]
            for k in range(len(shape)):
                of_k = body.origins_m[1 + k, s]
                by_shape[s, k, a] = (
                    by_shape[parent, k, a] + up[a, 0] * of_k[0] + up[a, 1] * of_k[1] + up[a, 2] * of_k[2]
                )
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
        parent, own = body.parents[s], step[3 + coefficients + 3 * s : 6 + coefficients + 3 * s]
        for a in range(3):
            moved[a] = own[a]
            if parent >= 0:  # into the parent's axes, in which the turn is
                up = placement.rotations[parent]
                moved[a] = up[0, a] * own[0] + up[1, a] * own[1] + up[2, a] * own[2]
        rotation_of(moved, turn)
        old = turns[s]
        for a in range(3):
            for b in range(3):
                out.turns[s, a, b] = turn[a, 0] * old[0, b] + turn[a, 1] * old[1, b] + turn[a, 2] * old[2, b]
    for k in range(len(out.shape)):
        out.shape[k] = shape[k] + step[3 + k]
