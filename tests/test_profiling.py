"""Times of the stages: one row a frame, and none takes longer than the whole."""

from __future__ import annotations

import numpy as np
import pytest

from apps.cli import main
from posepipe.learn.depth.depth_forest import ForestParameters, train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.pipeline import Pipeline
from posepipe.profiling import STAGES, WHOLE, time_stages
from tests.support.toy_person import TOY, toy_frames


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    rules = ForestParameters(trees=1, pixels_per_person=100, growth=GrowthRules(max_depth=6, candidates=40))
    return Pipeline.from_forest(train_forest(toy_frames(12), rules, TOY), tracking=False)


def test_every_stage_has_a_time_for_every_frame_and_the_whole_takes_longest(pipeline):
    times = time_stages(pipeline, [frame.depth for frame in toy_frames(5)])
    assert list(times) == [*STAGES, WHOLE]
    assert all(seconds.shape == (5,) for seconds in times.values())
    assert all((seconds > 0).all() for seconds in times.values())
    assert (sum(times[stage] for stage in STAGES) <= times[WHOLE]).all()


def test_the_pipeline_is_left_as_it_was(pipeline):
    frame = toy_frames(1)[0].depth
    before, stages = pipeline.step(frame), [getattr(pipeline, stage) for stage in STAGES]
    time_stages(pipeline, [frame])
    assert all(getattr(pipeline, stage) is own for stage, own in zip(STAGES, stages, strict=True))
    np.testing.assert_array_equal(pipeline.step(frame).parts, before.parts)


def test_no_frames_are_refused(pipeline):
    with pytest.raises(ValueError, match="no frames"):
        time_stages(pipeline, [])


def test_bench_prints_a_line_a_stage(capsys):
    assert main(["bench", "--frames", "3", "--threads", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("3 frames of 320x240")
    assert "1 threads" in printed
    assert all(f"\n{stage:12s}" in printed for stage in [*STAGES, WHOLE])
    assert "frames a second" in printed


def test_bench_refuses_more_threads_than_there_are(capsys):
    assert main(["bench", "--threads", "9999"]) == 1
    assert "9999" in capsys.readouterr().err
