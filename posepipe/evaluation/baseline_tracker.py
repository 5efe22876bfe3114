"""The plainest tracker there is, for comparison: whoever's last pose is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from posepipe.evaluation.track_metrics import joints_of, match, mean_distance
from posepipe.results import Pose, Track


@dataclass(slots=True, eq=False)
class NearestPoseTracker:
    """Gives each pose the id whose last pose is nearest: no prediction, no postures, no builds.

    As many poses as can be are given to those who are remembered, so that the sum of distances is least.
    What `posepipe.tracking.tracker.Tracker` is worth, is how much better it does (docs/guides/tracking.md).
    """

    max_step_m: float = 1.0  #: joints that are on average further from the last ones are someone new's
    forget_after_s: float = 2.0
    _last: dict[int, tuple[Pose, float]] = field(default_factory=dict, init=False)  #: id -> pose, and when it was seen
    _next_id: int = field(default=1, init=False)

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        """Tracks of this frame's poses, in their order; frames come in order of time."""
        self._last = {id: seen for id, seen in self._last.items() if timestamp_s - seen[1] <= self.forget_after_s}
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
    """Mean distance of the joints that both have; infinity when they share none."""
    joints = tuple(pose.joints)
    return mean_distance(joints_of(Track(0, other), joints), joints_of(Track(0, pose), joints))
