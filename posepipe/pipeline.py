"""posepipe on one page: a depth frame in, the people in it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from posepipe.assembly import PoseAssembler
from posepipe.density import weigh_points
from posepipe.foreground import CutOutForeground
from posepipe.frames import DepthFrame
from posepipe.joint_parameters import landmark_classes
from posepipe.learn.depth_forest import DepthForest
from posepipe.models import model_path
from posepipe.parts import PartClassifier
from posepipe.proposals import ModeProposer
from posepipe.results import FrameResult
from posepipe.sinks import FrameSink
from posepipe.sources import FrameSource
from posepipe.tracking import NoTracker, Tracker

SAMPLING_FOCAL_PX = 300.0
"""Images of longer focal length are classified on a coarser grid: a body needs no more pixels than this gives."""


class Foreground(Protocol):
    """Finds the pixels of people."""

    def update(self, frame: DepthFrame) -> np.ndarray: ...


@dataclass(slots=True)
class Pipeline:
    """Depth in, people out; every stage may be replaced by one that answers the same call."""

    foreground: Foreground
    parts: PartClassifier
    proposer: ModeProposer
    assembler: PoseAssembler
    tracker: Tracker | NoTracker

    @classmethod
    def load(cls, model: str | Path = "person", tracking: bool = True) -> Pipeline:
        """Make the pipeline of a shipped model, by name, or of a model file.

        Raises
        ------
        FormatError
            When the file is missing or no model.
        """
        return cls.from_forest(DepthForest.load(model_path(model)), tracking)

    @classmethod
    def from_forest(cls, forest: DepthForest, tracking: bool = True) -> Pipeline:
        """Make the pipeline of a forest in memory."""
        return cls(
            foreground=CutOutForeground(),
            parts=forest,
            proposer=ModeProposer(forest.body, forest.joint_parameters),
            assembler=PoseAssembler(forest.body, forest.joint_parameters),
            tracker=Tracker() if tracking else NoTracker(),
        )

    def step(self, frame: DepthFrame) -> FrameResult:
        """One depth frame in, the people in it out. Only foreground and tracker remember earlier frames."""
        mask = self.foreground.update(frame)
        stride = max(1, round(min(frame.intrinsics.fx, frame.intrinsics.fy) / SAMPLING_FOCAL_PX))
        parts = self.parts.predict(frame.depth_m, mask, frame.intrinsics, stride)
        density = weigh_points(frame.depth_m, frame.intrinsics, parts, landmark_classes(self.parts.body))
        proposals = self.proposer.find(density)
        pose = self.assembler.assemble(proposals)
        people = self.tracker.update(() if pose is None else (pose,), frame.timestamp_s)
        return FrameResult(frame, mask, parts.label_image(mask), proposals, people)

    def run(self, source: FrameSource, sink: FrameSink) -> None:
        """Step through a source and write every result as it comes."""
        with source, sink:
            for frame in source:
                sink.write(self.step(frame))
