"""Times of the stages: one row a frame, and none takes longer than the whole."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from apps.cli import main
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.profiling import WHOLE, Stopwatch, time_stages
from posepipe.segmentation.views.rotated_views import RotatedViews
from tests.support.toy_person import TOY, toy_frames


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    rules = ForestParameters(trees=1, pixels_per_person=100, growth=GrowthRules(max_depth=6, candidates=40))
    return Pipeline.from_model(PoseModel.of(train_forest(toy_frames(12), rules, TOY)), tracking=False)


def test_every_stage_has_a_time_and_the_whole_takes_longest(pipeline):
    times = time_stages(pipeline, [frame.depth for frame in toy_frames(5)])
    titles = [stage.title for stage, _ in pipeline.stages()]
    assert list(times) == [*titles, WHOLE]
    assert all(seconds.shape == (5,) for seconds in times.values())
    idle = {"head split", "pose search", "rotated views"}  # one whole, upright person; a model without a network
    assert all((seconds > 0).all() for title, seconds in times.items() if title not in idle)
    assert (sum(times[title] for title in titles) <= times[WHOLE]).all()


def test_what_a_stage_asks_of_another_is_the_other_s_time(monkeypatch):
    now_s, inner_s = [0.0], []
    monkeypatch.setattr(time, "perf_counter", lambda: now_s[0])

    class Weighting:
        def weigh(self):
            now_s[0] += 5.0

    class SecondPass:
        def infer(self, weighting):
            now_s[0] += 1.0
            weighting.weigh()
            now_s[0] += 2.0
            weighting.weigh()

    inner, outer = Stopwatch(Weighting(), inner_s), Stopwatch(SecondPass(), inner_s)
    outer.infer(inner)
    inner.weigh()
    assert (outer.seconds, inner.seconds, now_s[0]) == (3.0, 15.0, 18.0)


def test_every_method_of_a_stage_is_timed(pipeline, monkeypatch):
    now_s = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now_s[0])

    class SlowViews(RotatedViews):
        def wanted(self, view, pose, accepted=True):
            now_s[0] += 5.0
            return (1,)

        def choose(self, seen):
            now_s[0] += 2.0
            return 0

    slow = replace(pipeline, rotated_views=SlowViews(len(TOY.joints)))
    times = time_stages(slow, [frame.depth for frame in toy_frames(2)])
    asked = times["rotated views"] / 7
    assert (asked >= 1).all()
    np.testing.assert_array_equal(times["rotated views"], times[WHOLE])


def test_the_pipeline_is_left_as_it_was(pipeline):
    frame = toy_frames(1)[0].depth
    before, stages = pipeline.step(frame), pipeline.stages()
    time_stages(pipeline, [frame])
    assert all(own is again for (_, own), (_, again) in zip(stages, pipeline.stages(), strict=True))
    np.testing.assert_array_equal(pipeline.step(frame).parts, before.parts)


def test_no_frames_are_refused(pipeline):
    with pytest.raises(ValueError, match="no frames"):
        time_stages(pipeline, [])


def test_bench_prints_a_line_a_stage(tmp_path, capsys):
    assert main(["bench", "--frames", "3", "--threads", "1", "--json", str(tmp_path / "bench.json")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("model read in ")
    assert "\n3 frames of 320x240" in printed
    assert "1 thread\n" in printed
    titles = [stage.title for stage, _ in Pipeline.load("person").stages()]
    assert all(f"\n{title}" in printed for title in [*titles, WHOLE])
    assert "frames a second" in printed
    figures = json.loads((tmp_path / "bench.json").read_text())
    assert (figures["frames"], figures["width"], figures["height"], figures["threads"]) == (3, 320, 240, 1)
    assert set(figures["stages"]) == {*titles, "between", WHOLE}
    assert f"{1000 / figures['stages'][WHOLE]['median ms']:.0f} frames a second" in printed


def test_bench_refuses_more_threads_than_there_are(capsys):
    assert main(["bench", "--threads", "9999"]) == 1
    assert "9999" in capsys.readouterr().err
