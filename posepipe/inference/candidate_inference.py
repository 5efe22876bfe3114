"""From a candidate to one person: what its views show, whether that is a person, and their pose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from posepipe.body_model.body_fitter import PersonPixels
from posepipe.camera import Plane
from posepipe.facing.facing_network import Facing
from posepipe.frames import DepthFrame
from posepipe.inference.facing_check import FacingCheck
from posepipe.inference.person_estimate import FirstPass, PersonEstimate
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.inference.second_pass import SecondPass
from posepipe.inference.view_estimate import JudgedCandidate, ViewEstimate
from posepipe.joints.pose_search import PoseSearch
from posepipe.parts import PartProbabilities
from posepipe.segmentation.known_people import KnownPeople
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.person_filter import AcceptAll, PersonFilter
from posepipe.segmentation.pixel_grid import stride_for
from posepipe.segmentation.regions.region import Region
from posepipe.segmentation.regions.region_filter import RegionFilter
from posepipe.segmentation.views.rotated_views import RotatedViews
from posepipe.segmentation.views.view import View

RECLASSIFY_SHARE = 0.02
"""Share of removed pixels above which a candidate is classified again: removed pixels change what probes read."""


@dataclass(frozen=True, slots=True)
class CandidateInference:
    """Takes a candidate, or a region of one, for a single person: judges whether it is, and estimates who is.

    It is seen in the image as it is, and in rotated views where the first pose is poor. A rotated view is used where it
    gives a better pose.
    """

    joint_stages: JointStages
    person_filter: PersonFilter | AcceptAll
    rotated_views: RotatedViews | None = None  #: None = a candidate is classified in the unrotated image only
    region_filter: RegionFilter | None = None  #: None = a region is judged as a candidate is; some are found twice
    known_people: KnownPeople | None = None  #: None = every frame is judged by itself
    pose_search: PoseSearch | None = None  #: None = the first choice of proposals is kept
    facing_check: FacingCheck | None = None  #: None = labels alone say which way somebody faces
    second_pass: SecondPass | None = None  #: None = the first pose, and the classifier's labels, are kept

    def judge(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None) -> JudgedCandidate | None:
        """Judge a whole candidate, bool (H, W), over a floor if it is known; None without a pose."""
        judged = self._judge_views(frame, mask, floor)
        if judged is None:
            return None
        seen, probability = judged
        by_itself = self.person_filter.accepts(probability)
        known = self._is_known(frame, seen[0].view.mask, probability)
        return JudgedCandidate(Region(mask, mask), seen, probability, probability, by_itself, by_itself or known)

    def judge_region(self, frame: DepthFrame, region: Region, floor: Plane | None) -> JudgedCandidate | None:
        """Judge a region of a candidate, over a floor if it is known; None without a pose."""
        judged = self._judge_views(frame, region.mask, floor)
        if judged is None:
            return None
        seen, of_person = judged
        probability, by_itself = of_person, self.person_filter.accepts(of_person)
        if self.region_filter is not None:
            shown = seen[0].of_region(region, seen[self.best(seen)], of_person)
            probability = self.region_filter.probability(shown, floor)
            # of furniture, parts resemble people: where nobody is known, both filters must agree
            by_itself = (by_itself or bool(region.known)) and self.region_filter.accepts(shown, probability)
        # beside somebody, the place of the last frame is theirs
        known = not region.known and self._is_known(frame, seen[0].view.mask, probability)
        return JudgedCandidate(region, seen, of_person, probability, by_itself, by_itself or known)

    def estimate(self, judged: JudgedCandidate) -> PersonEstimate:
        """Estimate the person in what was judged, in the best view: poses are compared after a search."""
        unrotated = self._with_pose_search(judged.unrotated)
        wanted = self._wanted(unrotated, accepted=True)
        rotated = self._infer_rotated(unrotated, set(wanted) - judged.seen.keys()) | judged.seen
        searched = {0: unrotated} | {each: self._with_pose_search(rotated[each]) for each in wanted if each in rotated}
        best = searched[self.best(searched)]
        facing = self._facing(unrotated, best)
        first = best if facing is None else self._with_facing(unrotated, best, facing)
        final = self._with_second_pass(first)
        view, inference = final.view, final.inference
        mask = view.to_image(view.mask)
        return PersonEstimate(
            mask,
            view.to_image(draw_labels(inference.parts, view.mask)),
            final.proposals,
            final.pose,
            FirstPass(first.proposals, first.pose),
            PersonPixels(
                view.to_camera(inference.points.points_m),
                inference.parts.probabilities,
                mask,
                None if facing is None else facing.across,
            ),
            judged.probability,
            judged.by_itself,
        )

    def best(self, seen: dict[int, ViewEstimate]) -> int:
        """Rotation with the best pose, quarter turns; 0 = the image as it is."""
        shown = {quarters: each.seen for quarters, each in seen.items()}
        return 0 if self.rotated_views is None else self.rotated_views.choose(shown)

    def _judge_views(
        self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None
    ) -> tuple[dict[int, ViewEstimate], float] | None:
        """Views by their quarter turns, and the probability of a person by what they show; None without a pose.

        Somebody who may lie, but is no person so far, is seen upside down as well.
        """
        unrotated = self._infer_unrotated(View(frame.depth_m, mask, frame.intrinsics))
        if unrotated is None:
            return None
        seen = {0: unrotated} | self._infer_rotated(unrotated, self._wanted(unrotated, accepted=False))
        probability, views = self._probability(seen, floor), self.rotated_views
        rejected = not self.person_filter.accepts(probability)
        if rejected and len(seen) > 1 and views is not None and probability >= views.min_probability:
            missing = set(self._wanted(unrotated, accepted=True)) - seen.keys()
            seen |= self._infer_rotated(unrotated, missing)
            probability = self._probability(seen, floor) if missing else probability
        return seen, probability

    def _infer_unrotated(self, view: View) -> ViewEstimate | None:
        """Infer the pose in a candidate without background pixels; None where no person, or no pose, is left.

        The candidate is classified again without the pixels that the person filter removes, where they are many. What
        it removes after that leaves the mask, not the labelled pixels.
        """
        stride = stride_for(view.mask)
        parts = self.joint_stages.classifier.predict(view.depth_m, view.mask, view.intrinsics, stride)
        person = self.person_filter.person_mask(view.depth_m, view.mask, view.intrinsics, parts)
        if person is not None and _was_reduced(person, view.mask):
            view = replace(view, mask=person)
            parts = self.joint_stages.classifier.predict(view.depth_m, view.mask, view.intrinsics, stride)
            person = self.person_filter.person_mask(view.depth_m, view.mask, view.intrinsics, parts)
        return None if person is None else self._infer_view(replace(view, mask=person), parts)

    def _infer_rotated(self, unrotated: ViewEstimate, wanted: Iterable[int]) -> dict[int, ViewEstimate]:
        """What rotated views show that give a pose, by their quarter turns."""
        found = {quarters: self._infer_view(unrotated.view.rotated(quarters)) for quarters in wanted}
        return {quarters: seen for quarters, seen in found.items() if seen is not None}

    def _infer_view(self, view: View, parts: PartProbabilities | None = None) -> ViewEstimate | None:
        """Infer the pose in one view; None when there is none."""
        found = PoseInference(self.joint_stages, view, parts)
        return None if found.pose is None else ViewEstimate(view, found, found.pose)

    def _wanted(self, unrotated: ViewEstimate, accepted: bool) -> tuple[int, ...]:
        """Rotations in which a candidate is classified again, before or after it was accepted as a person."""
        return () if self.rotated_views is None else self.rotated_views.wanted(unrotated.view, unrotated.pose, accepted)

    def _probability(self, seen: dict[int, ViewEstimate], floor: Plane | None) -> float:
        """Probability of a person, by what the unrotated view and the best one show: each alone is wrong more often."""
        return fmean(self._view_probability(seen[0].view, seen[each], floor) for each in {0, self.best(seen)})

    def _view_probability(self, unrotated: View, seen: ViewEstimate, floor: Plane | None) -> float:
        """Probability of a person, by what one view shows."""
        parts = seen.view.parts_to_image(seen.inference.parts)
        return self.person_filter.person_probability(unrotated, parts, seen.pose, floor)

    def _is_known(self, frame: DepthFrame, mask: np.ndarray, probability: float) -> bool:
        """Whether somebody was found there in the last frame, for whom that probability is enough."""
        return self.known_people is not None and self.known_people.accepts(frame.timestamp_s, mask, probability)

    def _with_pose_search(self, seen: ViewEstimate) -> ViewEstimate:
        """The same view, with the best pose of all choices of proposals."""
        if self.pose_search is None:
            return seen
        estimator, proposals = self.joint_stages.pose_estimator, seen.inference.proposals
        return seen._replace(view_pose=self.pose_search.search(estimator, proposals, seen.view_pose))

    def _facing(self, unrotated: ViewEstimate, best: ViewEstimate) -> Facing | None:
        """Which way somebody faces; None where their best pose says so."""
        return None if self.facing_check is None else self.facing_check.look(unrotated.view, best.pose)

    def _with_facing(self, unrotated: ViewEstimate, best: ViewEstimate, facing: Facing) -> ViewEstimate:
        """The best view, or another estimate where that faces as the network sees and the best view does not."""
        check = self.facing_check
        if check is None or not check.contradicts(facing, best.pose):
            return best
        others = self._facing_otherwise(check, unrotated, best)
        return next((each for each in others if check.confirms(facing, each.pose)), best)

    def _facing_otherwise(
        self, check: FacingCheck, unrotated: ViewEstimate, best: ViewEstimate
    ) -> Iterator[ViewEstimate]:
        """Other estimates of a person: unrotated, or with left and right exchanged, of the labels or of the joints."""
        yield unrotated
        found = check.exchanged(self.joint_stages, best.inference)
        if found.pose is not None:
            yield self._with_pose_search(ViewEstimate(best.view, found, found.pose))
            yield ViewEstimate(best.view, found, check.renamed(best.view_pose))

    def _with_second_pass(self, seen: ViewEstimate) -> ViewEstimate:
        """The same view after the second pass, where that finds a pose."""
        if self.second_pass is None:
            return seen
        found = self.second_pass.infer(self.joint_stages, seen.inference, seen.view_pose)
        return seen if found is None or found.pose is None else ViewEstimate(seen.view, found, found.pose)


def _was_reduced(person: np.ndarray, mask: np.ndarray) -> bool:
    """Whether more than RECLASSIFY_SHARE of a candidate's pixels was removed."""
    return person is not mask and bool(np.count_nonzero(person) < (1 - RECLASSIFY_SHARE) * np.count_nonzero(mask))
