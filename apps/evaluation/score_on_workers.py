"""Scoring on the workers of a cluster: blocks of frames, or sequences, whose reports add up to that of one process."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posepipe.body_model.body_model import BodyModel
    from posepipe.cluster.cluster import Cluster
    from posepipe.datasets.frame_sequence import FrameSequence
    from posepipe.evaluation.evaluate_tracks import TrackingVariant, TrackReport
    from posepipe.evaluation.pose_report import PoseReport
    from posepipe.models.pose_model import PoseModel

BLOCK_FRAMES = 100
"""Frames that a worker scores at a time."""
TRACKER, NEAREST = "tracker", "nearest pose"


@dataclass(frozen=True, slots=True)
class ScoredData:
    """What a worker opens by itself: a model, and labelled frames."""

    model: str  #: shipped model, or file
    datasets: tuple[Path, ...]
    max_frames: int | None
    camera: str | None = None  #: calibration of NPZ packs, where it is given

    @classmethod
    def of(cls, args: argparse.Namespace, model: str) -> ScoredData:
        """Data of the arguments, as every machine finds them."""
        from posepipe.models.registry import model_names

        named = model if model in model_names() else str(Path(model).absolute())
        camera = str(Path(args.camera).absolute()) if args.camera and Path(args.camera).exists() else args.camera
        return cls(named, tuple(path.absolute() for path in args.datasets), args.frames, camera)

    def open(self) -> tuple[PoseModel, FrameSequence]:
        """Open both, once in every worker."""
        return _opened(self)


@cache
def _opened(data: ScoredData) -> tuple[PoseModel, FrameSequence]:
    from posepipe.evaluation.labelled.labelled_pack import open_labelled
    from posepipe.models.pose_model import PoseModel

    model = PoseModel.load(data.model)
    return model, open_labelled(data.datasets, model.body, data.camera)[: data.max_frames]


def score_joints(
    cluster: Cluster,
    data: ScoredData,
    n_frames: int,
    whole_frames: bool,
    in_view_joints: int | None,
    fit: bool | BodyModel,
    on_frames: Callable[[int], None],
) -> PoseReport:
    """Report of `evaluate` on the first ``n_frames`` frames; other parameters are its own."""
    score = partial(_score_block, data, whole_frames, in_view_joints, fit)
    blocks = [range(start, min(start + BLOCK_FRAMES, n_frames)) for start in range(0, n_frames, BLOCK_FRAMES)]
    reports = dict(cluster.run(score, blocks, on_frames))
    return reduce(add, [reports[block.start] for block in blocks])


def _score_block(
    data: ScoredData,
    whole_frames: bool,
    in_view_joints: int | None,
    fit: bool | BodyModel,
    block: range,
    on_frames: Callable[[int], None],
) -> tuple[int, PoseReport]:
    from posepipe.evaluation.evaluate_poses import evaluate

    model, frames = data.open()
    rows = frames[block.start : block.stop]
    report = evaluate(model, rows, lambda: on_frames(1), None, whole_frames, in_view_joints, fit)
    return block.start, report


@dataclass(frozen=True, slots=True)
class TrackOptions:
    """Options of ``posepipe evaluate --tracks``."""

    whole_frames: bool
    smooth: bool
    frame_step: int
    gap_s: float
    fit: bool | BodyModel


def score_tracks(
    cluster: Cluster, data: ScoredData, n_sequences: int, options: TrackOptions, on_frames: Callable[[int], None]
) -> TrackReport:
    """Report of `evaluate_tracks` on all sequences."""
    reports = dict(cluster.run(partial(_score_sequence, data, options), range(n_sequences), on_frames))
    return reduce(add, [reports[number] for number in range(n_sequences)])


def _score_sequence(
    data: ScoredData, options: TrackOptions, number: int, on_frames: Callable[[int], None]
) -> tuple[int, TrackReport]:
    model, frames = data.open()
    return number, score_sequences(model, frames, options, lambda: on_frames(1), [number])


def score_sequences(
    model: PoseModel,
    frames: FrameSequence,
    options: TrackOptions,
    on_frame: Callable[[], object],
    numbers: Sequence[int] | None = None,
) -> TrackReport:
    """Track the people of some sequences of frames, all by default, with every variant, and score."""
    from posepipe.evaluation.evaluate_poses import find_poses
    from posepipe.evaluation.evaluate_tracks import evaluate_tracks
    from posepipe.evaluation.metrics.people_in_view import joints_in_view

    sequences = frames.sequences()
    find = partial(find_poses, model, whole_frames=options.whole_frames, fit=options.fit)
    return evaluate_tracks(
        sequences if numbers is None else [sequences[number] for number in numbers],
        find,
        _variants(model, options.smooth),
        joints_in_view(model.body) if options.whole_frames else 1,
        options.frame_step,
        options.gap_s,
        on_frame,
    )


def _variants(model: PoseModel, smooth: bool) -> dict[str, TrackingVariant]:
    """The tracker as `run` has it, smoothed where that was asked for, and the plainest one beside it."""
    from posepipe.evaluation.baseline_tracker import NearestPoseTracker
    from posepipe.evaluation.evaluate_tracks import TrackingVariant
    from posepipe.tracking.one_euro import OneEuroSmoother
    from posepipe.tracking.tracker import Tracker

    tracker = partial(Tracker, model.body)
    smoothed = {f"{TRACKER}, smoothed": TrackingVariant(tracker, OneEuroSmoother)} if smooth else {}
    return {TRACKER: TrackingVariant(tracker), NEAREST: TrackingVariant(NearestPoseTracker), **smoothed}
