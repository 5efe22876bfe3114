"""Labelled frames that a pipeline looks at while a recorder stands in for one of its stages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import LabelledFrame
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.training.frame_blocks import FrameBlocks

Kept = TypeVar("Kept")
Kept_co = TypeVar("Kept_co", covariant=True)


class Recorder(Protocol[Kept_co]):
    """Keeps what a stage is shown, with the truth about it."""

    def start_frame(self, row: int, frame: LabelledFrame) -> None:
        """Start a frame, the ``row``-th of all."""

    def kept(self) -> Kept_co:
        """All that was kept."""


@dataclass(frozen=True, slots=True)
class RecordedFrames(FrameBlocks[Kept]):
    """Runs a pipeline with a recorder on blocks of frames. Frames are judged one by one, and by their first pass."""

    model: PoseModel
    frames: FrameSequence
    lengths: BoneLengths  #: that people of these frames typically have

    @abstractmethod
    def install_recorder(self, pipeline: Pipeline) -> Recorder[Kept]:
        """Put a recorder in the place of a stage, and leave out what would show it other than its stage learns from."""

    def block(self, block: range, on_frames: Callable[[int], None]) -> Kept:
        """What the recorder keeps of some frames; rows are those of all frames."""
        pipeline = Pipeline.from_model(self.model, tracking=False, fit=False)
        pipeline.second_pass = None
        recorder = self.install_recorder(pipeline)
        for row in block:
            frame = self.frames[row]
            recorder.start_frame(row, frame)
            pipeline.step(frame.depth)
            on_frames(1)
        return recorder.kept()
