"""The best and the worst people of an evaluation, kept with their frames to be drawn."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.results import FrameResult, Pose

MAX_ERROR_M = 0.5
"""Error of a joint that is missing, and the most that one joint counts, metres."""
KEPT = 4
"""Number of people kept at either end."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPerson:
    """A person whose true joints are known, and what was found."""

    error_m: float  #: mean over the visible joints
    joints_m: np.ndarray  #: float (J, 3), true joints, camera axes, metres; NaN = unknown
    visible: np.ndarray  #: bool (J,)
    result: FrameResult  #: of their frame; its only person is the one who was found there, if any


def person_error(joints_m: np.ndarray, visible: np.ndarray, pose: Pose, body: BodyDefinition) -> float:
    """Mean error over visible joints, metres; a joint counts at most MAX_ERROR_M. NaN without visible joints."""
    errors = []
    for row in np.flatnonzero(np.asarray(visible, bool) & np.isfinite(joints_m).all(axis=1)):
        joint = pose.joints.get(body.joints[row])
        error_m = MAX_ERROR_M if joint is None else float(np.linalg.norm(np.subtract(joint.xyz_m, joints_m[row])))
        errors.append(min(error_m, MAX_ERROR_M))
    return float(np.mean(errors)) if errors else float("nan")


@dataclass(slots=True, eq=False)
class Extremes:
    """People with the smallest and the largest errors, at most KEPT each; of equals the first stays."""

    best: list[ScoredPerson] = field(default_factory=list)
    worst: list[ScoredPerson] = field(default_factory=list)

    def add(self, joints_m: np.ndarray, visible: np.ndarray, result: FrameResult, body: BodyDefinition) -> None:
        """Judge one person, whose track is the first of ``result``, if any; one without visible joints is left out."""
        pose = result.people[0].pose if result.people else Pose.of({})
        error_m = person_error(joints_m, visible, pose, body)
        if np.isfinite(error_m):
            person = ScoredPerson(error_m, joints_m, visible, result)
            self._keep(Extremes([person], [person]))

    def __add__(self, other: Extremes) -> Extremes:
        """People of both, in this order: the same as if they had been added one by one."""
        total = Extremes(self.best, self.worst)
        total._keep(other)
        return total

    def _keep(self, other: Extremes) -> None:
        self.best = sorted([*self.best, *other.best], key=lambda each: each.error_m)[:KEPT]
        self.worst = sorted([*self.worst, *other.worst], key=lambda each: -each.error_m)[:KEPT]
