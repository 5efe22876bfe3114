"""Baseline tracker: assigns each pose to the nearest last pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from posepipe.evaluation.metrics.track_metrics import joints_of, match, mean_distance
from posepipe.results import Pose, Track


@dataclass(slots=True, eq=False)
class NearestPoseTracker:
    """Assigns each pose the id of the nearest last pose, without prediction, posture or build.

    The assignment has the maximum number of pairs, and among these the minimum sum of distances. It is the baseline for
    `posepipe.tracking.tracker.Tracker` (docs/guides/tracking.md).
    """

    max_step_m: float = 1.0  #: maximum mean distance of joints from the last ones; a pose further away is a new person
    forget_after_s: float = 2.0
    _last: dict[int, tuple[Pose, float]] = field(default_factory=dict, init=False)  #: id -> pose and its time
    _next_id: int = field(default=1, init=False)

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        """Assign ids to the poses of a frame, in their order; frames come in order of time."""
        self._last = {id: last for id, last in self._last.items() if timestamp_s - last[1] <= self.forget_after_s}
        ids = list(self._last)
        distances_m = np.array([[_distance_m(pose, self._last[id][0]) for id in ids] for pose in poses])
        chosen = match(distances_m.reshape(len(poses), len(ids)), {}, self.max_step_m)
        tracks = []
        for row, pose in enumerate(poses):
            id = ids[chosen[row]] if row in chosen else self._next_id
            self._next_id = max(self._next_id, id + 1)
            self._last[id] = pose, timestamp_s
            tracks.append(Track(id, pose))
        return tuple(tracks)


def _distance_m(pose: Pose, other: Pose) -> float:
    """Mean distance of the joints common to both; infinity when there are none."""
    joints = tuple(pose.joints)
    return mean_distance(joints_of(Track(0, other), joints), joints_of(Track(0, pose), joints))
