"""Tracking measured: the poses of labelled sequences through several trackers, side by side.

The poses are found once, so that trackers differ in nothing else. What is counted and how, `track_metrics` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from posepipe.datasets.frame_sequence import FrameSequence, SequenceRows
from posepipe.errors import FormatError
from posepipe.evaluation.track_metrics import (
    Jitter,
    TrackCounts,
    TrackScores,
    jitter_at_rest,
    jitter_without_truth,
    joints_of,
)
from posepipe.frames import LabelledFrame
from posepipe.results import RIGHT_M, Pose, Track


class PoseTracker(Protocol):
    """Gives poses the ids of people."""

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]: ...


class TrackSmoother(Protocol):
    """Moves the joints of tracks."""

    def update(self, tracks: Sequence[Track], timestamp_s: float) -> tuple[Track, ...]: ...


@dataclass(frozen=True, slots=True)
class TrackingWay:
    """One way from poses to tracks; both are made anew for every sequence."""

    tracker: Callable[[], PoseTracker]
    smoother: Callable[[], TrackSmoother] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TrackFigures:
    """What one way is worth on some sequences; figures of several are added."""

    sequences: int = 0
    counts: TrackCounts = field(default_factory=TrackCounts)
    persons: int = 0  #: different people in view
    ids: int = 0  #: that were given
    jitter: Jitter = field(default_factory=Jitter)  #: of joints at rest
    errors_m: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Of visible joints of people who were found, from the truth; infinite where the joint was not."""

    def __add__(self, other: TrackFigures) -> TrackFigures:
        return TrackFigures(
            self.sequences + other.sequences,
            self.counts + other.counts,
            self.persons + other.persons,
            self.ids + other.ids,
            self.jitter + other.jitter,
            np.concatenate([self.errors_m, other.errors_m]),
        )

    def figures(self) -> dict[str, float]:
        """By name; NaN where there is nothing to measure."""
        counts, errors = self.counts, self.errors_m
        return {
            "sequences": self.sequences,
            "people in view": self.persons,
            "ids given": self.ids,
            "people, summed over frames": counts.people,
            "missed": counts.misses,
            "false people": counts.false_people,
            "id switches": counts.switches,
            "MOTA": counts.mota,
            "IDF1": counts.idf1,
            "spread at rest, mm": self.jitter.spread_mm,
            "step at rest, mm": self.jitter.step_mm,
            "median error, mm": 1000 * float(np.median(errors)) if len(errors) else math.nan,
            "joints within 10 cm": float((errors <= RIGHT_M).mean()) if len(errors) else math.nan,
        }


@dataclass(frozen=True, slots=True, eq=False)
class TrackReport:
    """Figures of several ways on the same sequences."""

    frames: int
    by_scene: Mapping[str, Mapping[str, TrackFigures]]  #: way -> scene, or sequence where no scene is known -> figures

    def overall(self, way: str) -> TrackFigures:
        """Over all sequences."""
        return sum(self.by_scene[way].values(), TrackFigures())

    def to_dict(self) -> dict:
        """Every figure, ready for JSON; NaN (nothing to measure) becomes None."""
        return {
            "frames": self.frames,
            "trackers": {
                way: {
                    "all": _without_nan(self.overall(way).figures()),
                    "by scene": {scene: _without_nan(each.figures()) for scene, each in scenes.items()},
                }
                for way, scenes in self.by_scene.items()
            },
        }

    def text(self) -> str:
        """For the terminal: the ways side by side; then the first of them, scene by scene."""
        ways = list(self.by_scene)
        width = max(16, *(len(way) + 2 for way in ways))
        columns = [self.overall(way).figures() for way in ways]
        lines = [f"{f'{self.frames} frames played':28s}" + "".join(f"{way:>{width}s}" for way in ways)]
        lines += [
            f"{name:28s}" + "".join(f"{_shown(name, column):>{width}s}" for column in columns)
            for name in columns[0]
            if not all(math.isnan(column[name]) for column in columns)
        ]
        return "\n".join([*lines, *self._table_of_scenes(ways[0])])

    def _table_of_scenes(self, way: str) -> list[str]:
        scenes = {scene: each.figures() for scene, each in self.by_scene[way].items()}
        if len(scenes) < 2:
            return []
        wide = max(len(scene) for scene in scenes) + 2
        lines = [f"{way}, by scene:", "  " + " " * wide + "".join(f"{title:>10s}" for title in _COLUMNS)]
        return lines + [
            f"  {scene:{wide}s}" + "".join(f"{_shown(name, row):>10s}" for name in _COLUMNS.values())
            for scene, row in scenes.items()
        ]


_COLUMNS = {
    "people": "people, summed over frames",
    "missed": "missed",
    "false": "false people",
    "ids": "ids given",
    "switches": "id switches",
    "MOTA": "MOTA",
    "IDF1": "IDF1",
    "spread mm": "spread at rest, mm",
    "step mm": "step at rest, mm",
}


def _shown(name: str, figures: Mapping[str, float]) -> str:
    value = figures[name]
    if isinstance(value, int):
        return str(value)
    return "-" if math.isnan(value) else f"{value:.1f}" if name.endswith("mm") else f"{value:.3f}"


def _without_nan(figures: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in figures.items()}


def evaluate_tracks(
    sequences: Sequence[tuple[SequenceRows, FrameSequence]],
    find: Callable[[Iterable[LabelledFrame]], Iterator[tuple[LabelledFrame, list[Pose]]]],
    ways: Mapping[str, TrackingWay],
    in_view_joints: int = 1,
    every: int = 1,
    gap_s: float = 0.0,
    on_frame: Callable[[], object] = lambda: None,
) -> TrackReport:
    """Track the people of every sequence in every way, and score.

    Parameters
    ----------
    sequences : as `FrameSequence.sequences` gives them
    find : the poses in the frames of one sequence, such as `posepipe.evaluation.evaluate_poses.find_poses` of a forest
    ways : by name
    in_view_joints : only people who show so many joints are asked for
    every : only every K-th frame is played
    gap_s : the middle of each sequence, of so many seconds, is left out, as if the camera had been covered
    on_frame : called after every frame, whether played or left out by the gap

    Raises
    ------
    FormatError
        When times do not rise.
    ValueError
        When the gap leaves nothing of a sequence.
    """
    by_scene: dict[str, dict[str, TrackFigures]] = {name: {} for name in ways}
    played = 0
    for sequence, frames in sequences:
        runs = {name: _Run(way, frames.body.joints, in_view_joints) for name, way in ways.items()}
        for frame, poses in find(_played(sequence, frames[::every], gap_s, on_frame)):
            for run in runs.values():
                run.add(frame, poses)
            played += 1
            on_frame()
        row = sequence.scene or sequence.name
        for name, run in runs.items():
            by_scene[name][row] = by_scene[name].get(row, TrackFigures()) + run.figures(sequence.exact_joints)
    return TrackReport(played, by_scene)


def _played(
    sequence: SequenceRows, frames: FrameSequence, gap_s: float, on_frame: Callable[[], object]
) -> Iterator[LabelledFrame]:
    """The frames of a sequence without its gap; times are checked."""
    first_s, last_s = (frames[row].depth.timestamp_s for row in (0, -1))
    if gap_s and gap_s >= last_s - first_s:
        raise ValueError(
            f"a gap of {gap_s:g} s leaves nothing of {sequence.name}, which lasts {last_s - first_s:.2f} s"
        )
    before_s = -math.inf
    for frame in frames:
        now_s = frame.depth.timestamp_s
        if now_s <= before_s:
            raise FormatError(sequence.name, f"times must rise within a sequence: {now_s:.3f} s after {before_s:.3f} s")
        before_s = now_s
        if abs(now_s - (first_s + last_s) / 2) < gap_s / 2:
            on_frame()
        else:
            yield frame


class _Run:
    """One sequence in one way."""

    def __init__(self, way: TrackingWay, joints: tuple[str, ...], in_view_joints: int) -> None:
        self._tracker = way.tracker()
        self._smoother = way.smoother() if way.smoother else None
        self._joints = joints
        self._in_view_joints = in_view_joints
        self._scores = TrackScores(joints)
        self._times_s: list[float] = []
        self._true_m: list[np.ndarray] = []
        self._found_m: list[np.ndarray] = []  # by person, NaN = not found
        self._errors_m: list[np.ndarray] = []
        self._ids: set[int] = set()
        self._persons: set[int] = set()

    def add(self, frame: LabelledFrame, poses: Sequence[Pose]) -> None:
        """One frame, in order."""
        now_s = frame.depth.timestamp_s
        tracks = self._tracker.update(poses, now_s)
        if self._smoother is not None:
            tracks = self._smoother.update(tracks, now_s)
        matched = self._score(frame, tracks)
        found_m = np.array([joints_of(matched.get(k), self._joints) for k in range(len(frame.joints_m))])
        found_m = found_m.reshape(frame.joints_m.shape)
        for person in matched:
            seen = frame.visible[person] & np.isfinite(frame.joints_m[person]).all(axis=1)
            errors_m = np.linalg.norm(found_m[person] - frame.joints_m[person], axis=1)[seen]
            self._errors_m.append(np.where(np.isfinite(errors_m), errors_m, np.inf))
        self._times_s.append(now_s)
        self._true_m.append(frame.joints_m)
        self._found_m.append(found_m)
        self._ids |= {track.id for track in tracks}

    def _score(self, frame: LabelledFrame, tracks: Sequence[Track]) -> dict[int, Track]:
        """The track of every person who was found, by row."""
        if frame.joints_m.size and not np.isfinite(frame.joints_m).any():
            return {}  # somebody is there and not a joint is trusted: nobody is missed, and nobody false
        in_view = frame.visible.sum(axis=1) >= self._in_view_joints
        self._persons |= set(np.flatnonzero(in_view).tolist())
        return self._scores.add(frame.joints_m, in_view, tracks)

    def figures(self, exact_joints: bool) -> TrackFigures:
        """Of the whole sequence."""
        errors_m = np.concatenate([np.zeros(0), *self._errors_m])
        jitter = self._jitter(exact_joints)
        return TrackFigures(1, self._scores.counts(), len(self._persons), len(self._ids), jitter, errors_m)

    def _jitter(self, exact_joints: bool) -> Jitter:
        times_s = np.array(self._times_s)
        jitter = Jitter()
        for found_m, true_m in zip(_by_person(self._found_m), _by_person(self._true_m), strict=True):
            if exact_joints:
                jitter += jitter_at_rest(found_m, true_m, times_s)
            else:
                jitter += jitter_without_truth(found_m, times_s)
        if self._smoother is not None and not exact_joints:  # of smoothed joints the estimate is too small
            return replace(jitter, squares_m2=0.0, freedom=0)
        return jitter


def _by_person(frames_m: Sequence[np.ndarray]) -> np.ndarray:
    """Joints (P, J, 3) of every frame as (P, T, J, 3); NaN where a frame has fewer people."""
    people = max((len(joints_m) for joints_m in frames_m), default=0)
    padded = [np.pad(m, ((0, people - len(m)), (0, 0), (0, 0)), constant_values=np.nan) for m in frames_m]
    return np.stack(padded, axis=1) if padded else np.zeros((0, 0, 0, 3))
