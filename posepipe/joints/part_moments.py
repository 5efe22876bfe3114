"""Kernel: moments of the parts of a person: how much surface each has, where its centre is, and how it extends.

Modes say where a part is most. Moments say the rest: which way a forearm points, how much of either side of the head
shows, where a hand is that has no mode. Pixels count by the square of a part's probability: those that may be many
parts would blur all of them.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, njit

N_MOMENTS = 10
"""Surface, m^2; x, y, z of the centre, m; variances of x, y, z and covariances xy, xz, yz, m^2."""
MIN_SURFACE_M2 = 1e-4
"""Surface, a square centimetre, below which a part is not there: its moments are 0."""


@compiled_for("f4[:,::1], f4[::1], f4[:,::1], f8[:,::1]")
@njit(cache=True)
def _add_moments(points, area, values, sums):
    terms = np.ones(N_MOMENTS)
    for n in range(len(points)):
        x, y, z = np.float64(points[n, 0]), np.float64(points[n, 1]), np.float64(points[n, 2])
        terms[1], terms[2], terms[3] = x, y, z
        terms[4], terms[5], terms[6] = x * x, y * y, z * z
        terms[7], terms[8], terms[9] = x * y, x * z, y * z
        for k in range(N_MOMENTS):
            term = terms[k] * area[n]
            for c in range(values.shape[1]):  # adjacent in memory, to be vectorised
                sums[k, c] += term * (values[n, c] * values[n, c])


def part_moments(points_m: np.ndarray, area_m2: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Measure the moments of all parts, each pixel weighted by its surface and the square of the part's probability.

    Parameters
    ----------
    points_m : float32 (N, 3), metres, camera axes
    area_m2 : float32 (N,), surface of each pixel
    values : float32 (N, C), part probabilities; column 0 = not a person

    Returns
    -------
    float64 (C - 1, N_MOMENTS): surface, centre, variances and covariances of each part; 0 for a part that is not there

    References
    ----------
    Naive twin: tests/reference/joints/part_moments.py
    """
    sums = np.zeros((N_MOMENTS, values.shape[1]))
    _add_moments(points_m, area_m2, values, sums)
    surface, means = sums[0, 1:], sums[1:, 1:] / np.maximum(sums[0, 1:], MIN_SURFACE_M2)
    x, y, z = means[:3]
    spread = means[3:] - [x * x, y * y, z * z, x * y, x * z, y * z]
    return np.where(surface >= MIN_SURFACE_M2, [surface, *means[:3], *spread], 0).T.copy()
