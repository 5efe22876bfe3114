"""Kernel: modes of the votes for each joint, by Gaussian mean shift."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit, prange
from posepipe.joints.mean_shift import MAX_MODES, evens_first, find_density_modes, padded_points
from posepipe.parts import JointVotes

MAX_STARTS = 8
"""Maximum number of mean-shift starts for each joint: votes are denser than the pixels of a surface."""


@njit(cache=True, parallel=True)
def _find_vote_modes(places, weights, n_votes, bandwidth, modes, masses):
    for task in prange(len(n_votes)):  # a joint owns its rows of modes and masses
        k = evens_first(task, len(n_votes))
        near, own = padded_points(n_votes[k])
        for i in range(n_votes[k]):
            near[0, i], near[1, i], near[2, i] = places[k, i, 0], places[k, i, 1], places[k, i, 2]
            own[i] = weights[k, i]
        find_density_modes(near, own, bandwidth[k], MAX_STARTS, modes[k], masses[k])


def find_vote_modes(votes: JointVotes, bandwidth_m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the modes of each joint's votes, heaviest first.

    Mean shift runs from at most MAX_STARTS votes of a joint, by the rules of `find_modes`.

    Parameters
    ----------
    votes : JointVotes
    bandwidth_m : float32 (J,), sigma of the Gaussian

    Returns
    -------
    modes : float32 (J, MAX_MODES, 3), metres
    masses : float32 (J, MAX_MODES), square metres under the kernel at the mode; 0 = no mode

    References
    ----------
    Comaniciu and Meer, PAMI 2002; Girshick et al., ICCV 2011. Naive twin: tests/reference/joints/offset_votes.py
    """
    n_joints = len(votes.counts)
    modes = np.zeros((n_joints, MAX_MODES, 3), np.float32)
    masses = np.zeros((n_joints, MAX_MODES), np.float32)
    _find_vote_modes(votes.places_m, votes.weights_m2, votes.counts, bandwidth_m, modes, masses)
    return modes, masses
