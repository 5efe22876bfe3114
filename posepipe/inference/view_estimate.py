"""What the views of a candidate show, and what was judged of them."""

from __future__ import annotations

from typing import NamedTuple

from posepipe.inference.pose_inference import PoseInference
from posepipe.results import Pose, Proposals
from posepipe.segmentation.regions.region import Region
from posepipe.segmentation.regions.region_evidence import SeenRegion
from posepipe.segmentation.views.view import View
from posepipe.segmentation.views.view_evidence import SeenView


class ViewEstimate(NamedTuple):
    """What one view of a candidate shows."""

    view: View  #: without background pixels
    inference: PoseInference  #: in the axes of the view; some of its pixels may be background that was found last
    view_pose: Pose  #: in the axes of the view

    @property
    def pose(self) -> Pose:
        """The pose in camera axes."""
        return self.view.pose_to_camera(self.view_pose)

    @property
    def seen(self) -> SeenView:
        """What the view shows, to choose among views."""
        return SeenView(self.view, self.inference.parts, self.view_pose)

    @property
    def proposals(self) -> Proposals:
        """The proposals in camera axes."""
        return self.view.proposals_to_camera(self.inference.proposals)

    def of_region(self, region: Region, best: ViewEstimate, probability: float) -> SeenRegion:
        """What the unrotated view and the best one show of a region, of that probability by the person filter."""
        parts = self.view.parts_to_image(self.inference.parts)
        return SeenRegion(region, self.view, parts, self.pose, best.pose, best is not self, probability)


class JudgedCandidate(NamedTuple):
    """A candidate, or a region of one, that was judged."""

    region: Region  #: what was judged; a whole candidate is part of itself
    seen: dict[int, ViewEstimate]  #: by quarter turns of the view, the unrotated one first
    person_probability: float  #: by the person filter
    probability: float  #: by the filter that decides: of regions, the region filter
    by_itself: bool  #: whether that makes a person
    accepted: bool  #: as a person, by itself or because somebody was found there in the last frame

    @property
    def unrotated(self) -> ViewEstimate:
        """What is seen in the image as it is."""
        return self.seen[0]
