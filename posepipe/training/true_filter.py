"""A person filter that knows the truth: training looks at what the pipeline shows it."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics, Plane
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.person_filter import PersonFilter
from posepipe.segmentation.views.view import View
from posepipe.stage import Stateless

PERSON_SHARE = 0.5
"""Minimum share of a candidate's pixels on people that makes it a person."""


class TrueFilter(Stateless):
    """Accepts the candidates that show people; the pixels that it removes are those of `PersonFilter`."""

    def __init__(self) -> None:
        self._filter = PersonFilter()
        self.begin(np.zeros((0, 0), bool))

    def begin(self, people: np.ndarray) -> None:
        """Start a frame whose people, bool (H, W), are known."""
        self.people = people

    def person_mask(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities
    ) -> np.ndarray | None:
        """Pixels of the person in a candidate, as `PersonFilter.person_mask` finds them."""
        return self._filter.person_mask(depth_m, mask, intrinsics, parts)

    def person_probability(self, view: View, parts: PartProbabilities, pose: Pose, floor: Plane | None = None) -> float:
        """Share of a candidate's pixels on people; 0 without a pose."""
        return float(self.people[view.mask].mean()) if self.has_pose(pose) else 0.0

    def has_pose(self, pose: Pose) -> bool:
        """Whether a pose is confident enough to be judged."""
        return pose.confidence >= self._filter.min_confidence

    def accepts(self, probability: float) -> bool:
        """Whether a candidate is a person."""
        return probability >= PERSON_SHARE


def judge_by_truth(pipeline: Pipeline, judge: TrueFilter) -> None:
    """Have the candidates of the foreground judged by the truth, whole, and by their first pass."""
    pipeline.person_filter = judge  # type: ignore[assignment]
    pipeline.region_filter = None  # the people among heads are candidates, too
    pipeline.surfaces = pipeline.remainder = pipeline.occluded_people = pipeline.second_pass = None
