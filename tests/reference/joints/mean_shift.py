"""Naive twin of posepipe/joints/modes/mean_shift.py: Gaussian mean shift from every point until it stands, in float64.

Comaniciu and Meer, PAMI 2002.
"""

from __future__ import annotations

import numpy as np

STILL_M = 1e-9
MAX_STEPS = 10_000


def shift_to_mode(points, weights, start, bandwidth):
    """Where mean shift from ``start`` ends, and the mass under the kernel there."""
    place = np.array(start, float)
    for _ in range(MAX_STEPS):
        kernel = weights * np.exp(-((points - place) ** 2).sum(1) / (2 * bandwidth**2))
        moved = kernel @ points / kernel.sum()
        step, place = np.linalg.norm(moved - place), moved
        if step < STILL_M:
            break
    return place, kernel.sum()


def modes_of(points, weights, bandwidth):
    """Distinct modes (M, 3), heaviest first, and their masses: modes within half a bandwidth are one."""
    modes, masses = [], []
    for start in points:
        place, mass = shift_to_mode(points, weights, start, bandwidth)
        if all(np.linalg.norm(place - known) > bandwidth / 2 for known in modes):
            modes.append(place)
            masses.append(mass)
    order = np.argsort(masses)[::-1]
    return np.array(modes).reshape(-1, 3)[order], np.array(masses)[order]


def find_modes(points_m, probabilities, area_m2, bandwidth_m, min_probability, max_modes):
    """Modes (L, max_modes, 3) and masses (L, max_modes) of every landmark; mass 0 = no mode."""
    landmarks = probabilities.shape[1]
    modes, masses = np.zeros((landmarks, max_modes, 3)), np.zeros((landmarks, max_modes))
    for landmark in range(landmarks):
        own = probabilities[:, landmark] > min_probability[landmark]
        weights = (probabilities[own, landmark] * area_m2[own]).astype(float)
        found, mass = modes_of(points_m[own].astype(float), weights, float(bandwidth_m[landmark]))
        count = min(max_modes, len(found))
        modes[landmark, :count], masses[landmark, :count] = found[:count], mass[:count]
    return modes, masses
