"""The shipped model on the shipped recording, stage by stage: one person without background at 320x240.

The baseline of every stage is the whole step, in the same run.
"""

import pytest

from apps.bench import RECORDING
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.pose_inference import PoseInference
from posepipe.segmentation.rotated_views import View
from posepipe.sources import open_source


@pytest.fixture(scope="module")
def walk():
    pipeline = Pipeline.from_model(PoseModel.load("person"), tracking=False, foreground="none")
    with open_source(RECORDING) as source:
        frame = list(source)[30]
    (mask,) = pipeline.foreground.update(frame).masks()
    stages, view = pipeline.joint_stages, View(frame.depth_m, mask, frame.intrinsics)
    known = PoseInference(stages, view)
    calls = {
        "foreground": lambda: pipeline.foreground.update(frame),
        "classify": lambda: PoseInference(stages, view).parts,
        "weigh": lambda: PoseInference(stages, view, known.parts).points,
        "propose": lambda: PoseInference(stages, points=known.points).proposals,
        "estimate": lambda: PoseInference(stages, proposals=known.proposals).pose,
        "whole step": lambda: pipeline.step(frame),
    }
    return calls, len(known.parts.pixels)


@pytest.mark.parametrize("stage", ["foreground", "classify", "weigh", "propose", "estimate", "whole step"])
def test_stage(stage, walk, benchmark):
    calls, pixels = walk
    benchmark.group = f"one frame, {pixels} classified pixels"
    benchmark(calls[stage])
