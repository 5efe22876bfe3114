"""Evaluation of tracking: several trackers on the same poses of labelled sequences.

Poses are found once for all trackers. Metrics are defined in `posepipe.evaluation.metrics.track_metrics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.datasets.frame_sequence import FrameSequence, SequenceRows
from posepipe.errors import FormatError, counted
from posepipe.evaluation.figures import without_nan
from posepipe.evaluation.metrics.body_metrics import BodyScores, LengthScores, score_lengths
from posepipe.evaluation.metrics.track_metrics import (
    Jitter,
    TrackCounts,
    TrackScores,
    jitter_at_rest,
    jitter_without_truth,
    joints_of,
)
from posepipe.frames import LabelledFrame
from posepipe.results import CORRECT_M, Pose, Track


class PoseTracker(Protocol):
    """Assigns ids to poses."""

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        """Assign ids to the poses of the next frame."""


class TrackSmoother(Protocol):
    """Smooths the joints of tracks."""

    def update(self, tracks: Sequence[Track], timestamp_s: float) -> tuple[Track, ...]:
        """Smooth the tracks of the next frame."""


@dataclass(frozen=True, slots=True)
class TrackingVariant:
    """Variant of tracking: factories of a tracker and a smoother, called once for each sequence."""

    tracker: Callable[[], PoseTracker]
    smoother: Callable[[], TrackSmoother] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TrackFigures:
    """Figures of one variant on some sequences; figures of several sequences are added."""

    sequences: int = 0
    counts: TrackCounts = field(default_factory=TrackCounts)
    persons: int = 0  #: number of different people in view
    ids: int = 0  #: number of ids assigned
    jitter: Jitter = field(default_factory=Jitter)  #: of joints at rest
    errors_m: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Distances from the truth of the visible joints of people who were found; infinite for a missing joint."""
    bodies: BodyScores = field(default_factory=BodyScores)  #: of limbs; empty where their truth is not stored
    lengths: LengthScores = field(default_factory=LengthScores)  #: of bones over tracks

    def __add__(self, other: TrackFigures) -> TrackFigures:
        return TrackFigures(
            self.sequences + other.sequences,
            self.counts + other.counts,
            self.persons + other.persons,
            self.ids + other.ids,
            self.jitter + other.jitter,
            np.concatenate([self.errors_m, other.errors_m]),
            self.bodies + other.bodies,
            self.lengths + other.lengths,
        )

    def figures(self) -> dict[str, float]:
        """Figures by name; NaN where there is nothing to measure."""
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
            "joints within 10 cm": float((errors < CORRECT_M).mean()) if len(errors) else math.nan,
            **self.bodies.figures(),
            **self.lengths.figures(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class TrackReport:
    """Figures of several variants on the same sequences."""

    frames: int
    by_scene: Mapping[str, Mapping[str, TrackFigures]]  #: variant -> scene, else sequence -> figures

    def __add__(self, other: TrackReport) -> TrackReport:
        """Report on the sequences of both, in this order: the same as one on all these sequences."""
        by_scene = {variant: dict(scenes) for variant, scenes in self.by_scene.items()}
        for variant, scenes in other.by_scene.items():
            for scene, figures in scenes.items():
                by_scene[variant][scene] = by_scene[variant].get(scene, TrackFigures()) + figures
        return TrackReport(self.frames + other.frames, by_scene)

    def overall(self, variant: str) -> TrackFigures:
        """Figures of one variant over all sequences."""
        return sum(self.by_scene[variant].values(), TrackFigures())

    def to_dict(self) -> dict:
        """Every figure, ready for JSON; NaN (nothing to measure) becomes None."""
        return {
            "frames": self.frames,
            "trackers": {
                variant: {
                    "all": without_nan(self.overall(variant).figures()),
                    "by scene": {scene: without_nan(each.figures()) for scene, each in scenes.items()},
                }
                for variant, scenes in self.by_scene.items()
            },
        }

    def text(self) -> str:
        """Format for the terminal: the variants side by side, then the first of them by scene."""
        variants = list(self.by_scene)
        width = max(16, *(len(variant) + 2 for variant in variants))
        columns = [self.overall(variant).figures() for variant in variants]
        lines = [
            f"{counted(self.frames, 'frame') + ' played':30s}" + "".join(f"{variant:>{width}s}" for variant in variants)
        ]
        lines += [
            f"{name:30s}" + "".join(f"{_shown(name, column):>{width}s}" for column in columns)
            for name in dict.fromkeys(name for column in columns for name in column)
            if not all(math.isnan(column.get(name, math.nan)) for column in columns)
        ]
        return "\n".join([*lines, *self._table_of_scenes(variants[0])])

    def _table_of_scenes(self, variant: str) -> list[str]:
        scenes = {scene: each.figures() for scene, each in self.by_scene[variant].items()}
        if len(scenes) < 2:
            return []
        width = max(len(scene) for scene in scenes) + 2
        lines = [f"{variant}, by scene:", "  " + " " * width + "".join(f"{title:>10s}" for title in _COLUMNS)]
        return lines + [
            f"  {scene:{width}s}" + "".join(f"{_shown(name, row):>10s}" for name in _COLUMNS.values())
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
    value = figures.get(name, math.nan)
    if isinstance(value, int):
        return str(value)
    return "-" if math.isnan(value) else f"{value:.1f}" if name.endswith("mm") else f"{value:.3f}"


def evaluate_tracks(
    sequences: Sequence[tuple[SequenceRows, FrameSequence]],
    find: Callable[[Iterable[LabelledFrame]], Iterator[tuple[LabelledFrame, list[Pose]]]],
    variants: Mapping[str, TrackingVariant],
    in_view_joints: int = 1,
    frame_step: int = 1,
    gap_s: float = 0.0,
    on_frame: Callable[[], object] = lambda: None,
) -> TrackReport:
    """Track the people of every sequence with every variant, and score.

    Parameters
    ----------
    sequences : as `FrameSequence.sequences` gives them
    find : yields the frames of one sequence with their poses, e.g. `find_poses` of a model
    variants : variants by name
    in_view_joints : minimum number of visible joints of a person in view
    frame_step : int, every K-th frame is used
    gap_s : seconds in the middle of each sequence that are left out, as if the camera were covered
    on_frame : called after every frame, used or left out

    Returns
    -------
    TrackReport

    Raises
    ------
    FormatError
        When times do not increase.
    ValueError
        When the gap leaves nothing of a sequence.
    """
    by_scene: dict[str, dict[str, TrackFigures]] = {name: {} for name in variants}
    played = 0
    for sequence, frames in sequences:
        runs = {name: _Run(variant, frames.body, in_view_joints) for name, variant in variants.items()}
        for frame, poses in find(_used_frames(sequence, frames[::frame_step], gap_s, on_frame)):
            for run in runs.values():
                run.add(frame, poses)
            played += 1
            on_frame()
        row = sequence.scene or sequence.name
        for name, run in runs.items():
            by_scene[name][row] = by_scene[name].get(row, TrackFigures()) + run.figures(sequence.exact_joints)
    return TrackReport(played, by_scene)


def _used_frames(
    sequence: SequenceRows, frames: FrameSequence, gap_s: float, on_frame: Callable[[], object]
) -> Iterator[LabelledFrame]:
    """Frames of a sequence without its gap; raises FormatError unless times increase."""
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
    """One sequence tracked with one variant."""

    def __init__(self, variant: TrackingVariant, body: BodyDefinition, in_view_joints: int) -> None:
        self._tracker = variant.tracker()
        self._smoother = variant.smoother() if variant.smoother else None
        self._body, self._joints = body, body.joints
        self._in_view_joints = in_view_joints
        self._scores = TrackScores(body.joints)
        self._bodies = BodyScores()
        self._lengths_m: np.ndarray | None = None  # (P, J), true lengths of bones
        self._times_s: list[float] = []
        self._true_m: list[np.ndarray] = []
        self._found_m: list[np.ndarray] = []  # NaN = not found
        self._errors_m: list[np.ndarray] = []
        self._ids: set[int] = set()
        self._persons: set[int] = set()

    def add(self, frame: LabelledFrame, poses: Sequence[Pose]) -> None:
        """Add the next frame."""
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
            if frame.bodies is not None:
                truth = frame.joints_m[person], frame.visible[person], frame.bodies, person
                self._bodies.add(self._body, truth, found_m[person])
        if frame.bodies is not None:
            self._lengths_m = frame.bodies.bone_lengths_m
        self._times_s.append(now_s)
        self._true_m.append(frame.joints_m)
        self._found_m.append(found_m)
        self._ids |= {track.id for track in tracks}

    def _score(self, frame: LabelledFrame, tracks: Sequence[Track]) -> dict[int, Track]:
        """Match tracks to true people; row of each person found -> track."""
        if not frame.located.all():
            unlocated = frame.unlocated_people()
            tracks = [track for track in tracks if not _is_within(unlocated, track, frame.depth.intrinsics)]
        in_view = frame.visible.sum(axis=1) >= self._in_view_joints
        self._persons |= set(np.flatnonzero(in_view).tolist())
        return self._scores.add(frame.joints_m, in_view, tracks)

    def figures(self, exact_joints: bool) -> TrackFigures:
        """Figures of the whole sequence."""
        errors_m = np.concatenate([np.zeros(0), *self._errors_m])
        counts = 1, self._scores.counts(), len(self._persons), len(self._ids)
        return TrackFigures(*counts, self._jitter(exact_joints), errors_m, self._bodies, self._lengths())

    def _lengths(self) -> LengthScores:
        scores, times_s = LengthScores(), np.array(self._times_s)
        for person, lengths_m in enumerate(() if self._lengths_m is None else self._lengths_m):
            found_m, true_m = (_by_person(each)[person] for each in (self._found_m, self._true_m))
            scores += score_lengths(self._body, found_m, true_m, lengths_m, times_s)
        return scores

    def _jitter(self, exact_joints: bool) -> Jitter:
        times_s = np.array(self._times_s)
        jitter = Jitter()
        for found_m, true_m in zip(_by_person(self._found_m), _by_person(self._true_m), strict=True):
            if exact_joints:
                jitter += jitter_at_rest(found_m, true_m, times_s)
            else:
                jitter += jitter_without_truth(found_m, times_s)
        if self._smoother is not None and not exact_joints:  # the estimate is too small for smoothed joints
            return replace(jitter, squares_m2=0.0, freedom=0)
        return jitter


def _is_within(mask: np.ndarray, track: Track, lens: Intrinsics) -> bool:
    """Whether more than half of the joints of a track are seen at pixels of a mask, bool (H, W)."""
    joints_m = track.pose.joints_m
    rows, cols = np.rint(lens.project(joints_m[joints_m[:, 2] > 0])).astype(int).T
    inside = (rows >= 0) & (rows < mask.shape[0]) & (cols >= 0) & (cols < mask.shape[1])
    return bool(np.count_nonzero(mask[rows[inside], cols[inside]]) > len(joints_m) / 2)


def _by_person(frames_m: Sequence[np.ndarray]) -> np.ndarray:
    """Stack joints (P, J, 3) of every frame to (P, T, J, 3); NaN where a frame has fewer people."""
    people = max((len(joints_m) for joints_m in frames_m), default=0)
    padded = [np.pad(m, ((0, people - len(m)), (0, 0), (0, 0)), constant_values=np.nan) for m in frames_m]
    return np.stack(padded, axis=1) if padded else np.zeros((0, 0, 0, 3))
