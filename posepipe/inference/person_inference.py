"""From candidate to people: its parts and pose, whether that is a person, in which view, and how many they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from posepipe.body_model.body_fitter import PersonPixels
from posepipe.camera import CAMERA_UP, Plane, UpVector
from posepipe.frames import DepthFrame
from posepipe.inference.person_estimate import FirstPass, PersonEstimate
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.inference.second_pass import SecondPass
from posepipe.inference.view_estimate import JudgedCandidate, ViewEstimate
from posepipe.joints.pose_search import PoseSearch
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.segmentation.known_people import KnownPeople
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.person_filter import AcceptAll, PersonFilter
from posepipe.segmentation.pixel_grid import stride_for
from posepipe.segmentation.regions.connected_surfaces import ConnectedSurfaces
from posepipe.segmentation.regions.head_split import HeadSplit
from posepipe.segmentation.regions.occluded_people import OccludedPeople
from posepipe.segmentation.regions.region import Region
from posepipe.segmentation.regions.region_filter import RegionFilter
from posepipe.segmentation.regions.remainder import Remainder
from posepipe.segmentation.views.rotated_views import RotatedViews
from posepipe.segmentation.views.view import View

LARGEST_SHARE = 0.5
"""Share of a candidate below which a person is but the largest component in it that is not background."""
RECLASSIFY_SHARE = 0.02
"""Share of removed pixels above which a candidate is classified again: removed pixels change what probes read."""


@dataclass(frozen=True, slots=True)
class PersonInference:
    """Estimates the people in one candidate."""

    joint_stages: JointStages
    person_filter: PersonFilter | AcceptAll
    pose_search: PoseSearch | None = None  #: None = the first choice of proposals is kept
    second_pass: SecondPass | None = None  #: None = the first pose, and the classifier's labels, are kept
    rotated_views: RotatedViews | None = None  #: None = a candidate is classified in the unrotated image only
    head_split: HeadSplit | None = None  #: None = a candidate is one person
    surfaces: ConnectedSurfaces | None = None  #: None = the surfaces that were joined are not judged one by one
    remainder: Remainder | None = None  #: None = a person in a candidate is all of it, unless heads divide it
    occluded_people: OccludedPeople | None = None  #: None = nobody is sought in pieces that are no candidates
    region_filter: RegionFilter | None = None  #: None = a region is judged as a candidate is; some are found twice
    known_people: KnownPeople | None = None  #: None = every frame is judged by itself

    def people_in(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None) -> list[PersonEstimate]:
        """Estimate the people in one candidate: none, one, or several who touch.

        If the person filter rejects the whole, its surfaces and the surroundings of its heads are judged one by one:
        somebody may touch furniture. If none of them is a person, what the pose explains is judged. If the filter
        accepts the whole, it is split by its heads. Where that gives fewer than two people, somebody else may stand
        close or be hidden behind them: its surfaces, and what the pose does not explain, are judged.
        """
        judged = self._judge(frame, mask, floor)
        up = _up_of(frame, floor)
        if judged is None or not judged.accepted:
            return self._beside_furniture(frame, mask, judged, floor, up)
        whole, split = self._estimate_of(judged), self.head_split
        if split is not None:
            masks = split.split(whole.first.proposals, frame.depth_m, whole.mask, frame.intrinsics, up)
            separate = [person for own in masks if (person := self.estimate(frame, own, floor)) is not None]
            separate = [person for person in separate if person.first.pose.confidence >= split.min_confidence]
            if len(separate) > 1:
                return separate
        return self._with_others(frame, mask, judged.unrotated, whole, floor)

    def with_people_in_pieces(
        self, frame: DepthFrame, mask: np.ndarray, people: list[PersonEstimate], floor: Plane | None
    ) -> list[PersonEstimate]:
        """The people found so far, and who shows in pieces among readings, bool (H, W), that are likely to be people.

        What a pose explains is that person's; of other pixels they lose those that are somebody else's.
        """
        if self.occluded_people is None or self.remainder is None:
            return people
        left = mask.copy()
        for person in people:
            left &= ~self.remainder.around(frame.depth_m, person.mask, frame.intrinsics, person.first.pose)
        for pieces in self.occluded_people.masks(frame.depth_m, left, frame.intrinsics, _up_of(frame, floor)):
            other = self._estimate(frame, Region(pieces, pieces, known=_poses_of(people)), floor)
            if other is not None:
                people = [self._without(frame, person, other.mask, floor) for person in people] + [other]
        return people

    def estimate(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None = None) -> PersonEstimate | None:
        """Estimate the person in a candidate, bool (H, W), over a floor if it is known; None when it shows none.

        The candidate is classified again without the pixels that the person filter removes. Rotated views are tried
        where the first pose is poor, and used where they give a better one. Of a candidate that is no person, what its
        pose explains is judged once more.
        """
        return self._estimated(frame, mask, self._judge(frame, mask, floor), floor)

    def _estimate(self, frame: DepthFrame, region: Region, floor: Plane | None) -> PersonEstimate | None:
        """Estimate the person in a region of a candidate, as in one."""
        judged = self._judge(frame, region.mask, floor, region)
        return self._estimated(frame, region.mask, judged, floor, region.known)

    def _estimated(
        self,
        frame: DepthFrame,
        mask: np.ndarray,
        judged: JudgedCandidate | None,
        floor: Plane | None,
        known: tuple[Pose, ...] = (),
    ) -> PersonEstimate | None:
        """The person in what was judged; of what is none, that which its pose explains is judged."""
        if judged is None:
            return None
        if judged.accepted:
            return self._estimate_of(judged)
        return self._explained_by_pose(frame, mask, judged, floor, known)

    def _judge(
        self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None, region: Region | None = None
    ) -> JudgedCandidate | None:
        """What a candidate, or a region of one, shows, and whether that is a person; None without a pose.

        Where a rotated view gives a better pose, the person filter judges both: each alone is wrong more often.
        Somebody who may lie, but is no person so far, is seen upside down as well.
        """
        found = self._without_background(View(frame.depth_m, mask, frame.intrinsics))
        unrotated = None if found is None else self._infer_view(*found)
        if unrotated is None:
            return None
        seen = {0: unrotated} | self._rotated(unrotated, self._wanted(unrotated, accepted=False))
        probability, views = self._probability(seen, floor), self.rotated_views
        accepted = self.person_filter.accepts(probability)
        if not accepted and len(seen) > 1 and views is not None and probability >= views.min_probability:
            missing = set(self._wanted(unrotated, accepted=True)) - seen.keys()
            seen |= self._rotated(unrotated, missing)
            probability = self._probability(seen, floor) if missing else probability
            accepted = self.person_filter.accepts(probability)
        of_person = probability
        if region is not None and self.region_filter is not None:
            shown = unrotated.of_region(region, seen[self._best(seen)], of_person)
            probability = self.region_filter.probability(shown, floor)
            # of furniture, parts resemble people: where nobody is known, both filters must agree
            accepted = (accepted or bool(region.known)) and self.region_filter.accepts(shown, probability)
        # beside somebody, the place of the last frame is theirs
        known = (region is None or not region.known) and self._is_known(frame, unrotated.view.mask, probability)
        return JudgedCandidate(seen, of_person, probability, accepted, accepted or known)

    def _rotated(self, unrotated: ViewEstimate, wanted: Iterable[int]) -> dict[int, ViewEstimate]:
        """What rotated views show that give a pose, by their quarter turns."""
        found = {quarters: self._infer_view(unrotated.view.rotated(quarters)) for quarters in wanted}
        return {quarters: seen for quarters, seen in found.items() if seen is not None}

    def _probability(self, seen: dict[int, ViewEstimate], floor: Plane | None) -> float:
        """Probability of a person, by what the unrotated view and the best one show."""
        return fmean(self._view_probability(seen[0].view, seen[each], floor) for each in {0, self._best(seen)})

    def _view_probability(self, unrotated: View, seen: ViewEstimate, floor: Plane | None) -> float:
        """Probability of a person, by what one view shows."""
        parts = seen.view.parts_to_image(seen.inference.parts)
        return self.person_filter.person_probability(unrotated, parts, seen.pose, floor)

    def _is_known(self, frame: DepthFrame, mask: np.ndarray, probability: float) -> bool:
        """Whether somebody was found there in the last frame, for whom that probability is enough."""
        return self.known_people is not None and self.known_people.accepts(frame.timestamp_s, mask, probability)

    def _estimate_of(self, judged: JudgedCandidate) -> PersonEstimate:
        """The estimate in the best view, whose poses are those after a search."""
        unrotated = self._with_pose_search(judged.unrotated)
        wanted = self._wanted(unrotated, accepted=True)
        rotated = self._rotated(unrotated, set(wanted) - judged.seen.keys()) | judged.seen
        searched = {0: unrotated} | {each: self._with_pose_search(rotated[each]) for each in wanted if each in rotated}
        best = searched[self._best(searched)]
        again = self._with_second_pass(best)
        view, inference, _ = again
        mask = view.to_image(view.mask)
        return PersonEstimate(
            mask,
            view.to_image(draw_labels(inference.parts, view.mask)),
            again.proposals,
            again.pose,
            FirstPass(best.proposals, best.pose),
            PersonPixels(view.to_camera(inference.points.points_m), inference.parts.probabilities, mask),
            judged.probability,
            judged.by_itself,
        )

    def _wanted(self, unrotated: ViewEstimate, accepted: bool) -> tuple[int, ...]:
        """Rotations in which a candidate is classified again, before or after it was accepted as a person."""
        return () if self.rotated_views is None else self.rotated_views.wanted(unrotated.view, unrotated.pose, accepted)

    def _best(self, seen: dict[int, ViewEstimate]) -> int:
        """Rotation with the best pose, quarter turns; 0 = the image as it is."""
        shown = {quarters: each.seen for quarters, each in seen.items()}
        return 0 if self.rotated_views is None else self.rotated_views.choose(shown)

    def _beside_furniture(
        self, frame: DepthFrame, mask: np.ndarray, judged: JudgedCandidate | None, floor: Plane | None, up: UpVector
    ) -> list[PersonEstimate]:
        """People in a candidate that is none: in its surfaces, and around its heads."""
        masks = self._surfaces(frame, mask)
        if self.head_split is not None and judged is not None:
            proposals = judged.unrotated.inference.proposals
            masks += self.head_split.cut_out(proposals, frame.depth_m, mask, frame.intrinsics, up)
        probability = 0.0 if judged is None else judged.person_probability
        people = self._disjoint(frame, [Region(each, mask, probability) for each in masks], floor)
        if people or judged is None:
            return people
        person = self._explained_by_pose(frame, mask, judged, floor)
        return [] if person is None else [person]

    def _explained_by_pose(
        self,
        frame: DepthFrame,
        mask: np.ndarray,
        judged: JudgedCandidate,
        floor: Plane | None,
        known: tuple[Pose, ...] = (),
    ) -> PersonEstimate | None:
        """The person in what is none as a whole: what its pose explains is judged by itself."""
        view, inference, _ = judged.seen[self._best(judged.seen)]
        if self.remainder is None or inference.pose is None:
            return None
        whole = mask if view.quarters == 0 else view.mask
        explained = self.remainder.explained(view.depth_m, whole, view.intrinsics, inference.parts, inference.pose)
        if explained is None:
            return None
        region = Region(view.to_image(explained), mask, judged.person_probability, known)
        again = self._judge(frame, region.mask, floor, region)
        return None if again is None or not again.accepted else self._estimate_of(again)

    def _surfaces(self, frame: DepthFrame, mask: np.ndarray) -> list[np.ndarray]:
        return [] if self.surfaces is None else self.surfaces.masks(frame.depth_m, mask, frame.intrinsics)

    def _with_others(
        self, frame: DepthFrame, whole: np.ndarray, shown: ViewEstimate, person: PersonEstimate, floor: Plane | None
    ) -> list[PersonEstimate]:
        """A person, and whoever else is found in the whole candidate.

        They may be one of its surfaces, in what the person's pose does not explain, or in what was taken for background
        because the person is the largest of several.
        """
        if self.remainder is None:
            return [person]
        mask, parts = shown.view.mask, shown.inference.parts
        masks = self._surfaces(frame, mask)
        masks += self.remainder.masks(frame.depth_m, mask, frame.intrinsics, parts, person.first.pose)
        if np.count_nonzero(mask) < LARGEST_SHARE * np.count_nonzero(whole):
            masks.append(whole & ~mask)
        others: list[PersonEstimate] = []
        taken = np.zeros_like(mask)
        for each in masks:
            region = Region(each & ~taken, whole, person.probability, _poses_of([person, *others]))
            other = self._estimate(frame, region, floor)
            if other is not None:
                others.append(other)
                taken |= other.mask
        alone = self.estimate(frame, mask & ~taken, floor) if others else None
        if alone is not None:
            return [alone, *others]
        return others if len(others) > 1 else [person]

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

    def _infer_view(self, view: View, parts: PartProbabilities | None = None) -> ViewEstimate | None:
        """Infer the pose in one view; None when there is none."""
        found = PoseInference(self.joint_stages, view, parts)
        return None if found.pose is None else ViewEstimate(view, found, found.pose)

    def _with_pose_search(self, seen: ViewEstimate) -> ViewEstimate:
        """The same, with the best pose of all choices of proposals."""
        found, search = seen.inference, self.pose_search
        if search is None or found.pose is None:
            return seen
        pose = search.search(self.joint_stages.pose_estimator, found.proposals, found.pose)
        return seen._replace(view_pose=pose)

    def _with_second_pass(self, seen: ViewEstimate) -> ViewEstimate:
        """The same view after the second pass, where that finds a pose."""
        if self.second_pass is None:
            return seen
        found = self.second_pass.infer(self.joint_stages, seen.inference, seen.view_pose)
        return seen if found is None or found.pose is None else ViewEstimate(seen.view, found, found.pose)

    def _without(
        self, frame: DepthFrame, person: PersonEstimate, taken: np.ndarray, floor: Plane | None
    ) -> PersonEstimate:
        """A person without pixels, bool (H, W), that are somebody else's."""
        if not (person.mask & taken).any():
            return person
        own = person.mask & ~taken
        alone = self.estimate(frame, own, floor)
        return replace(person, mask=own, parts=person.parts * own) if alone is None else alone

    def _disjoint(self, frame: DepthFrame, regions: Sequence[Region], floor: Plane | None) -> list[PersonEstimate]:
        """Estimate the people in regions that overlap; those who come first have the pixels."""
        people: list[PersonEstimate] = []
        taken = np.zeros(frame.depth_m.shape, bool)
        for region in regions:
            person = self._estimate(frame, replace(region, mask=region.mask & ~taken, known=_poses_of(people)), floor)
            if person is not None:
                people.append(person)
                taken |= person.mask
        return people


def _poses_of(people: Iterable[PersonEstimate]) -> tuple[Pose, ...]:
    """First poses of people."""
    return tuple(person.first.pose for person in people)


def _up_of(frame: DepthFrame, floor: Plane | None) -> UpVector:
    """Up in camera axes: off the floor, as measured, or up in the image."""
    return frame.up or CAMERA_UP if floor is None else floor.normal


def _was_reduced(person: np.ndarray, mask: np.ndarray) -> bool:
    """Whether more than RECLASSIFY_SHARE of a candidate's pixels was removed."""
    return person is not mask and bool(np.count_nonzero(person) < (1 - RECLASSIFY_SHARE) * np.count_nonzero(mask))
