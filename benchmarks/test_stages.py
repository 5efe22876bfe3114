"""The shipped model on the shipped recording, stage by stage: one cut-out person at 320x240.

The baseline of every stage is the whole step, in the same run.
"""

import pytest

from apps.demo import RECORDING
from posepipe.joints.weighted_points import weigh_points
from posepipe.landmarks import landmark_classes
from posepipe.pipeline import Pipeline
from posepipe.sources import open_source


@pytest.fixture(scope="module")
def walk():
    pipeline = Pipeline.load("person", tracking=False)
    with open_source(RECORDING) as source:
        frame = list(source)[30]
    mask = pipeline.foreground.update(frame)
    parts = pipeline.parts.predict(frame.depth_m, mask, frame.intrinsics)
    density = weigh_points(frame.depth_m, frame.intrinsics, parts, landmark_classes(pipeline.parts.body))
    proposals = pipeline.proposer.find(density)
    stages = {
        "foreground": lambda: pipeline.foreground.update(frame),
        "classify": lambda: pipeline.parts.predict(frame.depth_m, mask, frame.intrinsics),
        "weigh": lambda: weigh_points(frame.depth_m, frame.intrinsics, parts, landmark_classes(pipeline.parts.body)),
        "propose": lambda: pipeline.proposer.find(density),
        "assemble": lambda: pipeline.assembler.assemble(proposals),
        "whole step": lambda: pipeline.step(frame),
    }
    return stages, len(parts.pixels)


@pytest.mark.parametrize("stage", ["foreground", "classify", "weigh", "propose", "assemble", "whole step"])
def test_stage(stage, walk, benchmark):
    stages, pixels = walk
    benchmark.group = f"one frame, {pixels} person pixels"
    benchmark(stages[stage])
