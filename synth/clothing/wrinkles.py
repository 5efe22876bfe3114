"""Kernel: skin displaced along its normals, with wrinkles."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit


@njit(cache=True, inline="always")
def _sine(turns):
    """Sine of a number of full turns, within 4e-6: its Taylor series in the quarter turn about 0, without branches."""
    turns -= np.float32(0.25)  # now a cosine, an even function
    quarter = np.float32(0.25) - abs(turns - np.floor(turns + np.float32(0.5)))
    square = quarter * quarter
    series = np.float32(-76.70586) + square * np.float32(42.058694)
    series = np.float32(-41.341702) + square * (np.float32(81.605249) + square * series)
    return quarter * (np.float32(6.2831853) + square * series)


@njit(cache=True)
def push_out(vertices_m, normals, stand_off, waves, phases, out):
    """Fill ``out`` with vertices moved along their normals by the stand-off, scaled by the wrinkles.

    Parameters
    ----------
    vertices_m, normals, out : float32 (V, 3)
    stand_off : float32 (V,), metres
    waves : float32 (3, F), waves a metre along x, y and z
    phases : float32 (F,), waves

    References
    ----------
    Naive twin: tests/reference/synth/clothing/wrinkles.py
    """
    # one contiguous array an axis lets the compiler vectorise the loop
    xs, ys, zs = vertices_m[:, 0].copy(), vertices_m[:, 1].copy(), vertices_m[:, 2].copy()
    wrinkles = np.zeros(len(xs), np.float32)
    for k in range(len(phases)):
        wave_x, wave_y, wave_z, phase = waves[0, k], waves[1, k], waves[2, k], phases[k]
        for v in range(len(xs)):
            wrinkles[v] += _sine(xs[v] * wave_x + ys[v] * wave_y + zs[v] * wave_z + phase)
    share = np.float32(1 / len(phases))
    for v in range(len(xs)):
        metres = stand_off[v] * (np.float32(1) + wrinkles[v] * share)
        for axis in range(3):
            out[v, axis] = vertices_m[v, axis] + normals[v, axis] * metres
