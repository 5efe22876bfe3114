"""posepipe on one page: a depth frame in, the people in it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from posepipe.camera import Extrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.proposals import ModeProposer
from posepipe.joints.weighted_points import weigh_points
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.models.registry import model_path
from posepipe.parts import PartClassifier, PartProbabilities
from posepipe.results import FrameResult, Pose, Proposals
from posepipe.segmentation.background_model import BackgroundModel
from posepipe.segmentation.foreground import CutOutForeground, RoomForeground
from posepipe.segmentation.head_split import CAMERA_UP, HeadSplit
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.person_filter import AcceptAll, PersonFilter
from posepipe.segmentation.pixel_grid import stride_for
from posepipe.segmentation.rotated_views import ROTATIONS, RotatedViews, View
from posepipe.sinks import FrameSink
from posepipe.sources import FrameSource
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.tracking.tracker import NoTracker, Tracker

TOUCHED_SHARE = 0.02
"""Pixels taken away from a candidate beyond this share change what the others' probes read: it is looked at again."""
FOREGROUNDS = ("auto", "none")
"""`RoomForeground`, which remembers a still background where people are tracked, and `CutOutForeground`."""


class Foreground(Protocol):
    """Finds candidates."""

    @property
    def floor(self) -> Plane | None:
        """Of the last frame, if one was seen."""

    def update(self, frame: DepthFrame) -> np.ndarray:
        """Their pixels: uint8 (H, W), 1 and up, 0 = none."""

    def learn(self, frame: DepthFrame, people: np.ndarray) -> None:
        """Take note of whose pixels, bool (H, W), were people's."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sighting:
    """A person in one frame."""

    mask: np.ndarray  #: bool (H, W)
    labels: np.ndarray  #: uint8 (H, W), likeliest part of every pixel of the mask, 0 elsewhere
    proposals: Proposals
    pose: Pose


@dataclass(slots=True)
class Pipeline:
    """Depth in, people out; every stage may be replaced by one that answers the same call."""

    foreground: Foreground
    parts: PartClassifier
    presence: PersonFilter | AcceptAll
    proposer: ModeProposer
    assembler: PoseEstimator
    tracker: Tracker | NoTracker
    separation: HeadSplit | None = None  #: None = a candidate is one person
    rotated_views: RotatedViews | None = None  #: None = a candidate is looked at as it is
    smoother: OneEuroSmoother | None = None  #: of tracks; None = joints stay where they were found
    max_people: int | None = None  #: the surest are kept; None = all
    extrinsics: Extrinsics | None = None  #: where the camera is; None = above the floor, where that is in view

    @classmethod
    def load(cls, model: str | Path = "person", tracking: bool = True, foreground: str = "auto") -> Pipeline:
        """Make the pipeline of a shipped model, by name, or of a model file.

        Raises
        ------
        FormatError
            When the file is missing or no model.
        ValueError
            When no foreground has that name.
        """
        return cls.from_forest(DepthForest.load(model_path(model)), tracking, foreground)

    @classmethod
    def from_forest(cls, forest: DepthForest, tracking: bool = True, foreground: str = "auto") -> Pipeline:
        """Make the pipeline of a forest in memory; ``foreground`` as in `load`."""
        if foreground not in FOREGROUNDS:
            raise ValueError(f"foreground must be one of {', '.join(FOREGROUNDS)}, got {foreground!r}")
        background = BackgroundModel() if tracking else None
        return cls(
            foreground=CutOutForeground() if foreground == "none" else RoomForeground(background),
            parts=forest,
            presence=AcceptAll() if foreground == "none" else PersonFilter(),
            proposer=ModeProposer(forest.body, forest.joint_parameters, forest.packed_votes),
            assembler=PoseEstimator(forest.body, forest.joint_parameters),
            tracker=Tracker(forest.body) if tracking else NoTracker(),
            separation=None if foreground == "none" else HeadSplit(),
            rotated_views=RotatedViews(len(forest.body.joints)),
        )

    def step(self, frame: DepthFrame) -> FrameResult:
        """One depth frame in, the people in it out. Only foreground, tracker and smoother remember earlier frames."""
        candidates = self.foreground.update(frame)
        numbers = range(1, int(candidates.max()) + 1)
        people = [sighting for number in numbers for sighting in self._people_in(frame, candidates == number)]
        people = sorted(people, key=lambda person: -person.pose.confidence)[: self.max_people]
        mask, labels = np.zeros(candidates.shape, bool), np.zeros(candidates.shape, np.uint8)
        for person in people:
            mask |= person.mask
            labels += person.labels
        self.foreground.learn(frame, mask)
        tracks = self.tracker.update([person.pose for person in people], frame.timestamp_s)
        if self.smoother is not None:
            tracks = self.smoother.update(tracks, frame.timestamp_s)
        proposals = tuple(person.proposals for person in people)
        return FrameResult(frame, mask, labels, proposals, tracks, self.foreground.floor, self.extrinsics)

    def _people_in(self, frame: DepthFrame, mask: np.ndarray) -> list[_Sighting]:
        """One candidate: nobody, a person, or several who touch."""
        whole = self._look_at(frame, mask)
        if whole is None or self.separation is None:
            return [] if whole is None else [whole]
        up = CAMERA_UP if self.foreground.floor is None else self.foreground.floor.normal
        pieces = self.separation.split(whole.proposals, frame.depth_m, whole.mask, frame.intrinsics, up)
        apart = [sighting for piece in pieces if (sighting := self._look_at(frame, piece)) is not None]
        apart = [sighting for sighting in apart if sighting.pose.confidence >= self.separation.min_confidence]
        return apart if len(apart) > 1 else [whole]

    def _look_at(self, frame: DepthFrame, mask: np.ndarray) -> _Sighting | None:
        """The person whom a mask shows, if it does: as he is seen, or turned, where that makes more of him."""
        depth_m, intrinsics = frame.depth_m, frame.intrinsics
        stride = stride_for(mask)
        parts = self.parts.predict(depth_m, mask, intrinsics, stride)
        person = self.presence.person_mask(depth_m, mask, intrinsics, parts)
        if person is not None and _touched(person, mask):
            mask = person
            parts = self.parts.predict(depth_m, mask, intrinsics, stride)
            person = self.presence.person_mask(depth_m, mask, intrinsics, parts)
        if person is None:
            return None
        view, looks = View(depth_m, person, intrinsics), self.rotated_views
        seen = self._sighting(view, parts)
        if seen is None or not self.presence.is_person(parts, seen.pose):
            return None
        if looks is None or not looks.wanted(view, seen.pose):
            return seen
        turned = [other for quarters in ROTATIONS if (other := self._turned(view, quarters)) is not None]
        best = looks.choose(seen.pose, [other.pose for other in turned])
        return seen if best is None else turned[best]

    def _turned(self, view: View, quarters: int) -> _Sighting | None:
        """What a person looks like with the picture turned; who he is was seen before."""
        view = view.turned(quarters)
        parts = self.parts.predict(view.depth_m, view.mask, view.intrinsics, stride_for(view.mask))
        return self._sighting(view, parts)

    def _sighting(self, view: View, parts: PartProbabilities) -> _Sighting | None:
        """Proposals and pose of the person whom a view shows; None when too little of him is found."""
        density = weigh_points(view.depth_m, view.intrinsics, parts, self.proposer.surfaces)
        proposals = self.proposer.find(density)
        pose = self.assembler.assemble(proposals)
        if pose is None:
            return None
        return _Sighting(
            view.in_picture(view.mask),
            view.in_picture(draw_labels(parts, view.mask)),
            view.proposals_in_camera(proposals),
            view.pose_in_camera(pose),
        )

    def run(self, source: FrameSource, sink: FrameSink) -> None:
        """Step through a source and write every result as it comes."""
        with source, sink:
            for frame in source:
                sink.write(self.step(frame))


def _touched(person: np.ndarray, mask: np.ndarray) -> bool:
    """Whether so much was taken away from a candidate that he is looked at again."""
    return person is not mask and bool(np.count_nonzero(person) < (1 - TOUCHED_SHARE) * np.count_nonzero(mask))
