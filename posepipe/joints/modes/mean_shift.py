"""Kernel: modes of the density of weighted 3D points, by Gaussian mean shift.

Every landmark is one task. It gathers its pixels and starts mean shift from the heaviest one, then repeatedly from the
heaviest pixel that no earlier start or mode covers. Distinct modes are kept.
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, helper, njit, prange

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


@helper(cache=True)
def padded_points(n_points):
    """Buffers for ``n_points``, padded to a multiple of LANES: points, float32 (3, N), and weights, (N,), all 0."""
    n = -(-n_points // LANES) * LANES
    return np.zeros((3, n), np.float32), np.zeros(n, np.float32)


@njit(cache=True, inline="always")
def _insert_mode(modes, masses, x, y, z, mass):
    """Insert a mode of some mass; modes stay sorted by mass."""
    place = MAX_MODES
    for m in range(MAX_MODES - 1, -1, -1):
        if mass > masses[m]:
            place = m
    for m in range(MAX_MODES - 1, place, -1):
        modes[m, 0], modes[m, 1], modes[m, 2] = modes[m - 1, 0], modes[m - 1, 1], modes[m - 1, 2]
        masses[m] = masses[m - 1]
    if place < MAX_MODES:
        modes[place, 0], modes[place, 1], modes[place, 2], masses[place] = x, y, z, mass


@njit(cache=True, inline="always")
def shift_to_mode(near, weights, start, bandwidth, sums, modes, masses):
    """Iterate mean shift from one point, and insert the mode if it is new.

    Parameters
    ----------
    near : float32 (3, N), metres, finite; N is a multiple of LANES
    weights : float32 (N,), above 0 at the start; points of weight 0 are padding
    start : int, column of the first point
    bandwidth : float32, sigma of the Gaussian, metres
    sums : float32 (4, LANES), overwritten
    modes, masses : float32 (MAX_MODES, 3) and (MAX_MODES,), the known modes, heaviest first; masses start as 0

    Returns
    -------
    x, y, z : metres, last place of the iterations
    """
    x, y, z = near[0, start], near[1, start], near[2, start]
    per_sigma2 = np.float32(1) / (bandwidth * bandwidth)
    radius_m = bandwidth * MERGE
    mass, is_known = np.float32(0), False
    for _ in range(MAX_ITERATIONS):
        for i in range(LANES):
            sums[0, i] = sums[1, i] = sums[2, i] = sums[3, i] = 0
        for first in range(0, len(weights), LANES):
            for i in range(LANES):  # each lane has sums of its own, so that the loop is vectorised
                n = np.uint64(first + i)  # an unsigned index needs no check for negative values
                dx, dy, dz = near[0, n] - x, near[1, n] - y, near[2, n] - z
                squared = (dx * dx + dy * dy + dz * dz) * per_sigma2
                w = weights[n] * _gaussian(squared) if squared < np.float32(REACH**2) else np.float32(0)
                sums[0, i] += w
                sums[1, i] += w * dx
                sums[2, i] += w * dy
                sums[3, i] += w * dz
        mass, x_moment, y_moment, z_moment = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for i in range(LANES):
            mass += sums[0, i]
            x_moment += sums[1, i]
            y_moment += sums[2, i]
            z_moment += sums[3, i]
        nx, ny, nz = x + x_moment / mass, y + y_moment / mass, z + z_moment / mass
        step = (nx - x) ** 2 + (ny - y) ** 2 + (nz - z) ** 2
        x, y, z = x + OVER_RELAXATION * (nx - x), y + OVER_RELAXATION * (ny - y), z + OVER_RELAXATION * (nz - z)
        for m in range(MAX_MODES):
            if masses[m] > 0:
                gap = (modes[m, 0] - x) ** 2 + (modes[m, 1] - y) ** 2 + (modes[m, 2] - z) ** 2
                if gap < radius_m * radius_m:
                    is_known = True
        if is_known or step < CONVERGED_M * CONVERGED_M:
            break
    if mass > 0 and not is_known:
        _insert_mode(modes, masses, x, y, z, mass)
    return x, y, z


@helper(cache=True)
def _find_density_modes(near, weights, bandwidth, max_starts, modes, masses):
    """Find the modes of weighted points; each start is the heaviest uncovered point."""
    uncovered, sums = np.empty(len(weights), np.float32), np.empty((4, LANES), np.float32)
    for i in range(len(weights)):
        uncovered[i] = weights[i]  # 0 = covered
    squared_radius = (np.float32(COVER_RADIUS) * bandwidth) ** 2
    for _ in range(max_starts):
        start, heaviest = -1, np.float32(0)
        for i in range(len(weights)):
            if uncovered[i] > heaviest:
                start, heaviest = i, uncovered[i]
        if start < 0:
            return
        x, y, z = shift_to_mode(near, weights, start, bandwidth, sums, modes, masses)
        sx, sy, sz = near[0, start], near[1, start], near[2, start]
        for i in range(len(weights)):  # points near the first place or the last are covered
            ax, ay, az = near[0, i] - sx, near[1, i] - sy, near[2, i] - sz
            bx, by, bz = near[0, i] - x, near[1, i] - y, near[2, i] - z
            is_far = min(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz) > squared_radius
            uncovered[i] = uncovered[i] if is_far else np.float32(0)


@njit(cache=True)
def _gather(points, values, area, first, count, column, min_value):
    """Copy the points of one landmark whose value exceeds a minimum, and weight them: near (3, N), weights (N,)."""
    kept = 0
    for i in range(count):
        kept += values[first + i, column] > min_value
    near, weights = padded_points(kept)
    kept = 0
    for i in range(first, first + count):
        if values[i, column] > min_value:
            near[0, kept], near[1, kept], near[2, kept] = points[i, 0], points[i, 1], points[i, 2]
            weights[kept] = values[i, column] * area[i]
            kept += 1
    return near, weights


@compiled_for("f4[:,::1], f4[:,::1], f4[::1], i8[:,::1], f4[::1], f4[::1], i8, f4[:,:,::1], f4[:,::1]")
@njit(cache=True, parallel=True)
def _find_modes(points, values, area, spans, bandwidth, min_value, max_starts, modes, masses):
    n_tasks = len(spans)
    for task in prange(n_tasks):  # a landmark owns its rows of modes and masses
        # even rows first: left and right are neighbours and cost the same, so each thread gets one
        n_even = (n_tasks + 1) // 2
        row = 2 * task if task < n_even else 2 * (task - n_even) + 1
        near, weights = _gather(points, values, area, spans[row, 0], spans[row, 1], spans[row, 2], min_value[row])
        _find_density_modes(near, weights, bandwidth[row], max_starts, modes[row], masses[row])


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
    n_points, n_landmarks = probabilities.shape
    spans = np.zeros((n_landmarks, 3), np.int64)
    spans[:, 1], spans[:, 2] = n_points, np.arange(n_landmarks)
    return modes_of_spans(points_m, probabilities, area_m2, spans, bandwidth_m, min_probability, MAX_STARTS)


def modes_of_spans(
    points_m: np.ndarray,
    values: np.ndarray,
    area_m2: np.ndarray,
    spans: np.ndarray,
    bandwidth_m: np.ndarray,
    min_value: np.ndarray,
    max_starts: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the modes of several sets of points, each of which is a span of rows and a column of values.

    Parameters
    ----------
    points_m, area_m2, bandwidth_m : as for `find_modes`, L sets in place of landmarks
    values : float32 (N, K); a point weighs value x area
    spans : int64 (L, 3), first row, number of rows and column of each set
    min_value : float32 (L,); points at or below it are left out
    max_starts : int

    Returns
    -------
    modes, masses : as of `find_modes`
    """
    modes = np.zeros((len(spans), MAX_MODES, 3), np.float32)
    masses = np.zeros((len(spans), MAX_MODES), np.float32)
    _find_modes(points_m, values, area_m2, spans, bandwidth_m, min_value, max_starts, modes, masses)
    return modes, masses
