"""Naive twin of posepipe/joints/modes/offset_votes.py: the votes of each joint by themselves."""

from __future__ import annotations

import numpy as np

from tests.reference.joints import mean_shift


def find_vote_modes(cast, bandwidth_m, n_modes):
    """Modes (J, n_modes, 3) and masses (J, n_modes) of each joint's votes; mass 0 = no mode."""
    modes, masses = np.zeros((len(cast), n_modes, 3)), np.zeros((len(cast), n_modes))
    for joint, votes in enumerate(cast):
        places = np.array([place for place, _ in votes], float).reshape(-1, 3)
        weights = np.array([weight for _, weight in votes], float)
        found, mass = mean_shift.modes_of(places, weights, float(bandwidth_m[joint]))
        count = min(n_modes, len(found))
        modes[joint, :count], masses[joint, :count] = found[:count], mass[:count]
    return modes, masses
