"""Keep distinct poses, one after the other, fast enough for a whole motion capture database.

Furthest points (`synth.motion.poses.pose_variation`) choose better, but compare every pair of poses repeatedly. Here
each pose is compared once with the poses kept so far, the latest first. Most comparisons end at the first joint.
"""

from __future__ import annotations

import numpy as np

from posepipe.body import HUMAN
from posepipe.compilation import njit

MIN_SEPARATION_M = 0.05  #: the distance of two poses is that of their furthest joint

_EXTREMITIES = ("left_hand", "right_hand", "left_foot", "right_foot")
_ORDER = [HUMAN.joint_index(joint) for joint in (*_EXTREMITIES, *(j for j in HUMAN.joints if j not in _EXTREMITIES))]


@njit(cache=True)
def _keep_distinct(points_m, kept_m, n_kept, min_separation2, chosen):
    """Add each pose that is near none of the poses kept before it; return the number of kept poses.

    Parameters
    ----------
    points_m : float32 (N, J, 3), metres
    kept_m : float32 (J, M, 3), metres, written in place from column n_kept on; M >= n_kept + N. Ordered joint by
        joint for the cache: the first joint distinguishes most poses
    n_kept : int
    min_separation2 : float64, square metres
    chosen : bool (N,), written in place

    References
    ----------
    Naive twin: tests/reference/synth/motion/distinct_poses.py
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
    """The poses kept so far; no two chosen poses are nearer than ``min_separation_m``."""

    def __init__(self, min_separation_m: float = MIN_SEPARATION_M) -> None:
        self._min_separation2 = float(min_separation_m) ** 2
        self._kept_m = np.empty((len(HUMAN.joints), 1024, 3), np.float32)
        self._n_kept = 0

    def choose(self, joints_m: np.ndarray) -> np.ndarray:
        """Choose the poses to keep, in their order, and remember them.

        ``joints_m`` float (N, 20, 3), metres, joints in the order of HUMAN; returns bool (N,).
        """
        self._reserve(len(joints_m))
        chosen = np.empty(len(joints_m), np.bool_)
        points_m = np.ascontiguousarray(joints_m[:, _ORDER], np.float32)
        self._n_kept = _keep_distinct(points_m, self._kept_m, self._n_kept, self._min_separation2, chosen)
        return chosen

    def add(self, joints_m: np.ndarray) -> None:
        """Remember poses without choosing: later ones must differ from them."""
        self._reserve(len(joints_m))
        self._kept_m[:, self._n_kept : self._n_kept + len(joints_m)] = joints_m[:, _ORDER].swapaxes(0, 1)
        self._n_kept += len(joints_m)

    def _reserve(self, count: int) -> None:
        n_joints, capacity, _ = self._kept_m.shape
        if self._n_kept + count > capacity:
            grown = np.empty((n_joints, max(self._n_kept + count, 2 * capacity), 3), np.float32)
            grown[:, : self._n_kept] = self._kept_m[:, : self._n_kept]
            self._kept_m = grown
