"""The shipped model on the shipped recording, stage by stage: one person without background at 320x240.

The baseline of every stage is the whole step, in the same run.
"""

import pytest

from apps.demo import RECORDING
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.sources import open_source


@pytest.fixture(scope="module")
def walk():
    pipeline = Pipeline.from_model(PoseModel.load("person"), tracking=False, foreground="none")
    with open_source(RECORDING) as source:
        frame = list(source)[30]
    (mask,) = pipeline.foreground.update(frame).masks()
    parts = pipeline.classifier.predict(frame.depth_m, mask, frame.intrinsics)
    points = pipeline.weighting.weigh(frame.depth_m, frame.intrinsics, parts)
    proposals = pipeline.proposer.find(points)
    stages = {
        "foreground": lambda: pipeline.foreground.update(frame),
        "classify": lambda: pipeline.classifier.predict(frame.depth_m, mask, frame.intrinsics),
        "weigh": lambda: pipeline.weighting.weigh(frame.depth_m, frame.intrinsics, parts),
        "propose": lambda: pipeline.proposer.find(points),
        "estimate": lambda: pipeline.pose_estimator.estimate(proposals),
        "whole step": lambda: pipeline.step(frame),
    }
    return stages, len(parts.pixels)


@pytest.mark.parametrize("stage", ["foreground", "classify", "weigh", "propose", "estimate", "whole step"])
def test_stage(stage, walk, benchmark):
    stages, pixels = walk
    benchmark.group = f"one frame, {pixels} person pixels"
    benchmark(stages[stage])
