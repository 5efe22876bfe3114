"""Knobs act on the next look, a second look is a first one, and a jump remembers nothing."""

from __future__ import annotations

import numpy as np
import pytest

from apps.demo import RECORDING
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.models.registry import model_path
from posepipe.pipeline import Pipeline
from posepipe.profiling import STAGES, WHOLE
from posepipe.sources import open_source
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.viewer.playback.analysis import Analysis
from posepipe.viewer.playback.tuning import KNOBS, Knob, Tuning


@pytest.fixture(scope="module")
def forest():
    return DepthForest.load(model_path("person"))


@pytest.fixture
def make(forest):
    def made() -> Pipeline:
        pipeline = Pipeline.from_forest(forest, foreground="none")
        pipeline.smoother = OneEuroSmoother(min_cutoff_hz=0.1, beta=0.0)
        return pipeline

    return made


@pytest.fixture(scope="module")
def frames():
    """Somebody who walks, cut out."""
    with open_source(RECORDING) as source:
        return [source[row] for row in range(6)]


def knob(stage, field) -> Knob:
    return next(knob for knob in KNOBS if (knob.stage, knob.field) == (stage, field))


SURE = knob("assembler", "min_confidence")


def joints_of(result):
    return {name: joint.xyz_m for track in result.people for name, joint in track.pose.joints.items()}


def test_a_knob_is_offered_where_its_stage_has_the_field(forest):
    cut_out = Tuning(Pipeline.from_forest(forest, tracking=False, foreground="none")).values
    assert {knob.field for knob in cut_out} == {"min_confidence", "min_area_m2"}
    room = Pipeline.from_forest(forest)
    room.smoother = OneEuroSmoother()
    assert set(Tuning(room).values) == set(KNOBS)
    assert all(knob.least <= value <= knob.most for knob, value in Tuning(room).values.items())


def test_knobs_reach_their_stages_and_nothing_else_changes(forest):
    pipeline = Pipeline.from_forest(forest)
    pipeline.smoother = OneEuroSmoother()
    foreground, tracker = pipeline.foreground, pipeline.tracker
    tuning = Tuning(pipeline)
    for each in KNOBS:
        tuning.turn(each, each.most)
    tuning.set_max_people(2)
    assert tuning.take_news()
    assert not tuning.take_news()
    tuning.apply(pipeline)
    for each in KNOBS:
        assert getattr(getattr(pipeline, each.stage), each.field) == each.most
    assert pipeline.max_people == 2
    assert pipeline.foreground is foreground  # it remembers a background
    assert pipeline.tracker is tracker
    assert pipeline.assembler.min_landmarks == Pipeline.from_forest(forest).assembler.min_landmarks


def test_a_knob_stops_at_the_end_of_its_range(forest):
    tuning = Tuning(Pipeline.from_forest(forest))
    tuning.turn(SURE, 7.0)
    assert tuning.values[SURE] == SURE.most


def test_a_turned_knob_acts_on_the_next_frame_and_on_the_last_one_again(make, frames):
    analysis = Analysis(make)
    assert joints_of(analysis.step(frames[0]))
    assert analysis.again() is None  # nothing was turned
    analysis.tuning.turn(SURE, 1.0)
    assert not joints_of(analysis.again())
    assert not joints_of(analysis.step(frames[1]))
    analysis.tuning.turn(SURE, 0.0)
    assert joints_of(analysis.again())


def test_there_is_nothing_to_look_at_again_before_the_first_frame(make):
    analysis = Analysis(make)
    analysis.tuning.turn(SURE, 0.5)
    assert analysis.again() is None


def test_however_often_a_frame_is_looked_at_the_next_one_is_the_same(make, frames):
    once, often = Analysis(make, smooth=True), Analysis(make, smooth=True)
    for frame in frames[:3]:
        once.step(frame)
        often.step(frame)
    for _ in range(5):
        often.tuning.turn(SURE, often.tuning.values[SURE])
        often.again()
    one, other = once.step(frames[3]), often.step(frames[3])
    assert joints_of(one) == joints_of(other)
    assert [track.id for track in one.people] == [track.id for track in other.people]


def test_smoothing_is_switched_on_and_off(make, frames):
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


def test_a_jump_starts_anew(make, frames):
    played, jumped = Analysis(make, smooth=True), Analysis(make, smooth=True)
    for frame in frames[:4]:
        jumped.step(frame)
    fresh, other = played.step(frames[0]), jumped.step(frames[0], follows=False)
    assert joints_of(fresh) == joints_of(other)
    assert [track.id for track in other.people] == [track.id for track in fresh.people]


def test_knobs_stay_where_they_are_through_a_jump(make, frames):
    analysis = Analysis(make)
    analysis.tuning.turn(SURE, 1.0)
    analysis.step(frames[0])
    assert not joints_of(analysis.step(frames[2], follows=False))


def test_the_result_is_the_pipeline_s_and_every_stage_is_timed(make, frames):
    analysis, pipeline = Analysis(make), make()
    pipeline.smoother = None
    for frame in frames:
        found, true = analysis.step(frame), pipeline.step(frame)
        assert joints_of(found) == joints_of(true)
        np.testing.assert_array_equal(found.parts, true.parts)
    assert list(analysis.stage_s) == [*STAGES, WHOLE]
    assert sum(analysis.stage_s[stage] for stage in STAGES) <= analysis.stage_s[WHOLE]
