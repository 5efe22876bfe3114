"""Keep poses that differ, one after the other: of a whole motion capture database in minutes.

Furthest points (`synth.motion.poses.pose_variation`) are the better choice of few, but look at every pair of poses over
and over; here each pose is compared once with those kept so far, the latest first, and most comparisons end at
its first joint.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from posepipe.body import HUMAN

MIN_SEPARATION_M = 0.05  #: two poses are as far apart as their furthest joint

_FAR_OUT = ("left_hand", "right_hand", "left_foot", "right_foot")
_ORDER = [HUMAN.joint_index(joint) for joint in (*_FAR_OUT, *(j for j in HUMAN.joints if j not in _FAR_OUT))]


@njit(cache=True)
def _keep_distinct(points_m, kept_m, n_kept, min_separation2, chosen):
    """Add each pose that is near none of those kept before it; return how many are kept then.

    Parameters
    ----------
    points_m : float32 (N, J, 3), metres
    kept_m : float32 (J, M, 3), metres, written in place from column n_kept on; M >= n_kept + N. Joint by joint:
        most poses are told apart by the first, which then alone passes through the cache
    n_kept : int
    min_separation2 : float64, square metres
    chosen : bool (N,), written in place

    References
    ----------
    Naive twin: tests/reference/synth/distinct_poses.py
    """
    for n in range(points_m.shape[0]):
        chosen[n] = True
        for k in range(n_kept - 1, -1, -1):
            near = True
            for j in range(points_m.shape[1]):
                dx = np.float64(points_m[n, j, 0]) - kept_m[j, k, 0]
                dy = np.float64(points_m[n, j, 1]) - kept_m[j, k, 1]
                dz = np.float64(points_m[n, j, 2]) - kept_m[j, k, 2]
                if dx * dx + dy * dy + dz * dz >= min_separation2:
                    near = False
                    break
            if near:
                chosen[n] = False
                break
        if chosen[n]:
            kept_m[:, n_kept] = points_m[n]
            n_kept += 1
    return n_kept


class DistinctPoses:
    """The poses kept so far; no two of those that it chose are nearer than ``min_separation_m``."""

    def __init__(self, min_separation_m: float = MIN_SEPARATION_M) -> None:
        self._min_separation2 = float(min_separation_m) ** 2
        self._kept_m = np.empty((len(HUMAN.joints), 1024, 3), np.float32)
        self._n_kept = 0

    def choose(self, joints_m: np.ndarray) -> np.ndarray:
        """Which of some poses to keep, in their order, and remember those.

        ``joints_m`` float (N, 20, 3), metres, joints in the order of HUMAN; returns bool (N,).
        """
        self._make_room(len(joints_m))
        chosen = np.empty(len(joints_m), np.bool_)
        points_m = np.ascontiguousarray(joints_m[:, _ORDER], np.float32)
        self._n_kept = _keep_distinct(points_m, self._kept_m, self._n_kept, self._min_separation2, chosen)
        return chosen

    def take(self, joints_m: np.ndarray) -> None:
        """Remember poses, near each other or not: later ones must differ from them."""
        self._make_room(len(joints_m))
        self._kept_m[:, self._n_kept : self._n_kept + len(joints_m)] = joints_m[:, _ORDER].swapaxes(0, 1)
        self._n_kept += len(joints_m)

    def _make_room(self, count: int) -> None:
        n_joints, room, _ = self._kept_m.shape
        if self._n_kept + count > room:
            grown = np.empty((n_joints, max(self._n_kept + count, 2 * room), 3), np.float32)
            grown[:, : self._n_kept] = self._kept_m[:, : self._n_kept]
            self._kept_m = grown
