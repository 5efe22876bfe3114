"""Modes of the votes for each joint, by Gaussian mean shift."""

from __future__ import annotations

import numpy as np

from posepipe.joints.modes.mean_shift import modes_of_spans
from posepipe.parts import JointVotes

MAX_STARTS = 8
"""Maximum number of mean-shift starts for each joint: votes are denser than the pixels of a surface."""


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
    n_joints, max_votes = votes.weights_m2.shape
    spans = np.zeros((n_joints, 3), np.int64)
    spans[:, 0], spans[:, 1] = max_votes * np.arange(n_joints), votes.counts
    points_m, weights_m2 = votes.places_m.reshape(-1, 3), votes.weights_m2.reshape(-1, 1)
    ones, minimum = np.ones(len(points_m), np.float32), np.full(n_joints, -1, np.float32)
    return modes_of_spans(points_m, weights_m2, ones, spans, bandwidth_m, minimum, MAX_STARTS)
