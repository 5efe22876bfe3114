"""Kernel: modes of the density of weighted 3D points, by Gaussian mean shift.

Every landmark is one task. It gathers its pixels and starts mean shift from the heaviest one, then repeatedly from the
heaviest pixel that no earlier start or mode covers. Distinct modes are kept.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit, prange

MAX_MODES = 4
"""Maximum number of modes of a landmark, heaviest first."""
MAX_STARTS = 16
"""Maximum number of starts for each landmark."""
COVER_RADIUS = 1.5
"""Radius, sigmas, around the first and last place of a start: pixels within it are covered and start no other."""
MAX_ITERATIONS = 40
OVER_RELAXATION = np.float32(1.5)
"""Factor of the step to the mean. Below 2, iterations converge to the same modes, and in fewer steps."""
CONVERGED_M = 0.0005
"""Step length below which the iterations have converged."""
MERGE = 0.5
"""Distance, sigmas, below which two modes are the same."""
REACH = 3.0
"""Radius of the kernel, sigmas; beyond it the weight is below 1.2 % and the pixel is left out."""
LANES = 16
"""Points in one vector operation; points are padded to a multiple with weight 0."""
_HALVINGS = 6


@njit(cache=True, inline="always")
def _gaussian(squared):
    """exp(-squared / 2), error below 4e-6 up to REACH: a cubic of the halved exponent, then squarings."""
    t = squared * np.float32(0.5 / 2**_HALVINGS)
    value = np.float32(1) - t * (np.float32(1) - t * (np.float32(1 / 2) - t * np.float32(1 / 6)))
    for _ in range(_HALVINGS):
        value *= value
    return value


@njit(cache=True)
def _weighted_mean(near, weights, x, y, z, bandwidth, sums):
    """Mean of the points, weighted by a Gaussian kernel at (x, y, z), and the mass under the kernel."""
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
    """Whether a known mode lies within a radius."""
    for m in range(MAX_MODES):
        if masses[m] > 0:
            gap = (modes[m, 0] - x) ** 2 + (modes[m, 1] - y) ** 2 + (modes[m, 2] - z) ** 2
            if gap < radius_m * radius_m:
                return True
    return False


@njit(cache=True)
def _shift_to_mode(near, weights, start, bandwidth, modes, masses):
    """Iterate from a point to its mode; iterations that approach a known mode end there with mass 0."""
    x, y, z = near[0, start], near[1, start], near[2, start]
    mass, sums = np.float32(0), np.empty((4, LANES), np.float32)
    for _ in range(MAX_ITERATIONS):
        nx, ny, nz, mass = _weighted_mean(near, weights, x, y, z, bandwidth, sums)
        step = (nx - x) ** 2 + (ny - y) ** 2 + (nz - z) ** 2
        x, y, z = x + OVER_RELAXATION * (nx - x), y + OVER_RELAXATION * (ny - y), z + OVER_RELAXATION * (nz - z)
        if _near_mode(modes, masses, x, y, z, bandwidth * MERGE):
            return x, y, z, np.float32(0)
        if step < CONVERGED_M * CONVERGED_M:
            break
    return x, y, z, mass


@njit(cache=True)
def _insert_mode(modes, masses, x, y, z, mass):
    """Insert a mode; modes stay sorted by mass."""
    for m in range(MAX_MODES):
        if mass > masses[m]:
            for n in range(MAX_MODES - 1, m, -1):
                modes[n] = modes[n - 1]
                masses[n] = masses[n - 1]
            modes[m, 0], modes[m, 1], modes[m, 2] = x, y, z
            masses[m] = mass
            return


@njit(cache=True)
def padded_points(n_points):
    """Buffers for ``n_points``, padded to a multiple of LANES: points, float32 (3, N), and weights, (N,), all 0."""
    n = -(-n_points // LANES) * LANES
    return np.zeros((3, n), np.float32), np.zeros(n, np.float32)


@njit(cache=True)
def shift_to_mode(near, weights, start, bandwidth, modes, masses):
    """Iterate mean shift from one point, and insert the mode if it is new.

    Parameters
    ----------
    near : float32 (3, N), metres, finite; N is a multiple of LANES
    weights : float32 (N,), above 0 at the start; points of weight 0 are padding
    start : int, column of the first point
    bandwidth : float32, sigma of the Gaussian, metres
    modes, masses : float32 (MAX_MODES, 3) and (MAX_MODES,), the known modes, heaviest first; masses start as 0

    Returns
    -------
    x, y, z : metres, last place of the iterations
    """
    x, y, z, mass = _shift_to_mode(near, weights, start, bandwidth, modes, masses)
    if mass > 0:
        _insert_mode(modes, masses, x, y, z, mass)
    return x, y, z


@njit(cache=True)
def _cover(near, x, y, z, squared_radius, uncovered):
    """Set the weights of all points within a radius to 0."""
    px, py, pz = near[0], near[1], near[2]
    for i in range(len(uncovered)):
        dx, dy, dz = px[i] - x, py[i] - y, pz[i] - z
        uncovered[i] = uncovered[i] if dx * dx + dy * dy + dz * dz > squared_radius else np.float32(0)


@njit(cache=True)
def find_density_modes(near, weights, bandwidth, max_starts, modes, masses):
    """Find the modes of the density of weighted points; each start is the heaviest uncovered point.

    Parameters
    ----------
    near, weights, bandwidth, modes, masses : as for `shift_to_mode`
    max_starts : int
    """
    squared_radius = (np.float32(COVER_RADIUS) * bandwidth) ** 2
    uncovered = weights.copy()  # 0 = covered
    for _ in range(max_starts if len(weights) else 0):
        start = uncovered.argmax()
        if not uncovered[start] > 0:
            return
        x, y, z = shift_to_mode(near, weights, start, bandwidth, modes, masses)
        _cover(near, near[0, start], near[1, start], near[2, start], squared_radius, uncovered)
        _cover(near, x, y, z, squared_radius, uncovered)


@njit(cache=True)
def evens_first(task, n_tasks):
    """Row of a task, even rows first: left and right are neighbours and cost the same, so each thread gets one."""
    n_even = (n_tasks + 1) // 2
    return 2 * task if task < n_even else 2 * (task - n_even) + 1


@njit(cache=True, parallel=True)
def _find_modes(points, probabilities, area, bandwidth, min_probability, modes, masses):
    for task in prange(probabilities.shape[1]):  # a landmark owns its rows of modes and masses
        landmark = evens_first(task, probabilities.shape[1])
        minimum, count = min_probability[landmark], 0
        for i in range(len(points)):
            count += probabilities[i, landmark] > minimum
        near, weights = padded_points(count)
        count = 0
        for i in range(len(points)):
            if probabilities[i, landmark] > minimum:
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
    """Find the modes of each landmark's density, heaviest first.

    At most MAX_STARTS starts each; the kernel is cut off at REACH sigmas; modes within MERGE sigmas are the same.

    Parameters
    ----------
    points_m : float32 (N, 3), metres
    probabilities : float32 (N, L)
    area_m2 : float32 (N,), square metres; a point weighs probability x area
    bandwidth_m : float32 (L,), sigma of the Gaussian
    min_probability : float32 (L,); points at or below it are left out

    Returns
    -------
    modes : float32 (L, MAX_MODES, 3), metres
    masses : float32 (L, MAX_MODES), square metres under the kernel at the mode; 0 = no mode

    References
    ----------
    Comaniciu and Meer, PAMI 2002; Shotton et al., CVPR 2011, section 4; over-relaxation: Salakhutdinov and
    Roweis, ICML 2003. Naive twin: tests/reference/joints/mean_shift.py
    """
    n_landmarks = probabilities.shape[1]
    modes = np.zeros((n_landmarks, MAX_MODES, 3), np.float32)
    masses = np.zeros((n_landmarks, MAX_MODES), np.float32)
    _find_modes(points_m, probabilities, area_m2, bandwidth_m, min_probability, modes, masses)
    return modes, masses
