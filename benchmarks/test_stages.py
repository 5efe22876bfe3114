"""The shipped model on the shipped recording, stage by stage: one person without background at 320x240.

The baseline of every stage is the whole step without the body fit, in the same run. The fit (`--fit on`) is timed for a
new person, and for one who was fitted in the frame before.
"""

import pytest

from apps.bench import RECORDING
from posepipe.body_model.body_fitter import BodyFitter
from posepipe.body_model.body_model import read_body_model
from posepipe.inference.pose_inference import PoseInference
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.results import Track
from posepipe.segmentation.views.view import View
from posepipe.sources import open_source


@pytest.fixture(scope="module")
def walk():
    pipeline = Pipeline.from_model(PoseModel.load("person"), tracking=False, foreground="none")
    with open_source(RECORDING) as source:
        before, frame = list(source)[29:31]
    (mask,) = pipeline.foreground.update(frame).masks()
    stages, view = pipeline.joint_stages, View(frame.depth_m, mask, frame.intrinsics)
    known = PoseInference(stages, view)
    model = pipeline.classifier.body, read_body_model()
    new, tracked = BodyFitter(*model, tracking=False), BodyFitter(*model)
    seen = _tracked(pipeline, before), _tracked(pipeline, frame)
    tracked.update(*seen[0], before)
    remembered = dict(tracked._known)

    def follow() -> None:
        tracked._known = dict(remembered)
        tracked.update(*seen[1], frame)

    calls = {
        "foreground": lambda: pipeline.foreground.update(frame),
        "classify": lambda: PoseInference(stages, view).parts,
        "weigh": lambda: PoseInference(stages, view, known.parts).points,
        "propose": lambda: PoseInference(stages, points=known.points).proposals,
        "estimate": lambda: PoseInference(stages, proposals=known.proposals).pose,
        "body fit, new": lambda: new.update(*seen[1], frame),
        "body fit, tracked": follow,
        "whole step": lambda: pipeline.step(frame),
    }
    return calls, len(known.parts.pixels)


def _tracked(pipeline, frame):
    """Tracks of the people in a frame, all of id 1, and their pixels."""
    (mask,) = pipeline.foreground.update(frame).masks()
    person = pipeline.estimate(frame, mask)
    return [Track(1, person.pose)], [person.pixels]


STAGES = (
    *("foreground", "classify", "weigh", "propose", "estimate"),
    *("body fit, new", "body fit, tracked", "whole step"),
)


@pytest.mark.parametrize("stage", STAGES)
def test_stage(stage, walk, benchmark):
    calls, pixels = walk
    benchmark.group = f"one frame, {pixels} classified pixels"
    benchmark(calls[stage])
