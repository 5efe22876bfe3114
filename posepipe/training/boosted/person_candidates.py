"""Candidates that a pipeline makes of labelled whole frames, with their evidence, to train a person filter on."""

from __future__ import annotations

from collections.abc import Callable

from posepipe.body import BodyDefinition
from posepipe.camera import Plane
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import LabelledFrame
from posepipe.models.pose_model import PoseModel
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.segmentation.views.view import View
from posepipe.training.boosted.labelled_candidates import CandidateLog, LabelledCandidates
from posepipe.training.boosted.recorded_frames import RecordedFrames
from posepipe.training.true_filter import PERSON_SHARE, TrueFilter, judge_by_truth

FURNITURE_SHARE = 0.2
"""Maximum share of a candidate's pixels on people that makes it none; candidates between the two are left out."""


def collect_candidates(
    model: PoseModel,
    frames: FrameSequence,
    lengths: BoneLengths,
    on_frame: Callable[[], object] = lambda: None,
    workers: int = 1,
) -> LabelledCandidates:
    """Run the pipeline with a filter that knows the truth, and keep the evidence of all candidates that it is shown.

    Parameters
    ----------
    model : PoseModel
    frames : labelled whole frames
    lengths : BoneLengths
    on_frame : called after every frame
    workers : number of processes; 1 = this one. Candidates are the same

    Returns
    -------
    LabelledCandidates

    Raises
    ------
    PosepipeError
        When a worker was killed.
    """
    return LabelledCandidates.join(_Collecting(model, frames, lengths).collect(len(frames), on_frame, workers))


class _Collecting(RecordedFrames[LabelledCandidates]):
    """Collects the candidates of a block of frames."""

    def install_recorder(self, pipeline: Pipeline) -> _Recorder:
        recorder = _Recorder(self.model.body, self.lengths)
        # whole: single surfaces among candidates lower the probability of people, most of all of those who lie
        judge_by_truth(pipeline, recorder)
        pipeline.rotated_views = None  # candidates are those of images as recorded
        return recorder


class _Recorder(TrueFilter):
    """Keeps the evidence of every candidate that is a person, or furniture."""

    def __init__(self, body: BodyDefinition, lengths: BoneLengths) -> None:
        super().__init__()
        self._evidence = PersonEvidence(body, lengths)
        self._log = CandidateLog(len(self._evidence.names))

    def start_frame(self, row: int, frame: LabelledFrame) -> None:
        self.begin(frame.people > 0)
        self._log.start_frame(row, frame)

    def kept(self) -> LabelledCandidates:
        return self._log.candidates()

    def person_probability(self, view: View, parts: PartProbabilities, pose: Pose, floor: Plane | None = None) -> float:
        share = super().person_probability(view, parts, pose, floor)
        if self.has_pose(pose) and not FURNITURE_SHARE < share < PERSON_SHARE:
            evidence = self._evidence.measure(view.depth_m, view.mask, view.intrinsics, parts, pose, floor)
            self._log.keep(evidence, share >= PERSON_SHARE)
        return share
