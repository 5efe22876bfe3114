"""Kernel: weighted 3D points to the modes of their density, by Gaussian mean shift.

Every landmark is one task: it gathers the pixels that may be its own, climbs from the heaviest, then
from the heaviest of those that lie round no summit yet, and keeps the distinct summits.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

MAX_MODES = 4
"""Summits kept for each landmark, the heaviest first."""
MOST_CLIMBS = 16
"""For each landmark: from its heaviest pixel, then from the heaviest that is not explained yet, and so on."""
EXPLAINED = 1.5
"""Pixels closer than this, in sigmas, to where a climb began or ended are explained: none begins there."""
MAX_STEPS = 40
LEAP = np.float32(1.5)
"""A step goes so much further than to the mean: below 2 it ends at the same summits, in fewer steps."""
STILL_M = 0.0005
"""A climb ends when a step is shorter."""
MERGE = 0.5
"""Summits closer than this, in sigmas, are one."""
REACH = 3.0
"""Beyond so many sigmas a pixel weighs less than 1.2 % and is left out."""


_TABLE_STEPS = 512
_GAUSSIAN = np.exp(-0.5 * np.linspace(0, REACH**2, _TABLE_STEPS + 2)).astype(np.float32)
"""exp(-x / 2) over squared distance in sigmas; linear interpolation errs by less than 1e-4."""


@njit(cache=True)
def _shift(points, weights, count, x, y, z, bandwidth):
    """Weighted mean round (x, y, z) under a Gaussian kernel, and the mass that the kernel holds."""
    scale = np.float32(_TABLE_STEPS / REACH**2) / (bandwidth * bandwidth)
    mass = mx = my = mz = np.float32(0)
    for i in range(count):
        dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
        place = (dx * dx + dy * dy + dz * dz) * scale
        if place < np.float32(_TABLE_STEPS):
            cell = np.int32(place)
            low = _GAUSSIAN[cell]
            w = weights[i] * (low + (place - cell) * (_GAUSSIAN[cell + 1] - low))
            mass += w
            mx += w * dx
            my += w * dy
            mz += w * dz
    return x + mx / mass, y + my / mass, z + mz / mass, mass


@njit(cache=True)
def _near_mode(modes, masses, x, y, z, radius_m):
    """Whether a summit already found lies within a radius."""
    for m in range(MAX_MODES):
        if masses[m] > 0:
            gap = (modes[m, 0] - x) ** 2 + (modes[m, 1] - y) ** 2 + (modes[m, 2] - z) ** 2
            if gap < radius_m * radius_m:
                return True
    return False


@njit(cache=True)
def _climb(points, weights, count, start, bandwidth, modes, masses):
    """Climb from a point to its summit; a climb that comes close to a known one ends there, mass 0."""
    x, y, z = points[start, 0], points[start, 1], points[start, 2]
    mass = np.float32(0)
    for _ in range(MAX_STEPS):
        nx, ny, nz, mass = _shift(points, weights, count, x, y, z, bandwidth)
        step = (nx - x) ** 2 + (ny - y) ** 2 + (nz - z) ** 2
        x, y, z = x + LEAP * (nx - x), y + LEAP * (ny - y), z + LEAP * (nz - z)
        if _near_mode(modes, masses, x, y, z, bandwidth * MERGE):
            return x, y, z, np.float32(0)
        if step < STILL_M * STILL_M:
            break
    return x, y, z, mass


@njit(cache=True)
def _insert_mode(modes, masses, x, y, z, mass):
    """Keep a summit; modes stay sorted by mass."""
    for m in range(MAX_MODES):
        if mass > masses[m]:
            for n in range(MAX_MODES - 1, m, -1):
                modes[n] = modes[n - 1]
                masses[n] = masses[n - 1]
            modes[m, 0], modes[m, 1], modes[m, 2] = x, y, z
            masses[m] = mass
            return


@njit(cache=True)
def climb_to_mode(points, weights, count, start, bandwidth, modes, masses):
    """Climb from one of the first ``count`` points, and keep the summit when it is new.

    Parameters
    ----------
    points : float32 (>= count, 3), metres
    weights : float32 (>= count,), above 0 at the start
    start : int, row of the point to climb from
    bandwidth : float32, sigma of the Gaussian, metres
    modes, masses : float32 (MAX_MODES, 3) and (MAX_MODES,), the summits so far, heaviest first; masses start as 0

    Returns
    -------
    x, y, z : metres, where the climb ended
    """
    x, y, z, mass = _climb(points, weights, count, start, bandwidth, modes, masses)
    if mass > 0:
        _insert_mode(modes, masses, x, y, z, mass)
    return x, y, z


@njit(cache=True)
def _explain(points, x, y, z, reach2, open_weights):
    """Set the weights of all points within a reach to 0."""
    for i in range(len(open_weights)):
        dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
        if not dx * dx + dy * dy + dz * dz > reach2:
            open_weights[i] = 0


@njit(cache=True)
def find_summits(points, weights, count, bandwidth, most_climbs, modes, masses):
    """Find the summits of some weighted points' density, from the heaviest point that none explains yet.

    Parameters
    ----------
    points, weights, count, bandwidth, modes, masses : as for `climb_to_mode`; points of weight 0 have no part
    most_climbs : int
    """
    reach2 = (np.float32(EXPLAINED) * bandwidth) ** 2
    open_weights = weights[:count].copy()  # 0 = explained
    for _ in range(most_climbs):
        start = 0
        for i in range(count):
            if open_weights[i] > open_weights[start]:
                start = i
        if count == 0 or not open_weights[start] > 0:
            return
        x, y, z = climb_to_mode(points, weights, count, start, bandwidth, modes, masses)
        _explain(points, points[start, 0], points[start, 1], points[start, 2], reach2, open_weights)
        _explain(points, x, y, z, reach2, open_weights)


@njit(cache=True, parallel=True)
def _find_modes(points, probabilities, area, bandwidth, min_probability, modes, masses):
    for landmark in prange(probabilities.shape[1]):  # a landmark owns its rows of modes and masses
        near = np.empty((len(points), 3), np.float32)
        weights = np.empty(len(points), np.float32)
        count = 0
        for i in range(len(points)):
            if probabilities[i, landmark] > min_probability[landmark]:
                near[count] = points[i]
                weights[count] = probabilities[i, landmark] * area[i]
                count += 1
        find_summits(near, weights, count, bandwidth[landmark], MOST_CLIMBS, modes[landmark], masses[landmark])


def find_modes(
    points_m: np.ndarray,
    probabilities: np.ndarray,
    area_m2: np.ndarray,
    bandwidth_m: np.ndarray,
    min_probability: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Modes of each landmark's density, heaviest first.

    At most MOST_CLIMBS climbs each; the kernel ends at REACH sigmas; summits within MERGE sigmas are one.

    Parameters
    ----------
    points_m : float32 (N, 3), metres
    probabilities : float32 (N, L)
    area_m2 : float32 (N,), square metres; a point weighs probability x area
    bandwidth_m : float32 (L,), sigma of the Gaussian
    min_probability : float32 (L,); points at or below it take no part

    Returns
    -------
    modes : float32 (L, MAX_MODES, 3), metres
    masses : float32 (L, MAX_MODES), square metres under the kernel at the mode; 0 = no mode

    References
    ----------
    Comaniciu and Meer, PAMI 2002; Shotton et al., CVPR 2011, section 4; leaps as in over-relaxed EM, Salakhutdinov
    and Roweis, ICML 2003. Naive twin: tests/reference/mean_shift.py
    """
    n_landmarks = probabilities.shape[1]
    modes = np.zeros((n_landmarks, MAX_MODES, 3), np.float32)
    masses = np.zeros((n_landmarks, MAX_MODES), np.float32)
    _find_modes(points_m, probabilities, area_m2, bandwidth_m, min_probability, modes, masses)
    return modes, masses
