"""Trains the region classifier: on the regions of candidates that a pipeline judges in labelled whole frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from posepipe.body import BodyDefinition
from posepipe.camera import Plane
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.evaluation.metrics.people_in_view import (
    SAME_PERSON_M,
    distances_to_people,
    joints_in_view,
    people_in_view,
)
from posepipe.frames import LabelledFrame
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.regions.region_classifier import RegionClassifier
from posepipe.segmentation.regions.region_evidence import RegionEvidence, SeenRegion
from posepipe.segmentation.regions.region_filter import MIN_PERSON_PROBABILITY, RegionFilter
from posepipe.stage import Stateless
from posepipe.training.boosted.fit_calibrated_trees import fit_calibrated_trees
from posepipe.training.boosted.folds import folds_of, kind_of_folds, typical_bones
from posepipe.training.boosted.labelled_candidates import CandidateLog, LabelledCandidates
from posepipe.training.boosted.recorded_frames import RecordedFrames
from posepipe.training.check_frames import check_people
from posepipe.training.origin import origin_of


def refit_region_classifier(
    model: PoseModel,
    frames: FrameSequence,
    command: str = "",
    on_frame: Callable[[], object] = lambda: None,
    workers: int = 1,
) -> PoseModel:
    """Train the region classifier of a model.

    Frames that its person filter has learned from would show it surer of whole candidates than it is: give others.

    Parameters
    ----------
    model : PoseModel, with the person classifier that will be used
    frames : labelled whole frames, with people and furniture
    command : command line of the training, for the metadata
    on_frame : called after every frame
    workers : number of processes that look at frames; 1 = this one. The classifier is the same

    Returns
    -------
    PoseModel, without the figures measured with the earlier classifier

    Raises
    ------
    ValueError
        For a model without a person classifier, and when the frames give no region that is somebody, or none that is
        not, or show another body.
    """
    if model.person_classifier is None:
        raise ValueError("the model has no person classifier; train one by posepipe train --only filter")
    frames.check_joints(model.body)
    started = time.monotonic()
    learner = "a region filter"
    check_people(frames, learner)  # people beside each other are enough
    lengths = typical_bones(frames, model.body)
    bare = replace(model, region_classifier=None)
    regions = LabelledCandidates.join(_Collecting(bare, frames, lengths).collect(len(frames), on_frame, workers))
    regions.check(len(frames), learner, "region", "furniture or people known before", " that may be a person")
    names = RegionEvidence(model.body, lengths).names
    fit = fit_calibrated_trees(regions, folds_of(frames)[regions.row], names)
    about: dict[str, Any] = {
        **origin_of(frames, command),
        "regions": len(regions.row),
        "people": int(regions.is_person.sum()),
        "auc_left_out": fit.auc,
        "folds_of": kind_of_folds(frames),
        "seconds": round(time.monotonic() - started, 1),
    }
    classifier = RegionClassifier(model.body, lengths, fit.trees, fit.calibration)
    return replace(model, region_classifier=classifier).with_metadata(figures=None, region_filter=about)


class _Collecting(RecordedFrames[LabelledCandidates]):
    """Collects the regions that are judged in a block of frames."""

    def install_recorder(self, pipeline: Pipeline) -> _Recorder:
        recorder = _Recorder(self.model.body, self.lengths)
        pipeline.region_filter = recorder  # type: ignore[assignment]
        return recorder


class _Recorder(Stateless):
    """Judges regions as a model without a region classifier does, and keeps their evidence and the truth."""

    def __init__(self, body: BodyDefinition, lengths: BoneLengths) -> None:
        self._body, self._in_view_joints = body, joints_in_view(body)
        self._rule, self._evidence = RegionFilter(), RegionEvidence(body, lengths)
        self._log = CandidateLog(len(self._evidence.names))

    def start_frame(self, row: int, frame: LabelledFrame) -> None:
        self._frame, self._in_view = frame, people_in_view(frame, self._in_view_joints)
        self._log.start_frame(row, frame)

    def kept(self) -> LabelledCandidates:
        return self._log.candidates()

    def probability(self, seen: SeenRegion, floor: Plane | None = None) -> float:
        """Probability by the person filter."""
        if seen.probability >= MIN_PERSON_PROBABILITY:  # of others the classifier is not asked
            self._keep(seen, floor)
        return self._rule.probability(seen, floor)

    def accepts(self, seen: SeenRegion, probability: float) -> bool:
        """Whether the region is somebody, without a classifier."""
        return self._rule.accepts(seen, probability)

    def _keep(self, seen: SeenRegion, floor: Plane | None) -> None:
        """Keep evidence and truth, but of people who are hardly in view: they teach nothing."""
        person, *known = self._people_of([seen.best_pose, *seen.region.known])
        if person is None or person in known or self._in_view[person]:
            self._log.keep(self._evidence.measure(seen, floor), person is not None and person not in known)

    def _people_of(self, poses: Sequence[Pose]) -> list[int | None]:
        """The person of each pose; None = it is near no person."""
        distances_m = distances_to_people(self._frame, poses, self._body, self._in_view_joints)
        if not len(distances_m):
            return [None] * len(poses)
        nearest = zip(distances_m.argmin(axis=0).tolist(), distances_m.min(axis=0).tolist(), strict=True)
        return [person if distance_m < SAME_PERSON_M else None for person, distance_m in nearest]
