"""Kernel: weighted 3D points to the modes of their density, by Gaussian mean shift.

Every landmark is one task: it gathers the pixels that may be its own, climbs from the heaviest, then
from the heaviest of those that lie round no summit yet, and keeps the distinct summits.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

MAX_MODES = 4
"""Summits kept for each landmark, the heaviest first."""
MAX_STARTS = 16
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


LANES = 16
"""Points are looked at so many at a time, in vectors; a landmark's are made up to a multiple by some that weigh 0."""
_HALVINGS = 6


@njit(cache=True, inline="always")
def _gaussian(squared):
    """exp(-squared / 2) to 4e-6 up to REACH: a cubic near 0, squared as often as the exponent was halved before."""
    t = squared * np.float32(0.5 / 2**_HALVINGS)
    value = np.float32(1) - t * (np.float32(1) - t * (np.float32(1 / 2) - t * np.float32(1 / 6)))
    for _ in range(_HALVINGS):
        value *= value
    return value


@njit(cache=True)
def _weighted_mean(near, weights, x, y, z, bandwidth, sums):
    """Weighted mean round (x, y, z) under a Gaussian kernel, and the mass that the kernel holds."""
    per_sigma2 = np.float32(1) / (bandwidth * bandwidth)
    sums[:] = 0
    mass, mx, my, mz = sums[0], sums[1], sums[2], sums[3]  # of each lane
    for first in range(0, len(weights), LANES):
        lanes = slice(first, first + LANES)
        px, py, pz, pw = near[0, lanes], near[1, lanes], near[2, lanes], weights[lanes]
        for i in range(LANES):
            dx, dy, dz = px[i] - x, py[i] - y, pz[i] - z
            squared = (dx * dx + dy * dy + dz * dz) * per_sigma2
            w = pw[i] * _gaussian(squared) if squared < np.float32(REACH**2) else np.float32(0)
            mass[i] += w
            mx[i] += w * dx
            my[i] += w * dy
            mz[i] += w * dz
    total, x_moment, y_moment, z_moment = mass.sum(), mx.sum(), my.sum(), mz.sum()
    return x + x_moment / total, y + y_moment / total, z + z_moment / total, total


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
def _shift_to_mode(near, weights, start, bandwidth, modes, masses):
    """Climb from a point to its summit; a climb that comes close to a known one ends there, mass 0."""
    x, y, z = near[0, start], near[1, start], near[2, start]
    mass, sums = np.float32(0), np.empty((4, LANES), np.float32)
    for _ in range(MAX_STEPS):
        nx, ny, nz, mass = _weighted_mean(near, weights, x, y, z, bandwidth, sums)
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
def room_for(n_points):
    """Points that make up ``n_points`` to a multiple of LANES: near, float32 (3, N), and weights, (N,), all 0."""
    n = -(-n_points // LANES) * LANES
    return np.zeros((3, n), np.float32), np.zeros(n, np.float32)


@njit(cache=True)
def shift_to_mode(near, weights, start, bandwidth, modes, masses):
    """Climb from one of some points, and keep the summit when it is new.

    Parameters
    ----------
    near : float32 (3, N), metres; N a multiple of LANES, all of them finite
    weights : float32 (N,), above 0 at the start; points of weight 0 have no part
    start : int, column of the point to climb from
    bandwidth : float32, sigma of the Gaussian, metres
    modes, masses : float32 (MAX_MODES, 3) and (MAX_MODES,), the summits so far, heaviest first; masses start as 0

    Returns
    -------
    x, y, z : metres, where the climb ended
    """
    x, y, z, mass = _shift_to_mode(near, weights, start, bandwidth, modes, masses)
    if mass > 0:
        _insert_mode(modes, masses, x, y, z, mass)
    return x, y, z


@njit(cache=True)
def _explain(near, x, y, z, reach2, open_weights):
    """Set the weights of all points within a reach to 0."""
    px, py, pz = near[0], near[1], near[2]
    for i in range(len(open_weights)):
        dx, dy, dz = px[i] - x, py[i] - y, pz[i] - z
        open_weights[i] = open_weights[i] if dx * dx + dy * dy + dz * dz > reach2 else np.float32(0)


@njit(cache=True)
def find_density_modes(near, weights, bandwidth, max_starts, modes, masses):
    """Find the summits of some weighted points' density, from the heaviest point that none explains yet.

    Parameters
    ----------
    near, weights, bandwidth, modes, masses : as for `shift_to_mode`
    max_starts : int
    """
    reach2 = (np.float32(EXPLAINED) * bandwidth) ** 2
    open_weights = weights.copy()  # 0 = explained
    for _ in range(max_starts if len(weights) else 0):
        start = open_weights.argmax()
        if not open_weights[start] > 0:
            return
        x, y, z = shift_to_mode(near, weights, start, bandwidth, modes, masses)
        _explain(near, near[0, start], near[1, start], near[2, start], reach2, open_weights)
        _explain(near, x, y, z, reach2, open_weights)


@njit(cache=True)
def evens_first(task, n_tasks):
    """Row of a task number, even rows first: left and right stand side by side and cost alike, one for each thread."""
    n_even = (n_tasks + 1) // 2
    return 2 * task if task < n_even else 2 * (task - n_even) + 1


@njit(cache=True, parallel=True)
def _find_modes(points, probabilities, area, bandwidth, min_probability, modes, masses):
    for task in prange(probabilities.shape[1]):  # a landmark owns its rows of modes and masses
        landmark = evens_first(task, probabilities.shape[1])
        least, count = min_probability[landmark], 0
        for i in range(len(points)):
            count += probabilities[i, landmark] > least
        near, weights = room_for(count)
        count = 0
        for i in range(len(points)):
            if probabilities[i, landmark] > least:
                near[0, count], near[1, count], near[2, count] = points[i, 0], points[i, 1], points[i, 2]
                weights[count] = probabilities[i, landmark] * area[i]
                count += 1
        find_density_modes(near, weights, bandwidth[landmark], MAX_STARTS, modes[landmark], masses[landmark])


def find_modes(
    points_m: np.ndarray,
    probabilities: np.ndarray,
    area_m2: np.ndarray,
    bandwidth_m: np.ndarray,
    min_probability: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Modes of each landmark's density, heaviest first.

    At most MAX_STARTS climbs each; the kernel ends at REACH sigmas; summits within MERGE sigmas are one.

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
    and Roweis, ICML 2003. Naive twin: tests/reference/joints/mean_shift.py
    """
    n_landmarks = probabilities.shape[1]
    modes = np.zeros((n_landmarks, MAX_MODES, 3), np.float32)
    masses = np.zeros((n_landmarks, MAX_MODES), np.float32)
    _find_modes(points_m, probabilities, area_m2, bandwidth_m, min_probability, modes, masses)
    return modes, masses
