"""Poses over time become tracks: ids that stay with their people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from posepipe.results import Pose, Track


def pose_distance(a: Pose, b: Pose) -> float:
    """Mean distance of the joints that both poses have, metres; infinity when they share none."""
    shared = a.joints.keys() & b.joints.keys()
    if not shared:
        return float("inf")
    gaps = [np.subtract(a.joints[j].xyz_m, b.joints[j].xyz_m) for j in shared]
    return float(np.mean(np.linalg.norm(gaps, axis=1)))


@dataclass(slots=True)
class Tracker:
    """Gives each pose the id of the nearest pose of the frame before; forgets people who stay away.

    It moves no joint: smoothing is none of its business.
    """

    max_step_m: float = 0.5  #: further than this a pose is someone new
    forget_after_s: float = 1.0
    _next_id: int = 1
    _known: dict[int, tuple[Pose, float]] = field(default_factory=dict)

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        """Tracks of this frame's poses, in their order."""
        self._known = {i: (p, t) for i, (p, t) in self._known.items() if abs(timestamp_s - t) <= self.forget_after_s}
        ids = list(self._known)
        # whatever is too far costs the same, so that a newcomer's distance cannot push others to wrong ids
        too_far = 1.01 * self.max_step_m
        cost = np.array([[min(pose_distance(p, self._known[i][0]), too_far) for i in ids] for p in poses])
        chosen: dict[int, int] = {}
        if cost.size:
            for row, col in zip(*linear_sum_assignment(cost), strict=True):
                if cost[row, col] <= self.max_step_m:
                    chosen[row] = ids[col]
        tracks = []
        for row, pose in enumerate(poses):
            if row not in chosen:
                chosen[row] = self._next_id
                self._next_id += 1
            self._known[chosen[row]] = (pose, timestamp_s)
            tracks.append(Track(chosen[row], pose))
        return tuple(tracks)


class NoTracker:
    """Tracking switched off: people are numbered from 1 in every frame, which knows nothing of the others."""

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        return tuple(Track(i, pose) for i, pose in enumerate(poses, start=1))
