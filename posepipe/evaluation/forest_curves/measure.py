"""Forests are grown by a plan and scored on validation frames; what is measured is kept, and a run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.errors import FormatError, PosepipeError
from posepipe.evaluation.forest_curves.plan import CURVES, CurvePlan, ForestRun
from posepipe.evaluation.metrics.part_metrics import PartScores, cut_out_people
from posepipe.frames import LabelledFrame
from posepipe.io.files import disk_errors, read_json_object, replace_file
from posepipe.learn.depth.checkpoints import Checkpoints, remove_checkpoints
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import as_stored
from posepipe.learn.depth.splitting.responses import PixelSamples
from posepipe.learn.depth.train_forest import LocalGrower, TrainingProgress, train_tree
from posepipe.learn.depth.training_memory import plan_memory
from posepipe.learn.depth.tree_frames import TreeFrames
from posepipe.learn.tree import Tree
from posepipe.segmentation.label_map import draw_labels
from posepipe.training.train_model import segment_as_in_use

RESULTS = "curves.json"
"""File of all points, in the folder of a run."""
DEPTH_STEP = 2
"""Levels between two points of the curve of depth."""

GrownTree = tuple[Tree, np.ndarray]
"""A tree whose leaves hold counts, and its feature table."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Accuracy of one forest, or the mean of several."""

    curve: str  #: one of CURVES
    value: float  #: along the curve
    part_accuracy: float  #: on the validation frames, as `posepipe evaluate` measures it


@dataclass(frozen=True, slots=True)
class GrowingTime:
    """Time that the trees of one forest took, without the reading of frames."""

    frames: int
    samples: int  #: of all trees
    seconds: float
    responses: int  #: of candidate features to the samples that each level tried them on

    @property
    def responses_per_s(self) -> float:
        """Rate of the whole growth; finding splits and sending samples down take part of the time."""
        return self.responses / self.seconds


@dataclass(frozen=True, slots=True)
class CurveCallbacks:
    """Callbacks that report the progress."""

    on_level: Callable[[TrainingProgress], None] = lambda progress: None
    on_frame: Callable[[], object] = lambda: None  #: a frame was read or scored
    on_run: Callable[[ForestRun, list[CurvePoint], GrowingTime | None], object] = lambda run, points, time: None


def measure_curves(
    plan: CurvePlan,
    frames: FrameSequence,
    validation: FrameSequence,
    folder: Path,
    curves: Collection[str] = tuple(CURVES),
    resume: bool = False,
    callbacks: CurveCallbacks | None = None,
    memory_limit: int | None = None,
) -> list[CurvePoint]:
    """Grow the forests of a plan, and score each.

    Parameters
    ----------
    plan : CurvePlan
    frames : that forests are grown on; fewer are evenly spaced among them
    validation : frames that are scored
    folder : keeps the points, and the state of the forest that is being grown
    curves : some of CURVES
    resume : keep the points measured by an interrupted run; False = the folder holds none, or a finished run, which is
        replaced
    callbacks : CurveCallbacks; None = no reports
    memory_limit : bytes; images that do not fit are read from disk. None = no limit

    Returns
    -------
    CurvePoints, by curve and value

    Raises
    ------
    PosepipeError
        When the run to resume has another plan or other frames, a new one would replace an interrupted one, or the
        limit of memory is too low.
    ValueError
        When the plan needs more frames than there are, the bodies differ, or the frames to be scored show nobody.
    """
    if max(plan.frames) > len(frames):
        raise ValueError(f"the plan needs {max(plan.frames)} frames, and there are {len(frames)}; plan for fewer")
    if frames.body != validation.body:
        raise ValueError(f"frames of body {frames.body.name!r} cannot be scored on those of {validation.body.name!r}")
    if not any(frame.parts.any() for frame in validation):  # before hours of growing; most often the first has people
        raise ValueError(f"part accuracy is of people, and none of the {len(validation)} frames to be scored shows any")
    callbacks = callbacks or CurveCallbacks()
    wanted = [run.name for run in plan.runs(curves)]
    about = {**plan.to_dict(), "frames_of": frames.identity, "scored": validation.identity}
    results = _Results(folder, about, wanted, resume)
    samples = _KeptSamples(plan.parameters.trees, memory_limit)
    for run in plan.runs(curves):
        if run.name not in results.points:
            clock = _Clock(callbacks.on_level, run.parameters.growth.candidates)
            timed = replace(callbacks, on_level=clock.on_level)
            grown = _grow(run, frames, results.folder / run.name, samples, timed)
            points = _score(run, plan, grown, frames.body, validation, callbacks)
            growing = clock.time(run.frames)
            results.add(run.name, points, growing)
            callbacks.on_run(run, points, growing)
    return sorted(
        (point for points in results.points.values() for point in points if point.curve in curves),
        key=lambda point: (list(CURVES).index(point.curve), point.value),
    )


def _grow(
    run: ForestRun, frames: FrameSequence, folder: Path, samples: _KeptSamples, callbacks: CurveCallbacks
) -> list[GrownTree]:
    """Grow the trees of a run; its checkpoints are removed when all are grown."""
    chosen = frames.select(np.arange(run.frames) * len(frames) // run.frames)
    checkpoints = Checkpoints(folder, run.parameters.to_dict(), chosen.identity, resume=folder.is_dir())
    grown = [
        train_tree(
            chosen,
            run.parameters,
            frames.body,
            tree,
            callbacks.on_level,
            checkpoints,
            callbacks.on_frame,
            segment_as_in_use,
            make_grower=partial(samples.grower, folder),
        )
        for tree in range(run.parameters.trees)
    ]
    remove_checkpoints(folder)
    return grown


def _score(
    run: ForestRun,
    plan: CurvePlan,
    grown: Sequence[GrownTree],
    body: BodyDefinition,
    validation: FrameSequence,
    callbacks: CurveCallbacks,
) -> list[CurvePoint]:
    """Score the forest of a run. The largest one gives points of all curves."""
    symmetric = run.parameters.symmetric and body.has_sides
    forests: list[tuple[str, float, DepthForest]] = []
    if run.curve:
        forests.append((run.curve, run.value, _forest(grown, body, symmetric)))
    else:
        for depth in depths_of(run.parameters.growth.max_depth):
            forests.append(("depth", depth, _forest([(cut(t, depth), o) for t, o in grown], body, symmetric)))
        for count in range(1, len(grown) + 1):
            forests += [("trees", count, _forest(some, body, symmetric)) for some in _runs_of(grown, count)]
    accuracies = part_accuracies([forest for _, _, forest in forests], validation, callbacks.on_frame)
    points: dict[tuple[str, float], list[float]] = {}
    for (curve, value, _), accuracy in zip(forests, accuracies, strict=True):
        points.setdefault((curve, value), []).append(accuracy)
    if not run.curve:
        whole = points["trees", len(grown)]
        points |= dict.fromkeys(plan.largest().items(), whole)
    return [CurvePoint(curve, value, float(np.mean(each))) for (curve, value), each in points.items()]


def depths_of(max_depth: int) -> range:
    """Depths at which a forest is scored, the last one its own."""
    return range(max_depth % DEPTH_STEP or DEPTH_STEP, max_depth + 1, DEPTH_STEP)


def cut(tree: Tree, depth: int) -> Tree:
    """Make leaves of all nodes at a depth: the tree that the same growth gives with this maximum."""
    return tree.collapse(tree.levels() >= depth)


def part_accuracies(
    forests: Sequence[DepthForest], frames: Sequence[LabelledFrame], on_frame: Callable[[], object] = lambda: None
) -> list[float]:
    """Score forests of one body on people who are cut out: mean part accuracy of each."""
    scores = [PartScores(forest.body) for forest in forests]
    for frame in frames:
        for mask, truth in cut_out_people(frame):
            for forest, own in zip(forests, scores, strict=True):
                parts = forest.predict(frame.depth.depth_m, mask, frame.depth.intrinsics)
                own.add(truth, draw_labels(parts, mask))
        on_frame()
    return [own.mean_accuracy() for own in scores]


def _forest(grown: Sequence[GrownTree], body: BodyDefinition, symmetric: bool) -> DepthForest:
    trees, offsets = zip(*grown, strict=True)
    return DepthForest([as_stored(tree) for tree in trees], offsets, body, symmetric)


def _runs_of(grown: Sequence[GrownTree], count: int) -> Iterator[list[GrownTree]]:
    """Yield some trees starting at each, or all: single forests differ by chance."""
    starts = range(1 if count == len(grown) else len(grown))
    return ([grown[(start + k) % len(grown)] for k in range(count)] for start in starts)


class _KeptSamples:
    """Keeps the pixels of the last forest: most runs differ in what is tried on them, and not in the pixels.

    Within a limit of memory they are read for each forest anew, and their images may stay in a folder.
    """

    def __init__(self, trees: int, memory_limit: int | None) -> None:
        self._trees, self._limit = trees, memory_limit
        self._kept: dict[tuple[int, int], PixelSamples] = {}

    def grower(self, scratch: Path, frames: TreeFrames, on_frame: Callable[[], object]) -> LocalGrower:
        if self._limit is not None:
            pixels = frames.parameters.pixels_per_person
            memory = plan_memory(frames.dataset, self._trees, pixels, frames.segmentation, self._limit)
            return LocalGrower.read(frames, on_frame, memory, scratch)
        key = len(frames.dataset), frames.rows.start
        if key not in self._kept:
            if len(self._kept) == self._trees:
                self._kept.clear()
            self._kept[key] = frames.draw_samples(on_frame)
        return LocalGrower.of(self._kept[key], frames)


class _Clock:
    """Adds up the time of the levels of a forest."""

    def __init__(self, on_level: Callable[[TrainingProgress], None], candidates: int) -> None:
        self._report, self._candidates = on_level, candidates
        self._samples: dict[int, int] = {}  # of each tree
        self._seconds, self._tried, self._whole = 0.0, 0, True

    def on_level(self, progress: TrainingProgress) -> None:
        if progress.tree not in self._samples:
            self._whole &= progress.level == 0  # a tree gone on with has lost the time of its first levels
            self._samples[progress.tree] = progress.samples
        self._tried += progress.tried_samples
        self._seconds += progress.seconds
        self._report(progress)

    def time(self, frames: int) -> GrowingTime | None:
        """Time of all levels; None for a forest that was gone on with."""
        if not (self._whole and self._tried):
            return None
        return GrowingTime(frames, sum(self._samples.values()), self._seconds, self._tried * self._candidates)


def _stored_points(path: Path, stored: Mapping[str, Any]) -> dict[str, list[CurvePoint]]:
    try:
        return {name: [CurvePoint(**each) for each in points] for name, points in stored["runs"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(path, "its runs are damaged; leave out --resume to start again") from error


def _unfinished(stored: Mapping[str, Any]) -> set[str]:
    """Forests that a run was asked for and has not measured."""
    names = stored.get("unfinished")
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _holds_interrupted_run(folder: Path) -> bool:
    """Whether a folder holds points of a run that did not end, or trees that have begun to grow."""
    if any(folder.glob("*/tree-*.npz")):
        return True
    try:
        stored = read_json_object(folder / RESULTS) if (folder / RESULTS).is_file() else {}
    except FormatError:
        return False  # no run can go on with it
    return bool(stored.get("runs") and _unfinished(stored))


class _Results:
    """Points of the runs that are done, kept in a file."""

    def __init__(self, folder: Path, plan: dict[str, Any], wanted: Sequence[str], resume: bool) -> None:
        self.folder, self._plan = folder, json.loads(json.dumps(plan))
        self.points: dict[str, list[CurvePoint]] = {}
        self._growing: dict[str, Any] = {}
        self._wanted = set(wanted)
        path = folder / RESULTS
        if resume and path.is_file():
            stored = read_json_object(path)
            if stored.get("plan") != self._plan:
                raise PosepipeError(
                    f"{path} holds curves of other frames or numbers; use those, or give another folder"
                )
            self.points, self._growing = _stored_points(path, stored), stored.get("growing", {})
            self._wanted |= _unfinished(stored)
        elif not resume:
            if _holds_interrupted_run(folder):
                raise PosepipeError(
                    f"{folder} holds curves of an interrupted run; give --resume to go on, or remove the folder"
                )
            for checkpoints in folder.glob("*/run.json"):
                remove_checkpoints(checkpoints.parent)
        with disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._write()

    def add(self, run: str, points: list[CurvePoint], growing: GrowingTime | None) -> None:
        """Add the points of a run and the time of its trees, and write all that there are."""
        self.points[run] = points
        if growing is not None:
            self._growing[run] = asdict(growing)
        self._write()

    def _write(self) -> None:
        runs = {name: [asdict(point) for point in own] for name, own in self.points.items()}
        unfinished = sorted(self._wanted - set(runs))
        stored = {"plan": self._plan, "runs": runs, "unfinished": unfinished, "growing": self._growing}
        content = json.dumps(stored, indent=1)
        replace_file(self.folder / RESULTS, content.encode() + b"\n")
