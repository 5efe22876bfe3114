"""The pipeline of several cameras: each finds the people it sees, and all of them become one set of people."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np

from posepipe.body_model.body_fitter import BodyFitter
from posepipe.camera import Extrinsics
from posepipe.frames import DepthFrame
from posepipe.multiview.frame_sets import FrameSet, FrameSets
from posepipe.multiview.view_fusion import FusedPerson, ViewedPerson, ViewFusion
from posepipe.pipeline import Pipeline
from posepipe.results import FrameResult, JointProposal, Pose, Track
from posepipe.sinks import FrameSink
from posepipe.sources import FrameSource
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.tracking.people_limits import within_limits
from posepipe.tracking.tracker import NoTracker, Tracker


@dataclass(slots=True)
class JoinedPipeline:
    """Frames of several fixed cameras in, the people in any of them out.

    Every camera has a pipeline of its own, with its background, its floor and its tracks. Where the first fits a body,
    one is fitted to the joined joints as well: bones are constant, and joints have orientations. Results are those of
    the first camera: people are in its axes and in world axes, masks and part labels are of its image.
    """

    cameras: tuple[Pipeline, ...]  #: at least two, each with its extrinsics
    fusion: ViewFusion
    tracker: Tracker | NoTracker  #: of the people of all views
    body_fitter: BodyFitter | None = None  #: None = joints are joined one by one
    smoother: OneEuroSmoother | None = None  #: None = joints stay where they were found
    max_people: int | None = None  #: of highest confidence, see `within_limits`; None = all
    min_confidence: float = 0.0  #: people below it are tracked, and left out of the result
    _image: DepthFrame | None = field(default=None, init=False, repr=False)  #: of the first camera, for its size

    @classmethod
    def of(cls, cameras: Sequence[Pipeline]) -> JoinedPipeline:
        """Join the pipelines of cameras; tracking, fit, smoothing and limits of people are those of the first.

        Raises
        ------
        ValueError
            When there are fewer than two cameras, or one has no extrinsics.
        """
        if len(cameras) < 2 or any(camera.extrinsics is None for camera in cameras):
            raise ValueError("several cameras: wanted at least two, each with extrinsics")
        first = cameras[0]
        body = first.classifier.body
        tracker = deepcopy(first.tracker)  # of what settings it has, and none of its people
        tracker.reset()
        fitter = None if first.body_fitter is None else replace(first.body_fitter)
        limits = first.max_people, first.min_confidence
        own = tuple(replace(camera, smoother=None, max_people=None, min_confidence=0.0) for camera in cameras)
        return cls(own, ViewFusion(body), tracker, fitter, first.smoother, *limits)

    @property
    def world(self) -> Extrinsics:
        """Pose of the first camera."""
        return _extrinsics_of(self.cameras[0])

    def step(self, frame_set: FrameSet) -> FrameResult:
        """Find the people of one frame set; every frame is in camera axes and has the time of its source."""
        self._image = frame_set.frames[0] or self._image
        steps = [
            None if frame is None else camera.step(frame)
            for camera, frame in zip(self.cameras, frame_set.frames, strict=True)
        ]
        return self.join(frame_set, steps)

    def join(self, frame_set: FrameSet, steps: Sequence[FrameResult | None]) -> FrameResult:
        """Join the results of the cameras at one frame set; None = the camera has no frame."""
        views = [
            [] if result is None else self._viewed(camera, result, _extrinsics_of(self.cameras[camera]))
            for camera, result in enumerate(steps)
        ]
        people = self.fusion.fuse(views)
        poses = [self._pose(person) for person in people]
        order = sorted(range(len(people)), key=lambda row: -poses[row].confidence)
        tracks = self.tracker.update([poses[row] for row in order], frame_set.timestamp_s)
        people = [people[row] for row in order]
        if self.body_fitter is not None:
            tracks = self.body_fitter.update_joints(tracks, frame_set.timestamp_s)
            tracks = tuple(_explained_by(*own, steps) for own in zip(people, tracks, strict=True))
        if self.smoother is not None:
            tracks = self.smoother.update(tracks, frame_set.timestamp_s)
        kept = within_limits(tracks, self.max_people, self.min_confidence)
        return self._result(frame_set, steps[0], list(compress(people, kept)), tuple(compress(tracks, kept)))

    def reset(self) -> None:
        """Forget earlier frames of all cameras, in every stage."""
        self._image = None
        for stage in (*self.cameras, self.tracker, self.body_fitter, self.smoother):
            if stage is not None:
                stage.reset()

    def run(self, sources: Sequence[FrameSource], sink: FrameSink, offsets_s: Sequence[float] | None = None) -> None:
        """Step through several sources, and write each result to a sink; ``offsets_s`` as in `FrameSets`."""
        with FrameSets(sources, offsets_s) as frame_sets, sink:
            self._image = DepthFrame(np.zeros(sources[0].shape, np.float32), sources[0].intrinsics)
            for frame_set in frame_sets:
                sink.write(self.step(frame_set))

    def _viewed(self, camera: int, result: FrameResult, pose: Extrinsics) -> list[ViewedPerson]:
        own = [track.pose for track in result.people]
        common = [replace(each, joints_m=pose.world_points(each.joints_m)) for each in own]
        return [ViewedPerson.of(camera, row, each, self.fusion.body) for row, each in enumerate(common)]

    def _pose(self, person: FusedPerson) -> Pose:
        """Pose in the axes of the first camera."""
        found = person.confidence > 0
        names = tuple(name for name, has in zip(self.fusion.body.joints, found, strict=True) if has)
        return Pose(names, self.world.camera_points(person.joints_m[found]), person.confidence[found])

    def _result(
        self, frame_set: FrameSet, first: FrameResult | None, people: Sequence[FusedPerson], tracks: tuple[Track, ...]
    ) -> FrameResult:
        """Result in the image of the first camera; without a frame of it, nothing is in the image."""
        if first is None:
            first = self._nothing_seen(frame_set)
        masks = [_mask_in(first, person) for person in people]
        mask = np.any(masks, axis=0) if masks else np.zeros(first.mask.shape, bool)
        return FrameResult(
            replace(first.frame, index=frame_set.index, timestamp_s=frame_set.timestamp_s),
            mask,
            np.where(mask, first.parts, np.uint8(0)),
            tuple(_proposals_in(first, person) for person in people),
            tracks,
            first.floor,
            self.world,
            tuple(masks),
            tuple(tuple(view.camera + 1 for view in person.views) for person in people),
        )

    def _nothing_seen(self, frame_set: FrameSet) -> FrameResult:
        """Result of a first camera that has no frame: depth without a reading, of its size once that is known."""
        known = self._image or next(frame for frame in frame_set.frames if frame is not None)
        shape = known.depth_m.shape
        empty = replace(known, depth_m=np.zeros(shape, np.float32), colour=None)
        return FrameResult(empty, np.zeros(shape, bool), np.zeros(shape, np.uint8), ())


def _explained_by(person: FusedPerson, track: Track, steps: Sequence[FrameResult | None]) -> Track:
    """The track with what the fits of its views explain, on average: the joined one sees no pixel."""
    seen = (step.people[view.row].fit for view in person.views if (step := steps[view.camera]) is not None)
    fits = [fit for fit in seen if fit is not None]
    if track.fit is None or not fits:
        return track
    pixels = float(np.mean([fit.pixels_explained for fit in fits]))
    outline = float(np.mean([fit.outline_explained for fit in fits]))
    return replace(track, fit=replace(track.fit, pixels_explained=pixels, outline_explained=outline))


def _row_in_first(person: FusedPerson) -> int | None:
    """Row of a person in the result of the first camera; None = it did not see them."""
    return next((view.row for view in person.views if view.camera == 0), None)


def _mask_in(first: FrameResult, person: FusedPerson) -> np.ndarray:
    row = _row_in_first(person)
    return np.zeros(first.mask.shape, bool) if row is None else first.person_masks[row]


def _proposals_in(first: FrameResult, person: FusedPerson) -> Sequence[JointProposal]:
    row = _row_in_first(person)
    return () if row is None else first.proposals[row]


def _extrinsics_of(camera: Pipeline) -> Extrinsics:
    assert camera.extrinsics is not None, "a camera of several has extrinsics"
    return camera.extrinsics
