"""Candidates that a pipeline makes of labelled whole frames, with their evidence, to train a person filter on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posepipe.camera import Plane
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.models.pose_model import PoseModel
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.segmentation.person_classifier.pose_evidence import BoneLengths
from posepipe.segmentation.views.view import View
from posepipe.training.boosted.labelled_candidates import LabelledCandidates
from posepipe.training.frame_blocks import FrameBlocks
from posepipe.training.true_filter import PERSON_SHARE, TrueFilter

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


@dataclass(frozen=True, slots=True)
class _Collecting(FrameBlocks[LabelledCandidates]):
    """Collects the candidates of a block of frames."""

    model: PoseModel
    frames: FrameSequence
    lengths: BoneLengths

    def block(self, block: range, on_frames: Callable[[int], None]) -> LabelledCandidates:
        """Candidates of some frames; rows are those of all frames."""
        recorder = _Recorder(self.model, self.lengths)
        pipeline = Pipeline.from_model(self.model, tracking=False, fit=False)
        pipeline.person_filter = recorder  # type: ignore[assignment]
        # candidates are those of the foreground, as recorded, whole: single surfaces among them lower the probability
        # of people, most of all of those who lie
        pipeline.rotated_views = pipeline.remainder = pipeline.surfaces = pipeline.occluded_people = None
        pipeline.second_pass = None  # they are judged by the first
        rows, evidence, people, empty = [], [], [], []
        for row in block:
            frame = self.frames[row]
            recorder.begin(frame.people > 0)
            if not frame.people.any():
                empty.append(row)
            pipeline.step(frame.depth)
            for share, numbers in recorder.seen:
                if not FURNITURE_SHARE < share < PERSON_SHARE:
                    rows.append(row)
                    evidence.append(numbers)
                    people.append(share >= PERSON_SHARE)
            on_frames(1)
        return LabelledCandidates.of(evidence, people, rows, empty, len(recorder.evidence.names))


class _Recorder(TrueFilter):
    """Keeps the share of people and the evidence of every candidate."""

    def __init__(self, model: PoseModel, lengths: BoneLengths) -> None:
        self.evidence = PersonEvidence(model.body, lengths)
        super().__init__()

    def begin(self, people: np.ndarray) -> None:
        super().begin(people)
        self.seen: list[tuple[float, np.ndarray]] = []

    def person_probability(self, view: View, parts: PartProbabilities, pose: Pose, floor: Plane | None = None) -> float:
        share = super().person_probability(view, parts, pose, floor)
        if self.has_pose(pose):
            numbers = self.evidence.measure(view.depth_m, view.mask, view.intrinsics, parts, pose, floor)
            self.seen.append((share, numbers))
        return share
