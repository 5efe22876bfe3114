"""Trains the choice of views: on people with known joints, whom a pipeline sees in several rotated views."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.errors import counted
from posepipe.evaluation.metrics.track_metrics import mean_distance
from posepipe.frames import LabelledFrame
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.views.rotated_views import UPSIDE_DOWN, RotatedViews
from posepipe.segmentation.views.view_choice import ViewChoice
from posepipe.segmentation.views.view_evidence import NAMES, SeenView, ViewEvidence
from posepipe.training.boosted.flat_trees import flat_trees
from posepipe.training.boosted.folds import FOLDS, folds_of, kind_of_folds, typical_bones
from posepipe.training.boosted.recorded_frames import RecordedFrames
from posepipe.training.check_frames import LOOKED_AT, check_people
from posepipe.training.origin import origin_of
from posepipe.training.true_filter import PERSON_SHARE, TrueFilter, judge_by_truth

RIGHT_M = 0.1
"""Maximum distance of a right joint from the truth."""
FOUND_M = 0.5
"""Maximum mean distance from the truth of the joints of a person who is found, by confidence."""
BOOSTING: dict[str, Any] = {
    "max_iter": 400,
    "learning_rate": 0.04,
    "max_leaf_nodes": 16,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
    "max_features": 0.3,
    "early_stopping": False,
    "random_state": 0,
}
"""Parameters of scikit-learn's gradient boosting on histograms (Friedman 2001; Ke et al., NeurIPS 2017)."""
TRIED_FRAMES = 10
"""Frames that are tried at a time before the training. Where people lie, the first of them mostly show somebody."""


class ViewsOfPeople(NamedTuple):
    """Views of many people, those of one person one after the other."""

    evidence: np.ndarray  #: float32 (N, E)
    right: np.ndarray  #: float64 (N,), share of the visible joints within RIGHT_M of the truth
    found: np.ndarray  #: bool (N,), whether the pose is within FOUND_M of the person
    first: np.ndarray  #: bool (N,), whether the view is the first of its person
    by_rule: np.ndarray  #: bool (N,), whether the rule chooses it
    row: np.ndarray  #: int64 (N,), of the frame

    @property
    def quality(self) -> np.ndarray:
        """What the trees learn to predict, float64 (N,): how much of the pose is right, and whether it is theirs."""
        return self.right + self.found

    def mean_right(self, score: np.ndarray) -> float:
        """Mean share of right joints in the views of the highest score, float (N,), of each person."""
        person = np.cumsum(self.first) - 1
        order = np.lexsort((-score, person))  # stable: of equal scores the first view's
        return float(self.right[order[self.first]].mean())


def refit_view_choice(
    model: PoseModel,
    frames: FrameSequence,
    command: str = "",
    on_frame: Callable[[], object] = lambda: None,
    workers: int = 1,
) -> PoseModel:
    """Train the choice of views of a model.

    Parameters
    ----------
    model : PoseModel
    frames : labelled frames, whole or of people cut out, some of whom lie, bend or are upside down
    command : command line of the training, for the metadata
    on_frame : called after every frame
    workers : number of processes that look at frames; 1 = this one. The choice is the same

    Returns
    -------
    PoseModel, without the figures measured with the earlier choice

    Raises
    ------
    ValueError
        When nobody is seen in several views, or the frames show another body.
    """
    frames.check_joints(model.body)
    started = time.monotonic()
    check_people(frames, "a choice of views")
    lengths = typical_bones(frames, model.body)
    rule, bare = RotatedViews(len(model.body.joints)), replace(model, view_choice=None)
    collecting = _Collecting(bare, frames, lengths, rule)
    _check_some_rotated(collecting)
    found = collecting.collect(len(frames), on_frame, workers)
    views = ViewsOfPeople(*(np.concatenate(each) for each in zip(*found, strict=True)))
    if not len(views.row):  # a pipeline may see some of the frames by themselves otherwise than among all
        raise _nobody_rotated(frames)
    choice = ViewChoice(model.body, lengths, flat_trees(_boosted(views, np.ones(len(views.row), bool)), NAMES))
    about: dict[str, Any] = {
        **origin_of(frames, command),
        "people": int(views.first.sum()),  # each as often as a choice was asked for
        "left_out": _on_left_out(views, folds_of(frames)[views.row]),
        "folds_of": kind_of_folds(frames),
        "seconds": round(time.monotonic() - started, 1),
    }
    return replace(model, view_choice=choice).with_metadata(figures=None, view_choice=about)


def _boosted(views: ViewsOfPeople, rows: np.ndarray) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(**BOOSTING).fit(views.evidence[rows], views.quality[rows])


def _on_left_out(views: ViewsOfPeople, fold: np.ndarray) -> dict[str, float] | None:
    """Share of right joints by trees that have not seen a fold, by the rule, and at best; None for a single fold."""
    score = np.zeros(len(fold))
    for number in range(FOLDS):
        own = fold == number
        if own.all():
            return None
        if own.any():
            score[own] = _boosted(views, ~own).predict(views.evidence[own])
    chosen = {"right": score, "by_rule": views.by_rule.astype(float), "at_best": views.right}
    return {name: round(views.mean_right(each), 4) for name, each in chosen.items()}


@dataclass(frozen=True, slots=True)
class _Collecting(RecordedFrames[ViewsOfPeople]):
    """Collects the views of people in a block of frames."""

    rule: RotatedViews

    def install_recorder(self, pipeline: Pipeline) -> _Recorder:
        recorder = _Recorder(self.model.body, self.lengths, self.rule)
        judge_by_truth(pipeline, recorder.judge)
        pipeline.rotated_views = replace(self.rule, choice=recorder)
        return recorder


def _check_some_rotated(collecting: _Collecting) -> None:
    """Raise ValueError where none of some frames shows anybody in rotated views: all may take hours to look at.

    The pipeline is asked, for the truth does not tell: it also rotates the views of people upright of whom it finds
    little.
    """
    frames = collecting.frames.at_most(LOOKED_AT)
    order = np.random.default_rng(0).permutation(len(frames))  # people who lie may be in the last dataset alone
    some = replace(collecting, frames=frames.select(order))
    for start in range(0, len(frames), TRIED_FRAMES):
        if len(some.block(range(start, min(start + TRIED_FRAMES, len(frames))), lambda count: None).row):
            return
    raise _nobody_rotated(frames)


def _nobody_rotated(frames: FrameSequence) -> ValueError:
    return ValueError(
        f"nobody in {counted(len(frames), 'frame')} looked at was seen in rotated views; give people who lie or bend,"
        " as `posepipe synth --recipe person-turned` renders them"
    )


class _Recorder:
    """Chooses by the rule, and keeps the evidence and the truth of all views of people."""

    def __init__(self, body: BodyDefinition, lengths: BoneLengths, rule: RotatedViews) -> None:
        self.judge = TrueFilter()
        self._body, self._evidence, self._rule = body, ViewEvidence(body, lengths), rule
        self._rows: list[tuple[float, bool, bool, bool, int]] = []
        self._numbers: list[np.ndarray] = []

    def start_frame(self, row: int, frame: LabelledFrame) -> None:
        self.judge.begin(frame.people > 0)
        self._row, self._frame = row, frame

    def best(self, seen: Mapping[int, SeenView]) -> int:
        """What the rule chooses, without the view that shows people upside down."""
        chosen = self._rule.choose({quarters: each for quarters, each in seen.items() if quarters not in UPSIDE_DOWN})
        person = self._person_in(seen[0].view.mask)
        truth = np.zeros((0, 3)) if person is None else self._visible_joints(person)
        if np.isfinite(truth).any():
            self._numbers.append(self._evidence.measure(seen))
            for quarters, each in seen.items():
                right, found = _agreement(each.pose, truth, self._body)
                self._rows.append((right, found, quarters == 0, quarters == chosen, self._row))
        return chosen

    def _person_in(self, mask: np.ndarray) -> int | None:
        """The person, from 0, on whom most pixels of a candidate are; None for furniture."""
        counts = np.bincount(self._frame.people[mask], minlength=2)
        person = int(counts[1:].argmax())
        return person if counts[person + 1] >= PERSON_SHARE * counts.sum() else None

    def _visible_joints(self, person: int) -> np.ndarray:
        """Joints (J, 3), metres, NaN where one is hidden or not known."""
        return np.where(self._frame.visible[person][:, None], self._frame.joints_m[person], np.nan)

    def kept(self) -> ViewsOfPeople:
        numbers = np.concatenate(self._numbers) if self._numbers else np.zeros((0, len(NAMES)), np.float32)
        right, found, first, by_rule, row = zip(*self._rows, strict=True) if self._rows else [()] * 5
        return ViewsOfPeople(
            numbers,
            np.array(right, np.float64),
            np.array(found, bool),
            np.array(first, bool),
            np.array(by_rule, bool),
            np.array(row, np.int64),
        )


def _agreement(pose: Pose, truth: np.ndarray, body: BodyDefinition) -> tuple[float, bool]:
    """Share of joints that are right, of those known to the truth, (J, 3) with NaN; whether the person is found."""
    joints_m, confidences = pose.in_rows_of(body.joints)
    right = np.linalg.norm(joints_m - truth, axis=1) <= RIGHT_M
    share = float(np.count_nonzero(right)) / max(1, int(np.isfinite(truth[:, 0]).sum()))
    return share, mean_distance(truth, joints_m, confidences) < FOUND_M
