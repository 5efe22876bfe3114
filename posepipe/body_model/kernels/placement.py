"""Kernels: where the segments of a body are, and how points on them move with posture and shape.

A posture is the place of the root, the turn of every segment from its parent, and the shape coefficients. A *step*
changes it a little (`posepipe.body_model.kernels.normal_equations`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.body_model.kernels.capsules import set_axis
from posepipe.body_model.kernels.rotations import rotation_of
from posepipe.compilation import compiled_for, helper, njit


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


LENGTHS = "origins_m", "joints_m", "capsule_ends_m", "radii_m"
"""Arrays of a body that depend on its build."""


BODY_ARRAYS_TYPE = (
    BodyArrays,
    "i8[::1], f8[:,:,::1], i8[::1], f8[:,:,::1], i8[::1], f8[:,:,:,::1], f8[:,:,::1], f8[:,::1],"
    "f8[:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1], i8[:,::1]",
)


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


POSTURE_TYPE = Posture, "f8[::1], f8[:,:,::1], f8[::1]"


class Placement(NamedTuple):
    """A posture in camera axes, and its derivatives by shape."""

    rotations: np.ndarray  #: float64 (S, 3, 3), of each segment from the rest pose
    starts_m: np.ndarray  #: float64 (S, 3)
    starts_by_shape: np.ndarray  #: float64 (S, K, 3), metres a unit
    joints_m: np.ndarray  #: float64 (J, 3)
    ends_m: np.ndarray  #: float64 (C, 2, 3), of the capsules
    radii_m: np.ndarray  #: float64 (C, 2)
    axes: np.ndarray  #: float64 (C, 5), of the capsules: unit axis, length in metres, slope; see `set_axis`

    @classmethod
    def empty(cls, body: BodyArrays) -> Placement:
        """Arrays to be filled by `place`."""
        s, k = len(body.parents), len(body.origins_m) - 1
        j, c = len(body.joint_segments), len(body.capsule_segments)
        shapes = (s, 3, 3), (s, 3), (s, k, 3), (j, 3), (c, 2, 3), (c, 2), (c, 5)
        return cls(*map(np.zeros, shapes))


PLACEMENT_TYPE = Placement, "f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1]"


@helper(cache=True, error_model="numpy")
def _built(array, shape, row):
    """A point that is linear in the shape: x, y, z of float64 (1 + K, N, 3) at ``row``."""
    x, y, z = array[0, row, 0], array[0, row, 1], array[0, row, 2]
    for k in range(len(shape)):
        x += shape[k] * array[1 + k, row, 0]
        y += shape[k] * array[1 + k, row, 1]
        z += shape[k] * array[1 + k, row, 2]
    return x, y, z


@compiled_for(BODY_ARRAYS_TYPE, "f8[::1]", BODY_ARRAYS_TYPE)
@njit(cache=True, error_model="numpy")
def build(body, shape, out):
    """Fill in the arrays of one build.

    Parameters
    ----------
    body : BodyArrays, of K coefficients
    shape : float64 (K,), coefficients
    out : BodyArrays of no coefficients, written in place
    """
    origins_m, joints_m = out.origins_m[0], out.joints_m[0]
    for s in range(len(body.parents)):
        origins_m[s, 0], origins_m[s, 1], origins_m[s, 2] = _built(body.origins_m, shape, s)
    for j in range(len(body.joint_segments)):
        joints_m[j, 0], joints_m[j, 1], joints_m[j, 2] = _built(body.joints_m, shape, j)
    for c in range(len(body.capsule_segments)):
        for end in range(2):
            out.radii_m[0, c, end] = body.radii_m[0, c, end]
            for k in range(len(shape)):
                out.radii_m[0, c, end] += shape[k] * body.radii_m[1 + k, c, end]
            for a in range(3):
                out.capsule_ends_m[0, c, end, a] = body.capsule_ends_m[0, c, end, a]
                for k in range(len(shape)):
                    out.capsule_ends_m[0, c, end, a] += shape[k] * body.capsule_ends_m[1 + k, c, end, a]


@njit(cache=True, error_model="numpy")
def place(body, posture, out):
    """Fill a `Placement` from a `Posture`.

    References
    ----------
    Forward kinematics. Naive twin: tests/reference/body_model/placement.py
    """
    shape, r, start_m = posture.shape, out.rotations, out.starts_m
    for s in range(len(body.parents)):
        place_segment(body, posture, s, out)
    for j in range(len(body.joint_segments)):
        s = body.joint_segments[j]
        x, y, z = _built(body.joints_m, shape, j)
        for a in range(3):
            out.joints_m[j, a] = start_m[s, a] + r[s, a, 0] * x + r[s, a, 1] * y + r[s, a, 2] * z
    for c in range(len(body.capsule_segments)):
        s = body.capsule_segments[c]
        for end in range(2):
            radius, x, y, z = (
                body.radii_m[0, c, end],
                body.capsule_ends_m[0, c, end, 0],
                body.capsule_ends_m[0, c, end, 1],
                body.capsule_ends_m[0, c, end, 2],
            )
            for k in range(len(shape)):
                radius += shape[k] * body.radii_m[1 + k, c, end]
                x += shape[k] * body.capsule_ends_m[1 + k, c, end, 0]
                y += shape[k] * body.capsule_ends_m[1 + k, c, end, 1]
                z += shape[k] * body.capsule_ends_m[1 + k, c, end, 2]
            out.radii_m[c, end] = max(radius, 0.005)
            for a in range(3):
                out.ends_m[c, end, a] = start_m[s, a] + r[s, a, 0] * x + r[s, a, 1] * y + r[s, a, 2] * z
        set_axis(out.ends_m, out.radii_m, c, out.axes)


@helper(cache=True, error_model="numpy")
def place_segment(body, posture, s, out):
    """Fill in where segment ``s`` of a `Placement` is; its parent is there already."""
    turns, shape, r, starts_m, by_shape = posture.turns, posture.shape, out.rotations, out.starts_m, out.starts_by_shape
    up = body.parents[s]
    if up < 0:
        for a in range(3):
            starts_m[s, a] = posture.root_m[a]
            for b in range(3):
                r[s, a, b] = turns[s, a, b]
            for k in range(len(shape)):
                by_shape[s, k, a] = 0.0
        return
    x, y, z = _built(body.origins_m, shape, s)
    for a in range(3):
        ux, uy, uz = r[up, a, 0], r[up, a, 1], r[up, a, 2]
        for b in range(3):
            r[s, a, b] = ux * turns[s, 0, b] + uy * turns[s, 1, b] + uz * turns[s, 2, b]
        starts_m[s, a] = starts_m[up, a] + ux * x + uy * y + uz * z
        for k in range(len(shape)):
            own = body.origins_m[1 + k, s, 0] * ux + body.origins_m[1 + k, s, 1] * uy
            by_shape[s, k, a] = by_shape[up, k, a] + own + body.origins_m[1 + k, s, 2] * uz


@njit(cache=True, error_model="numpy")
def take_step(body, root_m, turns, shape, placement, step, out):
    """Fill ``out``, a `Posture`, with root, turns and shape, placed as ``placement``, moved by a step, float64 (D,)."""
    turn, moved, coefficients = np.empty((3, 3)), np.empty(3), len(out.shape)
    r = placement.rotations
    for k in range(coefficients):
        out.shape[k] = shape[k] + step[k]
    for a in range(3):
        out.root_m[a] = root_m[a] + step[coefficients + a]
    for s in range(len(body.parents)):
        up, first = body.parents[s], coefficients + 3 + 3 * s
        x, y, z = step[first], step[first + 1], step[first + 2]
        for a in range(3):
            moved[a] = step[first + a]
            if up >= 0:  # into the parent's axes, in which the turn is
                moved[a] = r[up, 0, a] * x + r[up, 1, a] * y + r[up, 2, a] * z
        rotation_of(moved, turn)
        for a in range(3):
            for b in range(3):
                out.turns[s, a, b] = (
                    turn[a, 0] * turns[s, 0, b] + turn[a, 1] * turns[s, 1, b] + turn[a, 2] * turns[s, 2, b]
                )
