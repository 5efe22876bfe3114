"""People of several views in common axes: who is who, and the joints of each.

People are matched view by view, by an optimal assignment. Each joint is the weighted mean of the views that agree on
it; a joint that one view alone has comes from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from posepipe.body import BodyDefinition
from posepipe.body_model.body_fitter import GUESSED
from posepipe.results import Pose

MAX_DISTANCE_M = 0.5
"""Maximum mean distance between the joints of one person in two views."""
AGREE_M = 0.15
"""Maximum distance between places of one joint that are averaged; beyond it the views with more weight count alone."""
MIN_APART_M = 0.5
"""Minimum distance, along the floor, between the middles of two people; nearer ones may be fragments of one."""
FRAGMENT_SHARE = 0.6
"""Maximum confidence of a fragment, summed over joints, relative to the person that it is of."""
MIN_CONFIDENCE = 1e-3
_FAR_M = 1e6


@dataclass(frozen=True, slots=True, eq=False)
class ViewedPerson:
    """A person in one view."""

    camera: int  #: row of the camera
    row: int  #: of the person in that camera's result
    joints_m: np.ndarray  #: float64 (J, 3), common axes, metres; NaN = not found
    confidence: np.ndarray  #: float64 (J,); 0 = not found

    @classmethod
    def of(cls, camera: int, row: int, pose: Pose, body: BodyDefinition) -> ViewedPerson:
        """Lay out a pose, in common axes, as rows of the body."""
        at_least = replace(pose, confidences=np.maximum(pose.confidences, MIN_CONFIDENCE))
        return cls(camera, row, *at_least.in_rows_of(body.joints))


@dataclass(frozen=True, slots=True, eq=False)
class FusedPerson:
    """A person in all views that saw them."""

    views: tuple[ViewedPerson, ...]  #: at least one, in the order of the cameras
    joints_m: np.ndarray  #: float64 (J, 3), common axes, metres; NaN = not found
    confidence: np.ndarray  #: float64 (J,); 0 = not found

    def is_fragment_of(self, other: FusedPerson) -> bool:
        """Whether one view alone has this person, in the place of another and much less confidently."""
        apart_m = np.linalg.norm(self._middle_m()[:2] - other._middle_m()[:2])
        weak = self._confidence_sum() < FRAGMENT_SHARE * other._confidence_sum()
        return bool(len(self.views) == 1 and weak and apart_m < MIN_APART_M)

    def _confidence_sum(self) -> float:
        """Confidence summed over joints, without those that may be guesses of a fitted body: they count for nobody."""
        return float(self.confidence[self.confidence > GUESSED].sum())

    def _middle_m(self) -> np.ndarray:
        found = self.confidence > 0
        return self.confidence[found] @ self.joints_m[found] / self.confidence[found].sum()


@dataclass(frozen=True, slots=True)
class ViewFusion:
    """Matches the people of several views and fuses their joints.

    Common axes are world axes, z up. A view may have a fragment of somebody in the wrong place, too far from the joints
    of other views to be matched: it is left out.
    """

    body: BodyDefinition
    max_distance_m: float = MAX_DISTANCE_M
    agree_m: float = AGREE_M

    def fuse(self, views: Sequence[Sequence[ViewedPerson]]) -> list[FusedPerson]:
        """Return everybody in any view, without fragments; the people of each view are given in a list of their own."""
        groups: list[list[ViewedPerson]] = []
        for view in views:
            people = [person for person in view if person.confidence.any()]
            groups += [[person] for person in self._assign(groups, people)]
        fused = [self._fused(tuple(group)) for group in groups]
        return [each for each in fused if not any(each.is_fragment_of(other) for other in fused)]

    def _assign(self, groups: list[list[ViewedPerson]], people: Sequence[ViewedPerson]) -> list[ViewedPerson]:
        """Add the people of one view to the groups that they belong to; returns those who belong to none."""
        if not groups or not people:
            return list(people)
        cost_m = np.array([[_mean_of_views_m(group, person) for person in people] for group in groups])
        free = set(range(len(people)))
        for row, col in zip(*linear_sum_assignment(np.minimum(cost_m, self.max_distance_m)), strict=True):
            if cost_m[row, col] < self.max_distance_m:
                groups[row].append(people[col])
                free.discard(int(col))
        return [people[col] for col in sorted(free)]

    def _fused(self, group: tuple[ViewedPerson, ...]) -> FusedPerson:
        joints_m, confidence = fuse_joints(
            np.stack([person.joints_m for person in group]),
            np.stack([person.confidence for person in group]),
            self.agree_m,
        )
        return FusedPerson(group, joints_m, confidence)


def _mean_of_views_m(group: Sequence[ViewedPerson], person: ViewedPerson) -> float:
    """Mean over the views of a group that have joints in common with a person; very far without any."""
    distances_m = [mean_distance_m(seen, person) for seen in group]
    return float(np.mean([each for each in distances_m if each < _FAR_M] or [_FAR_M]))


def mean_distance_m(a: ViewedPerson, b: ViewedPerson) -> float:
    """Mean distance of the joints that both views have, weighted by the lower odds; very far without any."""
    weight = np.minimum(odds(a.confidence), odds(b.confidence))
    if not weight.any():
        return _FAR_M
    distance_m = np.linalg.norm(a.joints_m - b.joints_m, axis=1)
    return float(np.nansum(weight * distance_m) / weight.sum())


def odds(confidence: np.ndarray) -> np.ndarray:
    """Odds of joints of some confidence, c / (1 - c); 0 = not found."""
    certain = np.clip(confidence, MIN_CONFIDENCE, 1 - MIN_CONFIDENCE)
    return np.where(confidence > 0, certain / (1 - certain), 0.0)


def fuse_joints(joints_m: np.ndarray, confidence: np.ndarray, agree_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Fuse the joints of one person in several views.

    A view weighs the odds of its confidence, c / (1 - c). Of views that disagree, the places within ``agree_m`` of the
    one with the most weight near it are averaged.

    Parameters
    ----------
    joints_m : float64 (V, J, 3), common axes, metres; NaN = not found
    confidence : float64 (V, J); 0 = not found
    agree_m : metres

    Returns
    -------
    joints_m : float64 (J, 3), metres; NaN = no view has it
    confidence : float64 (J,): that of the averaged views together, as if their errors were independent, divided among
        those that disagree
    """
    found, weight = confidence > 0, odds(confidence)
    places_m = np.where(found[..., None], joints_m, 0.0)
    apart_m = np.linalg.norm(places_m[:, None] - places_m[None], axis=-1)  # (V, V, J)
    near = (apart_m <= agree_m) & found[:, None] & found[None]
    support = np.where(found, (near * weight[None]).sum(axis=1), -1.0)  # (V, J)
    best = support.argmax(axis=0)
    taken = np.take_along_axis(near, best[None, None], axis=0)[0]  # (V, J)
    used = np.where(taken, weight, 0.0)
    total = used.sum(axis=0)
    with np.errstate(invalid="ignore"):
        fused_m = (used[..., None] * places_m).sum(axis=0) / total[:, None]
    return fused_m, _joint_confidence(confidence, taken, found)


def _joint_confidence(confidence: np.ndarray, taken: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Confidence of fused joints: of those that agree, less where others disagree."""
    agreeing = 1 - np.where(taken, 1 - confidence, 1.0).prod(axis=0)
    against = np.where(found & ~taken, confidence, 0.0).max(axis=0, initial=0.0)
    return agreeing * (1 - against / 2)
