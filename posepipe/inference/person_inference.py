"""From a candidate to the people in it: none, one, or several who touch one another or furniture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from posepipe.camera import CAMERA_UP, Plane, UpVector
from posepipe.frames import DepthFrame
from posepipe.inference.candidate_inference import CandidateInference
from posepipe.inference.person_estimate import PersonEstimate
from posepipe.inference.view_estimate import JudgedCandidate
from posepipe.results import Pose
from posepipe.segmentation.regions.connected_surfaces import ConnectedSurfaces
from posepipe.segmentation.regions.head_split import HeadSplit
from posepipe.segmentation.regions.occluded_people import OccludedPeople
from posepipe.segmentation.regions.region import Region
from posepipe.segmentation.regions.remainder import Remainder

LARGEST_SHARE = 0.5
"""Share of a candidate below which a person is but the largest component in it that is not background."""


@dataclass(frozen=True, slots=True)
class PersonInference:
    """Estimates the people in one candidate: finds regions of it that may be somebody, and has them judged."""

    candidates: CandidateInference  #: takes a candidate, or a region of one, for a single person
    head_split: HeadSplit | None = None  #: None = a candidate is one person
    surfaces: ConnectedSurfaces | None = None  #: None = the surfaces that were joined are not judged one by one
    remainder: Remainder | None = None  #: None = a person in a candidate is all of it, unless heads divide it
    occluded_people: OccludedPeople | None = None  #: None = nobody is sought in pieces that are no candidates

    def people_in(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None) -> list[PersonEstimate]:
        """Estimate the people in one candidate, bool (H, W), over a floor if it is known.

        If the person filter rejects the whole, somebody may touch furniture. If it accepts the whole, its heads may
        divide it, or somebody else may stand close or be hidden behind the person.
        """
        judged = self.candidates.judge(frame, mask, floor)
        if judged is None or not judged.accepted:
            return self._beside_furniture(frame, mask, judged, floor)
        person = self.candidates.estimate(judged)
        return self._by_heads(frame, person, floor) or self._with_others(frame, judged, person, floor)

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
            other = self._estimate_region(frame, Region(pieces, pieces, known=_poses_of(people)), floor)
            if other is not None:
                people = [self._without(frame, person, other.mask, floor) for person in people] + [other]
        return people

    def estimate(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None = None) -> PersonEstimate | None:
        """Estimate the person in a candidate, bool (H, W), over a floor if it is known; None when it shows none."""
        return self._estimate_judged(frame, self.candidates.judge(frame, mask, floor), floor)

    def _estimate_region(self, frame: DepthFrame, region: Region, floor: Plane | None) -> PersonEstimate | None:
        """Estimate the person in a region of a candidate; None when it shows none."""
        return self._estimate_judged(frame, self.candidates.judge_region(frame, region, floor), floor)

    def _estimate_judged(
        self, frame: DepthFrame, judged: JudgedCandidate | None, floor: Plane | None
    ) -> PersonEstimate | None:
        """The person in what was judged; of what is none, that which its pose explains is judged once more."""
        if judged is None:
            return None
        return self.candidates.estimate(judged) if judged.accepted else self._explained_by_pose(frame, judged, floor)

    def _explained_by_pose(
        self, frame: DepthFrame, judged: JudgedCandidate, floor: Plane | None
    ) -> PersonEstimate | None:
        """The person in what is none as a whole: what the pose of its best view explains is a region."""
        best, region = judged.seen[self.candidates.best(judged.seen)], judged.region
        if self.remainder is None:
            return None
        view, parts, pose = best.view, best.inference.parts, best.view_pose
        mask = view.mask if view.quarters else region.mask
        explained = self.remainder.explained(view.depth_m, mask, view.intrinsics, parts, pose)
        if explained is None:
            return None
        part = Region(view.to_image(explained), region.mask, judged.person_probability, region.known)
        again = self.candidates.judge_region(frame, part, floor)
        return None if again is None or not again.accepted else self.candidates.estimate(again)

    def _beside_furniture(
        self, frame: DepthFrame, mask: np.ndarray, judged: JudgedCandidate | None, floor: Plane | None
    ) -> list[PersonEstimate]:
        """People in a candidate that is none: in its surfaces and around its heads, or else what its pose explains."""
        masks = self._surfaces(frame, mask)
        if self.head_split is not None and judged is not None:
            proposals, up = judged.unrotated.inference.proposals, _up_of(frame, floor)
            masks += self.head_split.cut_out(proposals, frame.depth_m, mask, frame.intrinsics, up)
        probability = 0.0 if judged is None else judged.person_probability
        people = self._in_regions(frame, [Region(each, mask, probability) for each in masks], floor)
        if people or judged is None:
            return people
        person = self._explained_by_pose(frame, judged, floor)
        return [] if person is None else [person]

    def _by_heads(self, frame: DepthFrame, whole: PersonEstimate, floor: Plane | None) -> list[PersonEstimate]:
        """The people into whom its heads divide what was taken for one person; none where that gives fewer than two."""
        split = self.head_split
        if split is None:
            return []
        up = _up_of(frame, floor)
        masks = split.split(whole.first.proposals, frame.depth_m, whole.mask, frame.intrinsics, up)
        found = [person for own in masks if (person := self.estimate(frame, own, floor)) is not None]
        people = [person for person in found if split.accepts(person.first.pose)]
        return people if len(people) > 1 else []

    def _with_others(
        self, frame: DepthFrame, judged: JudgedCandidate, person: PersonEstimate, floor: Plane | None
    ) -> list[PersonEstimate]:
        """A person, and whoever else is found in the whole candidate.

        They may be one of its surfaces, in what the person's pose does not explain, or in what was taken for background
        because the person is the largest of several.
        """
        if self.remainder is None:
            return [person]
        whole, shown = judged.region.mask, judged.unrotated
        mask, parts = shown.view.mask, shown.inference.parts
        masks = self._surfaces(frame, mask)
        masks += self.remainder.masks(frame.depth_m, mask, frame.intrinsics, parts, person.first.pose)
        if np.count_nonzero(mask) < LARGEST_SHARE * np.count_nonzero(whole):
            masks.append(whole & ~mask)
        regions = [Region(each, whole, judged.person_probability) for each in masks]
        others = self._in_regions(frame, regions, floor, beside=(person,))
        if not others:
            return [person]
        alone = self.estimate(frame, mask & ~np.logical_or.reduce([other.mask for other in others]), floor)
        if alone is not None:
            return [alone, *others]
        return others if len(others) > 1 else [person]

    def _surfaces(self, frame: DepthFrame, mask: np.ndarray) -> list[np.ndarray]:
        return [] if self.surfaces is None else self.surfaces.masks(frame.depth_m, mask, frame.intrinsics)

    def _in_regions(
        self,
        frame: DepthFrame,
        regions: Iterable[Region],
        floor: Plane | None,
        beside: tuple[PersonEstimate, ...] = (),
    ) -> list[PersonEstimate]:
        """Estimate the people in regions that may overlap, beside those found before.

        Those who come first have the pixels, and are known to the next.
        """
        people: list[PersonEstimate] = []
        taken = np.zeros(frame.depth_m.shape, bool)
        for region in regions:
            left = replace(region, mask=region.mask & ~taken, known=_poses_of([*beside, *people]))
            person = self._estimate_region(frame, left, floor)
            if person is not None:
                people.append(person)
                taken |= person.mask
        return people

    def _without(
        self, frame: DepthFrame, person: PersonEstimate, taken: np.ndarray, floor: Plane | None
    ) -> PersonEstimate:
        """A person without pixels, bool (H, W), that are somebody else's."""
        if not (person.mask & taken).any():
            return person
        own = person.mask & ~taken
        alone = self.estimate(frame, own, floor)
        return replace(person, mask=own, parts=person.parts * own) if alone is None else alone


def _poses_of(people: Iterable[PersonEstimate]) -> tuple[Pose, ...]:
    """First poses of people."""
    return tuple(person.first.pose for person in people)


def _up_of(frame: DepthFrame, floor: Plane | None) -> UpVector:
    """Up in camera axes: off the floor, as measured, or up in the image."""
    return frame.up or CAMERA_UP if floor is None else floor.normal
