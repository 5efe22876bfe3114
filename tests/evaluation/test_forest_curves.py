"""Curves of accuracy: which forests are grown, that their points are right, and that a run can be resumed."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from xml.etree import ElementTree

import numpy as np
import pytest

from apps.cli import main
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.errors import FormatError, PosepipeError
from posepipe.evaluation.evaluate_poses import evaluate
from posepipe.evaluation.forest_curves import measure
from posepipe.evaluation.forest_curves.drawing import draw_accuracy_curves, table
from posepipe.evaluation.forest_curves.measure import CurveCallbacks, cut, depths_of, measure_curves, part_accuracies
from posepipe.evaluation.forest_curves.plan import CURVES, LARGEST, CurvePlan
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest, train_tree
from posepipe.learn.depth.training_memory import MemoryPlan
from posepipe.learn.growing import GrowthRules
from posepipe.models.pose_model import PoseModel
from posepipe.training.train_model import segment_as_in_use
from tests.learn.same_trees import assert_same_tree
from tests.support.toy_person import TOY, toy_frames

PARAMETERS = ForestParameters(
    trees=2, pixels_per_person=60, growth=GrowthRules(max_depth=5, candidates=500, min_samples=4)
)
PLAN = CurvePlan(PARAMETERS, frames=(4, 9), candidates=(5, 20), probe_range_m=(0.1, 0.8))


class Frames(list):
    """Labelled frames as a dataset."""

    body, recipe, source_revision, name, has_parts = TOY, {}, "", "toy", True

    @property
    def content(self) -> str:
        return str([frame.depth.index for frame in self])


@pytest.fixture(scope="module")
def frames():
    return FrameSequence([Frames(toy_frames(10))])


@pytest.fixture(scope="module")
def validation():
    return FrameSequence([Frames(toy_frames(3, first=100))])


@pytest.fixture(scope="module")
def points(frames, validation, tmp_path_factory):
    return measure_curves(PLAN, frames, validation, tmp_path_factory.mktemp("curves"))


def accuracy(parameters, frames, validation):
    """Accuracy of a forest that is trained for nothing else."""
    forest = train_forest(frames, parameters, TOY, segmentation=segment_as_in_use)
    return part_accuracies([forest], validation)[0]


def value_of(points, curve, value):
    (point,) = (point for point in points if (point.curve, point.value) == (curve, value))
    return point.part_accuracy


@pytest.mark.parametrize("depth", [1, 3, 5, 9])
def test_a_cut_tree_is_that_of_growth_to_this_depth(frames, depth):
    deep, table_of_deep = train_tree(frames, PARAMETERS, TOY, 0)
    shallow = replace(PARAMETERS, growth=replace(PARAMETERS.growth, max_depth=depth))
    tree, offsets = train_tree(frames, shallow, TOY, 0)
    assert_same_tree(cut(deep, depth), tree)
    np.testing.assert_array_equal(table_of_deep[: len(offsets)], offsets)


def test_points_are_those_of_forests_trained_for_them(points, frames, validation):
    nine = frames.select(np.arange(9) * 10 // 9)
    largest = replace(PARAMETERS, growth=replace(PARAMETERS.growth, candidates=20))
    whole = accuracy(largest, nine, validation)
    for curve, value in {"depth": 5, "trees": 2, "frames": 9, "candidates": 20, "probe_range": 0.8}.items():
        assert value_of(points, curve, value) == whole
    shallow = replace(largest, growth=replace(largest.growth, max_depth=3))
    assert value_of(points, "depth", 3) == accuracy(shallow, nine, validation)
    few = replace(largest, growth=replace(largest.growth, candidates=5))
    assert value_of(points, "candidates", 5) == accuracy(few, nine, validation)
    near = replace(largest, offsets=replace(largest.offsets, longest_m=0.1))
    assert value_of(points, "probe_range", 0.1) == accuracy(near, nine, validation)
    assert value_of(points, "frames", 4) == accuracy(largest, frames.select(np.array([0, 2, 5, 7])), validation)


def test_fewer_trees_are_the_mean_of_forests_that_start_at_each(points, frames, validation):
    nine = frames.select(np.arange(9) * 10 // 9)
    largest = replace(PARAMETERS, growth=replace(PARAMETERS.growth, candidates=20))
    forest = train_forest(nine, largest, TOY, segmentation=segment_as_in_use)
    alone = [type(forest)([tree], [table], TOY, True) for tree, table in zip(forest.trees, forest.offsets, strict=True)]
    assert value_of(points, "trees", 1) == np.mean(part_accuracies(alone, validation))


def test_part_accuracy_is_that_of_evaluate(frames, validation):
    forest = train_forest(frames, PARAMETERS, TOY)
    report = evaluate(PoseModel.of(forest), validation)
    assert part_accuracies([forest], validation) == [report.parts.mean_accuracy()]


def test_each_forest_is_grown_once_and_its_frames_are_read_once(frames, validation, tmp_path):
    read, runs = [], []
    callbacks = CurveCallbacks(on_frame=lambda: read.append(1), on_run=lambda run, points, time: runs.append(run))
    measure_curves(PLAN, frames, validation, tmp_path, callbacks=callbacks)
    assert [run.name for run in runs] == [LARGEST, "candidates-5", "probe_range-0.1", "frames-4"]
    assert len(read) == 9 + 4 + 4 * len(validation)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.json"]


def test_a_limit_of_memory_changes_no_point(points, frames, validation, tmp_path, monkeypatch):
    on_disk = []

    def plan(*args):
        on_disk.append(args[-1])
        return MemoryPlan(memory=0, disk=1, batch_samples=100)

    monkeypatch.setattr(measure, "plan_memory", plan)
    assert measure_curves(PLAN, frames, validation, tmp_path, memory_limit=10**9) == points
    assert on_disk == [10**9] * 4 * PARAMETERS.trees
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.json"]


@pytest.mark.parametrize("split_samples", [20_000, 40])
def test_time_is_kept_with_the_responses_that_were_tried(frames, validation, tmp_path, split_samples):
    growth = replace(PARAMETERS.growth, split_samples=split_samples)
    progress, times = [], {}
    callbacks = CurveCallbacks(
        on_level=progress.append, on_run=lambda run, points, time: times.setdefault(run.name, time)
    )
    plan = replace(PLAN, parameters=replace(PARAMETERS, growth=growth))
    measure_curves(plan, frames, validation, tmp_path, curves=["depth"], callbacks=callbacks)
    roots = [each for each in progress if each.level == 0]
    assert [each.tried_samples for each in roots] == [min(each.samples, split_samples) for each in roots]
    split = sum(each.samples for each in roots)
    split += sum(each.open_samples for each in progress if each.level < growth.max_depth)
    time = times[LARGEST]
    assert (time.frames, time.samples) == (9, sum(each.samples for each in roots))
    assert time.responses == 20 * sum(each.tried_samples for each in progress)
    assert time.responses == 20 * split if split_samples > time.samples else time.responses < 20 * split
    assert time.responses_per_s == pytest.approx(time.responses / time.seconds)
    kept = json.loads((tmp_path / measure.RESULTS).read_text())["growing"]
    assert kept == {LARGEST: asdict(time)}


def test_only_the_curves_asked_for_are_measured(frames, validation, tmp_path):
    points = measure_curves(PLAN, frames, validation, tmp_path, curves=["candidates"])
    assert [(point.curve, point.value) for point in points] == [("candidates", 5), ("candidates", 20)]


def test_a_resumed_run_gives_the_same_points_and_grows_the_rest(points, frames, validation, tmp_path):
    class Interrupted(Exception):
        pass

    levels = []

    def interrupt(progress):
        levels.append(progress.level)
        if len(levels) == 16:  # in the second forest
            raise Interrupted

    with pytest.raises(Interrupted):
        measure_curves(PLAN, frames, validation, tmp_path, callbacks=CurveCallbacks(on_level=interrupt))
    rest = []
    callbacks = CurveCallbacks(on_level=lambda progress: rest.append(progress.level))
    assert measure_curves(PLAN, frames, validation, tmp_path, resume=True, callbacks=callbacks) == points
    whole = []
    callbacks = CurveCallbacks(on_level=lambda progress: whole.append(progress.level))
    assert measure_curves(PLAN, frames, validation, tmp_path, callbacks=callbacks) == points
    assert len(rest) == len(whole) - len(levels)


@pytest.mark.parametrize("moment", ["on_level", "on_run"])
def test_an_interrupted_run_is_lost_to_no_other(points, frames, validation, tmp_path, moment):
    """After a level no forest is done; after the first run, nothing of the second."""

    def interrupt(*about):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_curves(PLAN, frames, validation, tmp_path, callbacks=CurveCallbacks(**{moment: interrupt}))
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    with pytest.raises(PosepipeError, match="holds curves of an interrupted run; give --resume to go on, or remove"):
        measure_curves(PLAN, frames, validation, tmp_path, curves=["depth"])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()} == kept
    measure_curves(PLAN, frames, validation, tmp_path, curves=["depth"], resume=True)
    with pytest.raises(PosepipeError, match="interrupted run"):  # its other curves are still to be measured
        measure_curves(PLAN, frames, validation, tmp_path)
    assert measure_curves(PLAN, frames, validation, tmp_path, resume=True) == points
    measure_curves(PLAN, frames, validation, tmp_path, curves=["depth"])  # a finished run is replaced


def test_a_run_with_other_numbers_is_not_resumed(frames, validation, tmp_path):
    measure_curves(PLAN, frames, validation, tmp_path, curves=["depth"])
    with pytest.raises(PosepipeError, match="give another folder"):
        measure_curves(replace(PLAN, frames=(9,)), frames, validation, tmp_path, resume=True)
    with pytest.raises(PosepipeError, match="give another folder"):
        measure_curves(PLAN, frames[:9], validation, tmp_path, resume=True)
    results = tmp_path / measure.RESULTS
    results.write_text(json.dumps(json.loads(results.read_text()) | {"runs": {"depth": 3}}))
    with pytest.raises(FormatError, match="runs are damaged"):
        measure_curves(PLAN, frames, validation, tmp_path, resume=True)


def test_plans_that_cannot_be_grown_are_refused(frames, validation, tmp_path):
    with pytest.raises(ValueError, match=r"2 trees, 1 frame$"):
        replace(PLAN, frames=(1, 9))
    with pytest.raises(ValueError, match="candidates takes at least one number"):
        replace(PLAN, candidates=())
    with pytest.raises(ValueError, match="needs 11 frames, and there are 10"):
        measure_curves(replace(PLAN, frames=(11,)), frames, validation, tmp_path)
    empty = [replace(frame, parts=np.zeros_like(frame.parts)) for frame in toy_frames(2)]
    with pytest.raises(ValueError, match="none of the 2 frames to be scored shows any"):
        measure_curves(PLAN, frames, FrameSequence([Frames(empty)]), tmp_path)
    assert not (tmp_path / measure.RESULTS).exists()


@pytest.mark.parametrize(("depth", "wanted"), [(1, [1]), (2, [2]), (7, [1, 3, 5, 7]), (8, [2, 4, 6, 8])])
def test_depths_end_with_that_of_the_forest(depth, wanted):
    assert list(depths_of(depth)) == wanted


def test_every_curve_is_drawn_and_listed(points):
    texts = [text.text for text in ElementTree.fromstring(draw_accuracy_curves(points)).iter() if text.text]
    assert set(CURVES.values()) <= set(texts)
    lines = table(points).splitlines()
    assert len(lines) == 2 * len(CURVES)
    assert lines[0].split() == ["maximum", "depth", "1", "3", "5"]
    assert lines[1].split()[2:] == [f"{value_of(points, 'depth', depth):.3f}" for depth in (1, 3, 5)]
    with pytest.raises(ValueError, match="at least one point"):
        draw_accuracy_curves([])


def test_the_command_writes_a_picture_numbers_and_a_table(tmp_path, capsys):
    data, out = tmp_path / "data", tmp_path / "curves"
    assert main(["synth", str(data), "--frames", "10", "--seed", "8", "--workers", "1"]) == 0
    small = ["--trees", "2", "--max-depth", "3", "--candidates", "10", "--probe-range", "0.2,0.8", "--pixels", "50"]
    command = ["curves", str(data), str(data), "--out", str(out), "--validation-frames", "2", *small]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "4 forests of up to 10 frames, scored on 2" in printed
    assert "probe_range-0.2" in printed
    assert sorted(path.name for path in out.iterdir()) == ["curves.json", "curves.svg"]
    stored = json.loads((out / "curves.json").read_text())
    assert set(stored["runs"]) == {LARGEST, "probe_range-0.2", "frames-2", "frames-5"}
    picture = (out / "curves.svg").read_text()
    assert main([*command, "--resume"]) == 0
    assert (out / "curves.svg").read_text() == picture
