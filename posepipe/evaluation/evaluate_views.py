"""Evaluation of several cameras: the people that each finds alone, and those of all cameras joined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from posepipe.body_model.body_model import BodyModel
from posepipe.datasets.frame_sequence import FrameSequence, SequenceRows
from posepipe.errors import FormatError
from posepipe.evaluation.figures import without_nan
from posepipe.evaluation.metrics.people_in_view import joints_in_view
from posepipe.evaluation.metrics.track_metrics import TrackCounts, TrackScores, joints_of
from posepipe.frames import LabelledFrame
from posepipe.models.pose_model import PoseModel
from posepipe.multiview.frame_sets import FrameSet
from posepipe.multiview.joined_pipeline import JoinedPipeline
from posepipe.pipeline import Pipeline
from posepipe.results import CORRECT_M, Track

JOINED = "joined"
SAME_SCENE_M = 0.01
"""Maximum distance between the true joints of two views of one scene, in world axes."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewFigures:
    """Figures of one camera, or of all joined; figures of several sequences are added."""

    counts: TrackCounts = field(default_factory=TrackCounts)
    errors_m: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Distances from the truth of all joints of people in view of any camera; infinite for a missing one."""
    hidden_from_first: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  #: of these joints
    hidden: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  #: of these joints: from every camera

    def __add__(self, other: ViewFigures) -> ViewFigures:
        return ViewFigures(
            self.counts + other.counts,
            np.concatenate([self.errors_m, other.errors_m]),
            np.concatenate([self.hidden_from_first, other.hidden_from_first]),
            np.concatenate([self.hidden, other.hidden]),
        )

    def figures(self) -> dict[str, float]:
        """Figures by name; NaN where there is nothing to measure."""
        errors_m = self.errors_m
        return {
            "people, summed over frames": self.counts.people,
            "missed": self.counts.misses,
            "false people": self.counts.false_people,
            "id switches": self.counts.switches,
            "IDF1": self.counts.idf1,
            "all joints within 10 cm": _share(errors_m < CORRECT_M),
            "visible to a camera, within 10 cm": _share(errors_m[~self.hidden] < CORRECT_M),
            "hidden from camera 1, within 10 cm": _share(errors_m[self.hidden_from_first] < CORRECT_M),
            "hidden from all, within 10 cm": _share(errors_m[self.hidden] < CORRECT_M),
            "median error, mm": 1000 * float(np.median(errors_m)) if len(errors_m) else math.nan,
        }


@dataclass(frozen=True, slots=True, eq=False)
class ViewsReport:
    """Figures of every camera alone, and of all joined."""

    frame_sets: int
    by_view: Mapping[str, ViewFigures]  #: camera 1, camera 2 ... and `JOINED`

    def to_dict(self) -> dict:
        """Every figure, ready for JSON; NaN (nothing to measure) becomes None."""
        return {
            "moments": self.frame_sets,
            "views": without_nan({view: each.figures() for view, each in self.by_view.items()}),
        }

    def text(self) -> str:
        """Format for the terminal: the cameras and the joined people side by side."""
        columns = [each.figures() for each in self.by_view.values()]
        lines = [f"{f'{self.frame_sets} moments':36s}" + "".join(f"{view:>12s}" for view in self.by_view)]
        return "\n".join(
            [
                *lines,
                *(f"{name:36s}" + "".join(f"{_shown(column[name]):>12s}" for column in columns) for name in columns[0]),
            ]
        )


def _share(right: np.ndarray) -> float:
    return float(right.mean()) if len(right) else math.nan


def _shown(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return "-" if math.isnan(value) else f"{value:.1f}" if value > 1 else f"{value:.3f}"


def evaluate_views(
    model: PoseModel,
    views: Sequence[FrameSequence],
    on_frame_set: Callable[[], object] = lambda: None,
    fit: bool | BodyModel = True,
) -> ViewsReport:
    """Find the people of every frame set in each view and in all, in whole frames, and score them.

    People count if at least `joints_in_view` of their joints are visible to any camera. The same people and joints
    count for every column.

    Parameters
    ----------
    model : PoseModel
    views : sequences of the same scenes, one `FrameSequence` for each camera, with its pose in the world
    on_frame_set : called after every frame set
    fit : as in `Pipeline.load`, in every view

    Raises
    ------
    FormatError
        When the cameras' poses are unknown, or the views are not of the same scenes.
    """
    names = [*(f"camera {k}" for k in range(1, len(views) + 1)), JOINED]
    total, frame_sets = {name: ViewFigures() for name in names}, 0
    for sequences in _paired(views):
        run = _SequenceRun(model, [rows for rows, _ in sequences], fit)
        for frames in zip(*(frames for _, frames in sequences), strict=True):
            run.add(frames)
            frame_sets += 1
            on_frame_set()
        for name, figures in zip(names, run.figures(), strict=True):
            total[name] += figures
    return ViewsReport(frame_sets, total)


def _paired(views: Sequence[FrameSequence]) -> list[tuple[tuple[SequenceRows, FrameSequence], ...]]:
    """The sequences of all views, scene by scene."""
    of_views = [view.sequences() for view in views]
    lengths = {tuple(len(frames) for _, frames in each) for each in of_views}
    if len(lengths) > 1:
        raise FormatError("--views", "the DATASETs have other numbers of sequences or frames: they show other scenes")
    if not of_views[0] or any(rows.extrinsics is None for each in of_views for rows, _ in each):
        raise FormatError(
            "--views",
            "wanted sequences whose cameras have a known pose, as of `posepipe synth --recipe two-cameras`",
        )
    return list(zip(*of_views, strict=True))


class _SequenceRun:
    """One scene: every camera alone, and all joined."""

    def __init__(self, model: PoseModel, rows: Sequence[SequenceRows], fit: bool | BodyModel) -> None:
        cameras = [Pipeline.from_model(model, fit=fit) for _ in rows]
        for camera, each in zip(cameras, rows, strict=True):
            camera.extrinsics = each.extrinsics
        self._joined = JoinedPipeline.of(cameras)
        self._joints, self._in_view_joints = model.body.joints, joints_in_view(model.body)
        self._names = [each.name for each in rows]
        self._scores = [TrackScores(self._joints) for _ in range(len(rows) + 1)]
        self._errors_m: list[list[np.ndarray]] = [[] for _ in self._scores]
        self._visible: list[np.ndarray] = []  # bool (people, cameras, joints)
        self._frame_sets = 0

    def add(self, frames: Sequence[LabelledFrame]) -> None:
        """Add the frames of one frame set."""
        self._check_scene(frames)
        frame_set = FrameSet(self._frame_sets, frames[0].depth.timestamp_s, tuple(frame.depth for frame in frames))
        steps = [camera.step(frame.depth) for camera, frame in zip(self._joined.cameras, frames, strict=True)]
        joined = self._joined.join(frame_set, steps)
        self._frame_sets += 1
        visible = np.stack([frame.visible for frame in frames], axis=1)
        in_view = np.count_nonzero(visible.any(axis=1), axis=1) >= self._in_view_joints
        self._visible.append(visible[in_view])
        truths_m = [*(frame.joints_m for frame in frames), frames[0].joints_m]
        for k, (truth_m, result) in enumerate(zip(truths_m, [*steps, joined], strict=True)):
            matched = self._scores[k].add(truth_m, in_view, result.people)
            self._errors_m[k].append(self._errors(truth_m[in_view], np.flatnonzero(in_view), matched))

    def _errors(self, truth_m: np.ndarray, people: np.ndarray, matched: Mapping[int, Track]) -> np.ndarray:
        found_m = np.array([joints_of(matched.get(int(person)), self._joints) for person in people])
        return np.nan_to_num(np.linalg.norm(found_m.reshape(truth_m.shape) - truth_m, axis=2), nan=np.inf)

    def _check_scene(self, frames: Sequence[LabelledFrame]) -> None:
        """Refuse views whose truths differ."""
        truths_m = [
            camera.extrinsics.world_points(frame.joints_m.astype(float))
            for camera, frame in zip(self._joined.cameras, frames, strict=True)
            if camera.extrinsics is not None
        ]
        first_m = truths_m[0]
        if any(
            each.shape != first_m.shape or np.abs(each - first_m).max(initial=0.0) > SAME_SCENE_M
            for each in truths_m[1:]
        ):
            raise FormatError(
                self._names[0], "the DATASETs show other people in it, or at other places; wanted views of one scene"
            )

    def figures(self) -> list[ViewFigures]:
        """Figures of each camera, and of all joined."""
        visible = np.concatenate(self._visible)
        hidden_from_first, hidden = ~visible[:, 0].ravel(), ~visible.any(axis=1).ravel()
        return [
            ViewFigures(scores.counts(), np.concatenate(errors_m).ravel(), hidden_from_first, hidden)
            for scores, errors_m in zip(self._scores, self._errors_m, strict=True)
        ]
