"""posepipe on one page: a depth frame in, the people in it out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posepipe.body_model.body_fitter import BodyFitter
from posepipe.body_model.body_model import BodyModel, body_to_fit
from posepipe.camera import Extrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.inference.candidate_inference import CandidateInference
from posepipe.inference.facing_check import FacingCheck
from posepipe.inference.person_estimate import PersonEstimate
from posepipe.inference.person_inference import PersonInference
from posepipe.inference.pose_inference import JointStages
from posepipe.inference.second_pass import SecondPass
from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.pose_search import PoseSearch, Starts
from posepipe.joints.proposals import ModeProposer
from posepipe.joints.weighted_points import PointWeighting
from posepipe.models.pose_model import PoseModel
from posepipe.parts import PartClassifier
from posepipe.results import FrameResult, Track
from posepipe.segmentation.candidates import Candidates
from posepipe.segmentation.foreground import CutOutForeground, Foreground, RoomForeground
from posepipe.segmentation.known_people import KnownPeople
from posepipe.segmentation.person_filter import AcceptAll, PersonFilter, filter_by
from posepipe.segmentation.person_segmentation import PersonSegmentation
from posepipe.segmentation.regions.connected_surfaces import ConnectedSurfaces
from posepipe.segmentation.regions.head_split import HeadSplit
from posepipe.segmentation.regions.occluded_people import OccludedPeople
from posepipe.segmentation.regions.region_filter import RegionFilter, region_filter_by
from posepipe.segmentation.regions.remainder import Remainder
from posepipe.segmentation.room_geometry.background_model import BackgroundModel
from posepipe.segmentation.room_geometry.still_background import StillBackground
from posepipe.segmentation.still_furniture import FoundPerson, StillFurniture
from posepipe.segmentation.views.rotated_views import POOR_POSE, RotatedViews
from posepipe.sinks import FrameSink
from posepipe.sources import FrameSource
from posepipe.stage import check_numbers
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.tracking.people_limits import within_limits
from posepipe.tracking.tracker import NoTracker, Tracker

FOREGROUNDS = ("auto", "none")
"""`RoomForeground`, with a background model where people are tracked, and `CutOutForeground`."""


class Stage(NamedTuple):
    """Field and title of one stage, for timing, tuning and display."""

    field: str  #: of the `Pipeline`
    title: str  #: for tables and pages


STAGES = (
    Stage("foreground", "foreground"),
    Stage("classifier", "body parts"),
    Stage("person_filter", "person filter"),
    Stage("weighting", "weighting, votes"),
    Stage("proposer", "proposals"),
    Stage("pose_estimator", "pose"),
    Stage("pose_search", "pose search"),
    Stage("rotated_views", "rotated views"),
    Stage("facing_check", "facing check"),
    Stage("second_pass", "second pass"),
    Stage("head_split", "head split"),
    Stage("surfaces", "surfaces"),
    Stage("remainder", "remainder"),
    Stage("region_filter", "region filter"),
    Stage("segmentation", "segmentation"),
    Stage("occluded_people", "occluded people"),
    Stage("tracker", "tracker"),
    Stage("still_furniture", "still furniture"),
    Stage("known_people", "known people"),
    Stage("body_fitter", "body fit"),
    Stage("smoother", "smoother"),
)
"""All stages, in the order in which a frame passes through them."""


@dataclass(slots=True)
class Pipeline:
    """Depth in, people out. A stage may be replaced by any object with the same methods.

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe import DepthFrame, Intrinsics, Pipeline
    >>> pipeline = Pipeline.load("person")
    >>> empty = DepthFrame(np.zeros((240, 320), np.uint16), Intrinsics(285.6, 285.6, 159.5, 119.5))
    >>> pipeline.step(empty).people
    ()
    """

    foreground: Foreground
    classifier: PartClassifier
    person_filter: PersonFilter | AcceptAll
    weighting: PointWeighting
    proposer: ModeProposer
    pose_estimator: PoseEstimator
    tracker: Tracker | NoTracker
    head_split: HeadSplit | None = None  #: None = a candidate is one person
    surfaces: ConnectedSurfaces | None = None  #: None = the surfaces that were joined are not judged one by one
    remainder: Remainder | None = None  #: None = a person in a candidate is all of it, unless heads divide it
    region_filter: RegionFilter | None = None  #: None = a region is judged as a candidate is; some are found twice
    segmentation: PersonSegmentation | None = None  #: None = a candidate without people is not divided
    occluded_people: OccludedPeople | None = None  #: None = nobody is sought in pieces that are no candidates
    pose_search: PoseSearch | None = None  #: None = the first choice of proposals is kept
    rotated_views: RotatedViews | None = None  #: None = a candidate is classified in the unrotated image only
    facing_check: FacingCheck | None = None  #: None = labels alone say which way somebody faces
    second_pass: SecondPass | None = None  #: None = the first pose, and the classifier's labels, are kept
    still_furniture: StillFurniture | None = None  #: of tracks; None = whoever was found is a person
    known_people: KnownPeople | None = None  #: None = every frame is judged by itself
    body_fitter: BodyFitter | None = None  #: of tracks; None = joints are placed one by one
    smoother: OneEuroSmoother | None = None  #: of tracks; None = joints stay where they were found
    max_people: int | None = None  #: of highest confidence, see `within_limits`; None = all
    min_confidence: float = 0.0  #: people below it are tracked, and left out of the result
    extrinsics: Extrinsics | None = None  #: pose of the camera; None = derived from the floor, where it is in view

    @classmethod
    def load(
        cls,
        model: str | Path = "person",
        tracking: bool = True,
        foreground: str = "auto",
        background: StillBackground | None = None,
        fit: bool | BodyModel = True,
    ) -> Pipeline:
        """Make the pipeline of a shipped model, by name, or of a model file.

        Parameters
        ----------
        model : name or path
        tracking : whether people keep their ids over time
        foreground : "auto" finds people in a room; with "none" all pixels with a reading are one person
        background : the still background of the scene, recorded without people; None = it is learned from the frames
        fit : the body fitted to every person; True = the shipped one, where the model is of people; False = none

        Raises
        ------
        PosepipeError
            When no model has that name or path.
        FormatError
            When the file is no model.
        ValueError
            When no foreground has that name, the foreground "none" gets a background, or the body model is of another
            body.
        TypeError
            When the background is no `StillBackground`, such as a path, or ``fit`` is anything else, such as "off".
        """
        return cls.from_model(PoseModel.load(model), tracking, foreground, background, fit)

    @classmethod
    def from_model(
        cls,
        model: PoseModel,
        tracking: bool = True,
        foreground: str = "auto",
        background: StillBackground | None = None,
        fit: bool | BodyModel = True,
    ) -> Pipeline:
        """Make the pipeline of a model in memory; other parameters, and their errors, as in `load`."""
        if foreground not in FOREGROUNDS:
            raise ValueError(f"foreground must be one of {', '.join(FOREGROUNDS)}, got {foreground!r}")
        if not isinstance(background, StillBackground | None):
            raise TypeError(f"a background is what learn_still_background(frames) returns, got {background!r:.60}")
        cut_out, body_model = foreground == "none", body_to_fit(fit, model.body)
        if cut_out and background is not None:
            raise ValueError("a background is for people in a scene; leave it out with foreground none")
        # only a classifier tells parts of people and of furniture from people
        divides = not cut_out and model.person_classifier is not None
        return cls(
            foreground=CutOutForeground() if cut_out else _room_foreground(tracking, background),
            person_filter=AcceptAll() if cut_out else filter_by(model.person_classifier),
            **JointStages.of(model.classifier(), model.joint_parameters)._asdict(),
            tracker=Tracker(model.body) if tracking else NoTracker(),
            head_split=None if cut_out else HeadSplit(),
            surfaces=ConnectedSurfaces() if divides else None,
            remainder=Remainder(model.body) if divides else None,
            region_filter=region_filter_by(model.region_classifier) if divides else None,
            segmentation=None if cut_out else model.person_segmentation(),
            occluded_people=OccludedPeople() if divides else None,
            pose_search=PoseSearch(Starts.of(model.body, model.joint_parameters.method)),
            rotated_views=_rotated_views(model, cut_out),
            facing_check=None if model.facing is None else FacingCheck(model.facing, model.body),
            second_pass=None if model.second_pass is None else SecondPass.of(model.body, model.second_pass),
            still_furniture=StillFurniture() if tracking and not cut_out else None,
            known_people=KnownPeople() if tracking and not cut_out else None,
            body_fitter=None if body_model is None else BodyFitter(model.body, body_model, tracking),
        )

    def step(self, frame: DepthFrame) -> FrameResult:
        """Find the people in one depth frame. Foreground, tracker and the stages after it remember earlier frames.

        Raises TypeError for anything else, such as an array, and ValueError for a threshold out of its range.
        """
        if not isinstance(frame, DepthFrame):
            raise TypeError(f"wanted DepthFrame(depth, Intrinsics(fx, fy, cx, cy), timestamp_s), got {frame!r:.60}")
        check_numbers({stage.field: own for stage, own in self.stages()})
        if self.smoother is not None and isinstance(self.tracker, NoTracker):
            raise ValueError("a smoother follows each person over time: it needs a tracker")
        upright = self._with_up(frame)
        candidates = self.foreground.update(upright)
        people = self._people_among(upright, candidates)
        people.sort(key=lambda person: -person.pose.confidence)
        self.foreground.learn(frame, candidates, _mask_of(people, candidates.numbers.shape))
        tracks = self.tracker.update([person.pose for person in people], frame.timestamp_s)
        people, tracks = self._shown(frame, people, tracks)
        if self.body_fitter is not None:
            tracks = self.body_fitter.update(tracks, [person.pixels for person in people], frame)
        if self.smoother is not None:
            tracks = self.smoother.update(tracks, frame.timestamp_s)
        return self._result(frame, people, tracks, candidates.floor)

    def _with_up(self, frame: DepthFrame) -> DepthFrame:
        """The frame, with the direction up of the camera's pose where no accelerometer measures it."""
        if not isinstance(self.extrinsics, Extrinsics | None):
            raise TypeError(f"extrinsics of a matrix are Extrinsics.of_matrix(matrix), got {self.extrinsics!r:.60}")
        if frame.up is not None or self.extrinsics is None:
            return frame
        x, y, z = self.extrinsics.rotation[2].tolist()
        return replace(frame, up=(x, y, z))

    def _shown(
        self, frame: DepthFrame, people: list[PersonEstimate], tracks: Sequence[Track]
    ) -> tuple[list[PersonEstimate], tuple[Track, ...]]:
        """People who are no still furniture, and their tracks."""
        rows = list(zip(people, tracks, strict=True))
        if self.still_furniture is not None:
            found = [FoundPerson(track.id, person.mask, person.probability) for person, track in rows]
            rows = list(compress(rows, self.still_furniture.update(frame, found)))
        if self.known_people is not None:
            masks = [person.mask for person, _ in rows]
            accepted = [person.by_itself for person, _ in rows]
            self.known_people.update(frame.timestamp_s, masks, accepted)
        return [person for person, _ in rows], tuple(track for _, track in rows)

    def _result(
        self, frame: DepthFrame, people: list[PersonEstimate], tracks: Sequence[Track], floor: Plane | None
    ) -> FrameResult:
        """Result of the people of highest confidence who reach the minimum; the fit changes how confident poses are."""
        kept = within_limits(tracks, self.max_people, self.min_confidence)
        people, tracks = list(compress(people, kept)), tuple(compress(tracks, kept))
        parts = np.zeros(shape := frame.depth_m.shape, np.uint8)
        for person in people:
            parts += person.parts
        proposals = tuple(person.proposals for person in people)
        masks = tuple(person.mask for person in people)
        mask = _mask_of(people, shape)
        return FrameResult(frame, mask, parts, proposals, tracks, floor, self.extrinsics, masks)

    def reset(self) -> None:
        """Forget earlier frames, in every stage."""
        for _, stage in self.stages():
            stage.reset()

    def stages(self) -> list[tuple[Stage, Any]]:
        """The stages that this pipeline has, in the order of STAGES."""
        found = [(stage, getattr(self, stage.field)) for stage in STAGES]
        return [(stage, own) for stage, own in found if own is not None]

    @property
    def joint_stages(self) -> JointStages:
        """The stages from the pixels of a candidate to a pose."""
        return JointStages(self.classifier, self.weighting, self.proposer, self.pose_estimator)

    @property
    def person_inference(self) -> PersonInference:
        """The stages from a candidate to the people in it."""
        candidates = CandidateInference(
            self.joint_stages,
            self.person_filter,
            rotated_views=self.rotated_views,
            region_filter=self.region_filter,
            known_people=self.known_people,
            pose_search=self.pose_search,
            facing_check=self.facing_check,
            second_pass=self.second_pass,
        )
        return PersonInference(candidates, self.head_split, self.surfaces, self.remainder, self.occluded_people)

    def estimate(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None = None) -> PersonEstimate | None:
        """Estimate the person in a candidate, pixels with a reading that are not 0; see `PersonInference.estimate`."""
        return self.person_inference.estimate(frame, np.asarray(mask, bool) & (frame.depth_m > 0), floor)

    def _people_among(self, frame: DepthFrame, candidates: Candidates) -> list[PersonEstimate]:
        """Estimate the people in all candidates.

        Those without people may be people together with furniture: what the segmentation leaves of them is grouped into
        candidates again. Where it sees more people, somebody may show in pieces.
        """
        inference = self.person_inference
        people, rejected = [], np.zeros(candidates.numbers.shape, bool)
        for mask in candidates.masks():
            found = inference.people_in(frame, mask, candidates.floor)
            people += found
            if not found:
                rejected |= mask
        in_pieces = candidates.foreground if self.occluded_people is not None else None
        if self.segmentation is None or (in_pieces is None and not rejected.any()):
            return people
        of_people = self.segmentation.segment(frame.depth_m, frame.intrinsics)
        again = self.foreground.group(frame, rejected & of_people, candidates.floor)
        people += [person for mask in again.masks() for person in inference.people_in(frame, mask, again.floor)]
        if in_pieces is None:
            return people
        return inference.with_people_in_pieces(frame, in_pieces & of_people, people, candidates.floor)

    def run(self, source: FrameSource, sink: FrameSink) -> None:
        """Step through a source and write each result to a sink."""
        with source, sink:
            for frame in source:
                sink.write(self.step(frame))


def _rotated_views(model: PoseModel, cut_out: bool) -> RotatedViews:
    """Views of people who may be upside down; in rooms, the rule takes too many who are hidden in part to be."""
    poor = POOR_POSE if cut_out or model.view_choice is not None else 0.0
    return RotatedViews(len(model.body.joints), poor=poor, choice=model.view_choice)


def _room_foreground(tracking: bool, still: StillBackground | None) -> RoomForeground:
    """Foreground that learns the background where people are tracked, and knows a given one in any case."""
    still_m = None if still is None else still.depth_m
    background = BackgroundModel(still_m, learning=tracking) if tracking or still is not None else None
    return RoomForeground(background, still)


def _mask_of(people: Iterable[PersonEstimate], shape: tuple[int, ...]) -> np.ndarray:
    """Pixels of several people: bool (H, W)."""
    mask = np.zeros(shape, bool)
    for person in people:
        mask |= person.mask
    return mask
