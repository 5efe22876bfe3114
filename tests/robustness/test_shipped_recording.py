"""The shipped model on the shipped recording: mirrored, at other resolutions and in another order."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from apps.bench import RECORDING
from posepipe.body import mirror_name
from posepipe.frames import DepthFrame
from posepipe.pipeline import Pipeline
from posepipe.sources import open_source
from posepipe.sources.rotation import mirror_frame
from tests.support.shipped_model import shipped_model

NEAR_M = 0.03
SURE = 0.5
"""Confidence of fitted joints that are compared: where a limb is hidden, the body may lie one way or another."""
MIN_SHARE = 0.95


@pytest.fixture(scope="module", params=[False, True], ids=["found one by one", "fitted"])
def pipeline(request):
    return Pipeline.from_model(shipped_model(), tracking=False, fit=request.param)


@pytest.fixture(scope="module")
def frames():
    with open_source(RECORDING) as source:
        return list(source)[::2]


def joints_of(pipeline: Pipeline, frame: DepthFrame, min_confidence: float = 0.0) -> dict[str, np.ndarray]:
    (person,) = pipeline.step(frame).people
    joints = person.pose.joints.items()
    return {name: np.array(joint.xyz_m) for name, joint in joints if joint.confidence >= min_confidence}


def sure(pipeline: Pipeline) -> float:
    return 0.0 if pipeline.body_fitter is None else SURE


@pytest.fixture(scope="module")
def found(pipeline, frames):
    return [joints_of(pipeline, frame, sure(pipeline)) for frame in frames]


def share_near(found: list[dict], again: list[dict]) -> float:
    """Share of the joints that lie within NEAR_M of where they were; a missing one does not."""
    gaps = [
        np.linalg.norm(place - other[name]) if name in other else np.inf
        for one, other in zip(found, again, strict=True)
        for name, place in one.items()
    ]
    return float(np.mean(np.array(gaps) < NEAR_M))


def resized(frame: DepthFrame, factor: float) -> DepthFrame:
    """The same view by a camera of another resolution; no reading is blended with another."""
    depth_m = cv2.resize(frame.depth_m, None, fx=factor, fy=factor, interpolation=cv2.INTER_NEAREST)
    return replace(frame, depth_m=depth_m, intrinsics=frame.intrinsics.scaled(factor))


def test_a_mirrored_frame_gives_the_mirrored_joints(pipeline, frames, found):
    seen = [joints_of(pipeline, mirror_frame(frame)) for frame in frames]
    back = [{mirror_name(name): place * [-1, 1, 1] for name, place in joints.items()} for joints in seen]
    assert share_near(found, back) >= MIN_SHARE


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_another_resolution_gives_the_same_joints(pipeline, frames, found, factor):
    seen = [joints_of(pipeline, resized(frame, factor)) for frame in frames]
    assert share_near(found, seen) >= MIN_SHARE


def test_frames_by_themselves_are_the_same_in_any_order(pipeline, frames, found):
    for joints, again in zip(
        found, [joints_of(pipeline, frame, sure(pipeline)) for frame in frames[::-1]][::-1], strict=True
    ):
        assert joints.keys() == again.keys()
        for name, place in joints.items():
            np.testing.assert_array_equal(again[name], place)
