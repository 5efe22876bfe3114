"""Thresholds act on the next frame, repeating a frame changes nothing, and a jump resets the pipeline."""

from __future__ import annotations

import numpy as np
import pytest

from apps.bench import RECORDING
from posepipe.pipeline import Pipeline
from posepipe.profiling import WHOLE
from posepipe.sources import open_source
from posepipe.thresholds import THRESHOLDS, Threshold
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.viewer.playback.analysis import Analysis
from posepipe.viewer.playback.tuning import Tuning
from tests.support.shipped_model import shipped_model


def make(**options) -> Pipeline:
    pipeline = Pipeline.from_model(shipped_model(), **{"foreground": "none"} | options)
    pipeline.smoother = OneEuroSmoother(min_cutoff_hz=0.1, beta=0.0)
    return pipeline


@pytest.fixture(scope="module")
def frames():
    """A walking person without background."""
    with open_source(RECORDING) as source:
        return [source[row] for row in range(6)]


def threshold(stage, field) -> Threshold:
    return next(each for each in THRESHOLDS if (each.stage, each.field) == (stage, field))


CONFIDENCE = threshold("pose_estimator", "min_confidence")


def joints_of(result):
    return {name: joint.xyz_m for track in result.people for name, joint in track.pose.joints.items()}


def test_a_threshold_is_offered_if_its_stage_has_the_field():
    cut_out = Tuning(Pipeline.from_model(shipped_model(), tracking=False, foreground="none")).values
    assert {each.field for each in cut_out} == {"min_confidence", "min_area_m2"}
    values = Tuning(make(foreground="auto")).values
    assert set(values) == set(THRESHOLDS)
    assert all(each.min <= value <= each.max for each, value in values.items())


def test_thresholds_reach_their_stages_and_change_nothing_else():
    pipeline = make(foreground="auto")
    foreground, tracker = pipeline.foreground, pipeline.tracker
    min_landmarks = pipeline.pose_estimator.min_landmarks
    tuning = Tuning(pipeline)
    for each in THRESHOLDS:
        tuning.set(each, each.max)
    tuning.set_max_people(2)
    assert tuning.take_changes()
    assert not tuning.take_changes()
    tuning.apply(pipeline)
    for each in THRESHOLDS:
        assert getattr(getattr(pipeline, each.stage), each.field) == each.max
    assert pipeline.max_people == 2
    assert pipeline.foreground is foreground  # it holds a background
    assert pipeline.tracker is tracker
    assert pipeline.pose_estimator.min_landmarks == min_landmarks


def test_a_threshold_is_clipped_to_its_range():
    tuning = Tuning(make())
    tuning.set(CONFIDENCE, 7.0)
    assert tuning.values[CONFIDENCE] == CONFIDENCE.max


def test_a_threshold_acts_on_the_next_frame_and_on_the_last_one(frames):
    analysis = Analysis(lambda: make(fit=False))  # a fitted body has all joints
    assert joints_of(analysis.step(frames[0]))
    assert analysis.again() is None  # nothing has changed
    analysis.tuning.set(CONFIDENCE, 1.0)
    assert not joints_of(analysis.again())
    assert not joints_of(analysis.step(frames[1]))
    analysis.tuning.set(CONFIDENCE, 0.0)
    assert joints_of(analysis.again())


def test_before_the_first_frame_there_is_nothing_to_repeat():
    analysis = Analysis(make)
    analysis.tuning.set(CONFIDENCE, 0.5)
    assert analysis.again() is None


def test_repeating_a_frame_does_not_change_the_next_one(frames):
    once, often = Analysis(make, smooth=True), Analysis(make, smooth=True)
    for frame in frames[:3]:
        once.step(frame)
        often.step(frame)
    for _ in range(5):
        often.tuning.set(CONFIDENCE, often.tuning.values[CONFIDENCE])
        often.again()
    one, other = once.step(frames[3]), often.step(frames[3])
    assert joints_of(one) == joints_of(other)
    assert [track.id for track in one.people] == [track.id for track in other.people]


def test_smoothing_is_switched_on_and_off(frames):
    rough, smooth = Analysis(make), Analysis(make)
    for frame in frames[:2]:
        rough.step(frame)
        smooth.step(frame)
    smooth.tuning.set_smooth(True)
    for frame in frames[2:4]:
        one, other = joints_of(rough.step(frame)), joints_of(smooth.step(frame))
    assert one != other
    smooth.tuning.set_smooth(False)
    assert joints_of(smooth.again()) == one


def test_a_jump_resets_the_pipeline(frames):
    played, jumped = Analysis(make, smooth=True), Analysis(make, smooth=True)
    for frame in frames[:4]:
        jumped.step(frame)
    fresh, other = played.step(frames[0]), jumped.step(frames[0], follows=False)
    assert joints_of(fresh) == joints_of(other)
    assert [track.id for track in other.people] == [track.id for track in fresh.people]


def test_thresholds_stay_through_a_jump(frames):
    analysis = Analysis(lambda: make(fit=False))
    analysis.tuning.set(CONFIDENCE, 1.0)
    analysis.step(frames[0])
    assert not joints_of(analysis.step(frames[2], follows=False))


def test_results_are_the_pipeline_s_and_every_stage_is_timed(frames):
    analysis, pipeline = Analysis(make), make()
    titles = [stage.title for stage, _ in pipeline.stages()]
    pipeline.smoother = None
    for frame in frames:
        found, true = analysis.step(frame), pipeline.step(frame)
        assert joints_of(found) == joints_of(true)
        np.testing.assert_array_equal(found.parts, true.parts)
    assert list(analysis.stage_s) == [*titles, WHOLE]
    assert sum(analysis.stage_s[title] for title in titles) <= analysis.stage_s[WHOLE]
