"""Test-time rotation: a person in the image as recorded, and rotated by quarter turns.

Training frames mostly show upright people. A person who lies across the image, or is upside down, is upright in a
rotated view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posepipe.results import Pose
from posepipe.segmentation.views.view import View
from posepipe.segmentation.views.view_evidence import SeenView
from posepipe.stage import Share, Stateless

SIDEWAYS = (1, 3)
"""Rotations for people who lie across the image, quarter turns clockwise."""
UPSIDE_DOWN = (2,)
POOR_POSE = 0.3
"""Expected share of correct joints below which a person may be upside down."""


class ChoosesView(Protocol):
    """Chooses among views of one person, as `ViewChoice` does."""

    def best(self, seen: Mapping[int, SeenView]) -> int:
        """Quarter turns of the best of two views or more; 0 is among them."""


@dataclass(frozen=True, slots=True)
class RotatedViews(Stateless):
    """Decides in which rotated views a person is classified again, and whether to use the pose of one.

    Rotated views often confuse head and feet. A learned choice tells which of them to believe. Without one a rule does:
    the unrotated view seldom confuses them, even at low confidence, so the score of a rotated pose is its expected
    number of correct joints, plus that of the first pose where the two agree. Few people are upside down: the first
    pose must be poor, and the other much better.
    """

    n_joints: int  #: of the body
    enough: Share = 0.8  #: expected share of correct joints above which no view is rotated
    min_spread: float = 0.8  #: minimum ratio of horizontal to vertical spread for people who lie across the image
    poor: Share = POOR_POSE  #: expected share of correct joints below which a person may be upside down; 0 = nobody is
    margin: Share = 0.15  #: minimum gain of a rotated view in the expected share of correct joints, twice upside down
    agreed_weight: float = 2.0  #: weight of the first pose's confidence relative to the rotated pose's
    agreed_m: float = 0.3  #: maximum distance between joints that agree
    min_probability: Share = 0.1  #: minimum probability of a person who lies to be judged upside down as well
    choice: ChoosesView | None = None  #: chooses among the views; None = the rule, of the last three, does

    def wanted(self, view: View, pose: Pose, accepted: bool = True) -> tuple[int, ...]:
        """Rotations, quarter turns clockwise, in which to classify the person of a view, with this pose.

        A learned choice sees people who lie upside down, too: with their feet higher up in the image than their head.
        What has not been ``accepted`` as a person is not seen so: most of it is furniture, and that would take long.
        """
        expected = pose.expected_correct / self.n_joints
        lies = expected < self.enough and view.spread() >= self.min_spread
        turned = expected < self.poor or (lies and self.choice is not None)
        return (SIDEWAYS if lies else ()) + (UPSIDE_DOWN if turned and accepted else ())

    def choose(self, seen: Mapping[int, SeenView]) -> int:
        """Rotation of the view whose pose is used; the unrotated view, 0, is among those seen."""
        if len(seen) == 1:
            return 0
        if self.choice is not None:
            return self.choice.best(seen)
        return self._by_rule({quarters: each.pose for quarters, each in seen.items()})

    def _by_rule(self, poses: Mapping[int, Pose]) -> int:
        expected = poses[0].expected_correct
        better = {
            quarters: pose.expected_correct + self.agreed_weight * self._agreed(poses[0], pose)
            for quarters, pose in poses.items()
            if quarters and pose.expected_correct >= expected + self._margin(quarters) * self.n_joints
        }
        return max(better, key=better.__getitem__) if better else 0

    def _margin(self, quarters: int) -> float:
        return self.margin * (2 if quarters in UPSIDE_DOWN else 1)

    def _agreed(self, first: Pose, other: Pose) -> float:
        """Expected number of correct joints of the first pose among those that agree with another pose."""
        rows, others = first.in_common(other)
        near = np.linalg.norm(first.joints_m[rows] - other.joints_m[others], axis=1) < self.agreed_m
        return float(first.confidences[rows[near]].sum())
