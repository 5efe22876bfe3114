"""From candidate to people: its parts and pose, whether that is a person, in which view, and how many they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from posepipe.body_model.body_fitter import PersonPixels
from posepipe.camera import CAMERA_UP, Plane
from posepipe.frames import DepthFrame
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.joints.pose_search import PoseSearch
from posepipe.parts import PartProbabilities
from posepipe.results import Pose, Proposals
from posepipe.segmentation.head_split import HeadSplit
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.person_filter import AcceptAll, PersonFilter
from posepipe.segmentation.pixel_grid import stride_for
from posepipe.segmentation.rotated_views import RotatedViews, View

RECLASSIFY_SHARE = 0.02
"""Share of removed pixels above which a candidate is classified again: removed pixels change what probes read."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonEstimate:
    """One person in one frame."""

    mask: np.ndarray  #: bool (H, W)
    labels: np.ndarray  #: uint8 (H, W), most probable part of every pixel of the mask, 0 elsewhere
    proposals: Proposals
    pose: Pose
    pixels: PersonPixels  #: for the fit of a body
    probability: float = 1.0  #: of a person, by the person filter


class _Judged(NamedTuple):
    """A candidate that the person filter has judged."""

    view: View  #: without background pixels
    first: PersonEstimate  #: in the unrotated view
    accepted: bool  #: as a person


@dataclass(frozen=True, slots=True)
class PersonInference:
    """Estimates the people in one candidate."""

    joint_stages: JointStages
    person_filter: PersonFilter | AcceptAll
    pose_search: PoseSearch | None = None  #: None = the first choice of proposals is kept
    rotated_views: RotatedViews | None = None  #: None = a candidate is classified in the unrotated image only
    head_split: HeadSplit | None = None  #: None = a candidate is one person

    def people_in(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None) -> list[PersonEstimate]:
        """Estimate the people in one candidate: none, one, or several who touch.

        Where the whole is no person, somebody may touch furniture: what is around each head is judged by itself.
        """
        judged, split = self._judge(frame, mask, floor), self.head_split
        if judged is None:
            return []
        if split is None:
            return [self._in_best_view(judged)] if judged.accepted else []
        up = frame.up or CAMERA_UP if floor is None else floor.normal
        if not judged.accepted:
            parts = split.cut_out(judged.first.proposals, frame.depth_m, mask, frame.intrinsics, up)
            return self._disjoint(frame, parts, floor)
        whole = self._in_best_view(judged)
        masks = split.split(whole.proposals, frame.depth_m, whole.mask, frame.intrinsics, up)
        separate = [person for part in masks if (person := self.estimate(frame, part, floor)) is not None]
        separate = [person for person in separate if person.pose.confidence >= split.min_confidence]
        return separate if len(separate) > 1 else [whole]

    def estimate(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None = None) -> PersonEstimate | None:
        """Estimate the person in a candidate, bool (H, W), over a floor if it is known; None when it shows none.

        The candidate is classified again without the pixels that the person filter removes. Rotated views are tried
        where the first pose is poor, and used where they give a better one.
        """
        judged = self._judge(frame, mask, floor)
        return self._in_best_view(judged) if judged is not None and judged.accepted else None

    def _judge(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None) -> _Judged | None:
        """What a candidate shows in the unrotated image, and whether that is a person; None without a pose."""
        found = self._without_background(View(frame.depth_m, mask, frame.intrinsics))
        if found is None:
            return None
        view, parts = found
        first = self._estimate_in(view, parts)
        if first is None:
            return None
        probability = self.person_filter.person_probability(view, parts, first.pose, floor)
        return _Judged(view, replace(first, probability=probability), self.person_filter.accepts(probability))

    def _in_best_view(self, judged: _Judged) -> PersonEstimate:
        """The estimate in the unrotated or a rotated view, whichever is better, each after a search."""
        first, views = self._searched(judged.first), self.rotated_views
        if views is None:
            return first
        wanted = views.wanted(judged.view, first.pose)
        tried = {quarters: self._estimate_in(judged.view.rotated(quarters), searched=True) for quarters in wanted}
        rotated = {quarters: found for quarters, found in tried.items() if found is not None}
        best = views.choose(first.pose, {quarters: found.pose for quarters, found in rotated.items()})
        return first if best is None else replace(rotated[best], probability=first.probability)

    def _without_background(self, view: View) -> tuple[View, PartProbabilities] | None:
        """View of a candidate without background pixels, and its parts; None for no person."""
        stride = stride_for(view.mask)
        parts = self.joint_stages.classifier.predict(view.depth_m, view.mask, view.intrinsics, stride)
        person = self.person_filter.person_mask(view.depth_m, view.mask, view.intrinsics, parts)
        if person is not None and _was_reduced(person, view.mask):
            view = replace(view, mask=person)
            parts = self.joint_stages.classifier.predict(view.depth_m, view.mask, view.intrinsics, stride)
            person = self.person_filter.person_mask(view.depth_m, view.mask, view.intrinsics, parts)
        return None if person is None else (replace(view, mask=person), parts)

    def _searched(self, person: PersonEstimate) -> PersonEstimate:
        """A person in the unrotated image, with the best pose of all choices of proposals."""
        return replace(person, pose=self._search(person.proposals, person.pose))

    def _search(self, proposals: Proposals, pose: Pose) -> Pose:
        estimator = self.joint_stages.pose_estimator
        return pose if self.pose_search is None else self.pose_search.search(estimator, proposals, pose)

    def _estimate_in(
        self, view: View, parts: PartProbabilities | None = None, searched: bool = False
    ) -> PersonEstimate | None:
        """Infer the pose in one view, after a search or not; None when there is none."""
        found = PoseInference(self.joint_stages, view, parts)
        if found.pose is None:
            return None
        pose = self._search(found.proposals, found.pose) if searched else found.pose
        mask = view.to_image(view.mask)
        return PersonEstimate(
            mask,
            view.to_image(draw_labels(found.parts, view.mask)),
            view.proposals_to_camera(found.proposals),
            view.pose_to_camera(pose),
            PersonPixels(view.to_camera(found.points.points_m), found.parts.values, mask),
        )

    def _disjoint(self, frame: DepthFrame, masks: Sequence[np.ndarray], floor: Plane | None) -> list[PersonEstimate]:
        """Estimate the people in candidates that overlap; those who come first have the pixels."""
        people: list[PersonEstimate] = []
        taken = np.zeros(frame.depth_m.shape, bool)
        for mask in masks:
            if (person := self.estimate(frame, mask & ~taken, floor)) is not None:
                people.append(person)
                taken |= person.mask
        return people


def _was_reduced(person: np.ndarray, mask: np.ndarray) -> bool:
    """Whether more than RECLASSIFY_SHARE of a candidate's pixels was removed."""
    return person is not mask and bool(np.count_nonzero(person) < (1 - RECLASSIFY_SHARE) * np.count_nonzero(mask))
