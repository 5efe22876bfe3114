"""Trains the person classifier: on the candidates that a pipeline makes of labelled whole frames."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import LabelledFrame
from posepipe.learn.depth.checkpoints import Checkpoints
from posepipe.models.pose_model import PoseModel
from posepipe.segmentation.person_classifier.person_classifier import PersonClassifier
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.segmentation.person_classifier.pose_evidence import BoneLengths
from posepipe.training.boosted_trees import flat_trees
from posepipe.training.fit_segmentation import train_segmentation
from posepipe.training.origin import origin_of
from posepipe.training.person_candidates import LabelledCandidates, collect_candidates

FOLDS = 3
"""Parts of the frames, each of which is judged by what was trained on the others alone."""
FOLD_FRAMES = 10_000
"""Maximum number of frames, evenly spaced, that the segmentation of a fold is trained on."""
FALSE_FRAMES = 0.05
"""Share of frames without people, of datasets left out, in which a candidate is accepted at the operating point."""
BOOSTING: dict[str, Any] = {
    "n_estimators": 500,
    "learning_rate": 0.04,
    "max_depth": None,
    "max_leaf_nodes": 16,
    "min_samples_leaf": 40,
    "subsample": 0.6,
    "max_features": 0.15,
    "random_state": 0,
}
"""Parameters of scikit-learn's gradient boosting (Friedman 2001): small trees, each on a share of rows and columns."""
TREE_CANDIDATES = 64_000
"""Maximum number of candidates that one of these trees is grown on."""


class OperatingPoint(NamedTuple):
    """What a person filter does with candidates that it has not seen."""

    min_probability: float  #: of those who are accepted
    false_frames: float  #: share of the frames without people in which somebody is found all the same
    found: float  #: share of the candidates that are people which are accepted


def refit_person_classifier(
    model: PoseModel,
    frames: FrameSequence,
    command: str = "",
    on_frame: Callable[[], object] = lambda: None,
    workers: int = 1,
    checkpoints: Checkpoints | None = None,
) -> PoseModel:
    """Train the person classifier of a model.

    Datasets are the rooms that are left out in turn: those of one fold are segmented by a forest that was trained on
    the other folds. On candidates of datasets that the trees have not seen the probabilities are calibrated, and an
    operating point is measured for the metadata.

    Parameters
    ----------
    model : PoseModel, with the segmentation that will be used
    frames : labelled whole frames, with people and without
    command : command line of the training, for the metadata
    on_frame : called after every frame
    workers : number of processes that look at frames; 1 = this one. The filter is the same
    checkpoints : stores the candidates of every fold on disk, and resumes an interrupted run

    Returns
    -------
    PoseModel, without the figures measured with the earlier filter

    Raises
    ------
    ValueError
        When the frames give no candidate that is a person, or none that is not, or show another body.
    """
    frames.check_joints(model.body)
    started = time.monotonic()
    learns = "a person filter learns from people and from furniture"
    lengths = typical_bones(frames, model.body, learns)  # fails before hours of looking for candidates
    fold = folds_of(frames)
    candidates = _candidates_of_all(model, frames, fold, lengths, on_frame, workers, checkpoints)
    if not len(candidates.row):
        raise ValueError(f"these {len(frames)} frames give no candidate with confident joints; give other frames")
    if candidates.is_person.all() or not candidates.is_person.any():
        kind = "people" if candidates.is_person.any() else "furniture"
        raise ValueError(
            f"a person filter learns from people and from furniture; all {len(candidates.row)} candidates of these"
            f" {len(frames)} frames are {kind}"
        )
    boosted, of_others = _all_boosted(candidates, fold[candidates.row])
    score = _scores_of_left_out(candidates, fold[candidates.row], of_others)
    calibration = _calibration(candidates.is_person, score)
    point = operating_point(candidates, _probability(score, calibration))
    classifier = PersonClassifier(
        body=model.body,
        lengths=lengths,
        trees=flat_trees(boosted, PersonEvidence(model.body, lengths).names),
        calibration=calibration,
    )
    about: dict[str, Any] = {
        **origin_of(frames, command),
        "candidates": len(candidates.row),
        "people": int(candidates.is_person.sum()),
        "auc_left_out": _auc(candidates.is_person, score),
        "left_out": None if point is None else {name: round(value, 4) for name, value in point._asdict().items()},
        "folds_of": kind_of_folds(frames),
        "seconds": round(time.monotonic() - started, 1),
    }
    return replace(model, person_classifier=classifier).with_metadata(figures=None, person_filter=about)


def typical_bones(frames: FrameSequence, body: BodyDefinition, learns: str) -> BoneLengths:
    """Median bone lengths of the people in some of these frames.

    Raises ValueError where none shows a person; ``learns`` says in the message what needs them.
    """
    some_m = [frame.joints_m for frame in _some(frames)]
    if not any(map(len, some_m)):
        raise ValueError(f"{learns}; of {len(some_m)} frames none shows a person")
    return BoneLengths.measure(body, np.concatenate(some_m))


def folds_of(frames: FrameSequence) -> np.ndarray:
    """Fold of every frame, int64 (N,): frames of one dataset share it, if there are at least FOLDS datasets."""
    if _are_datasets(frames):
        return np.unique(frames.dataset_of_rows(), return_inverse=True)[1] % FOLDS
    return np.arange(len(frames)) * FOLDS // max(1, len(frames))


def kind_of_folds(frames: FrameSequence) -> str:
    """What the folds are made of: datasets or frames."""
    return "datasets" if _are_datasets(frames) else "frames"


def _are_datasets(frames: FrameSequence) -> bool:
    """Whether folds are whole datasets; otherwise rooms of a fold may be among the others', too."""
    return len(np.unique(frames.dataset_of_rows())) >= FOLDS


def _candidates_of_all(
    model: PoseModel,
    frames: FrameSequence,
    fold: np.ndarray,
    lengths: BoneLengths,
    on_frame: Callable[[], object],
    workers: int,
    checkpoints: Checkpoints | None,
) -> LabelledCandidates:
    """Candidates of all folds, each by a segmentation that has not seen it, if the model has one."""
    found = []
    for number in range(FOLDS):
        rows, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if not len(rows):
            continue
        candidates = _stored(checkpoints, number)
        if candidates is not None:
            found.append(candidates)
            for _ in rows:
                on_frame()
            continue
        of_fold = model
        if model.segmentation is not None and len(others):
            some = frames.select(others).at_most(FOLD_FRAMES)
            of_fold = replace(model, segmentation=train_segmentation(some))
        candidates = collect_candidates(of_fold, frames.select(rows), lengths, on_frame, workers).of_rows(rows)
        if checkpoints:
            checkpoints.save_arrays(f"fold-{number}", candidates._asdict())
        found.append(candidates)
    return LabelledCandidates.join(found)


def _stored(checkpoints: Checkpoints | None, number: int) -> LabelledCandidates | None:
    """Candidates of a fold of an interrupted run; None where there are none, or others than these."""
    arrays = checkpoints.load_arrays(f"fold-{number}") if checkpoints else None
    return LabelledCandidates(**arrays) if arrays and arrays.keys() == set(LabelledCandidates._fields) else None


def _some(frames: FrameSequence) -> Iterator[LabelledFrame]:
    """Fewer than 2,000 frames, evenly spaced: enough for the median length of a bone."""
    return iter(frames[:: max(1, len(frames) // 1000)])


def _boosted(candidates: LabelledCandidates, rows: np.ndarray) -> GradientBoostingClassifier:
    share = min(BOOSTING["subsample"], TREE_CANDIDATES / np.count_nonzero(rows))
    boosted = GradientBoostingClassifier(**BOOSTING | {"subsample": share})
    return boosted.fit(candidates.evidence[rows], candidates.is_person[rows])


def _all_boosted(
    candidates: LabelledCandidates, fold: np.ndarray
) -> tuple[GradientBoostingClassifier, list[GradientBoostingClassifier | None]]:
    """Trees of all candidates, and for every fold those of the others; None where these are not of both kinds.

    They are grown side by side: scikit-learn grows one tree after the other, on one core.
    """
    others = [fold != number for number in range(FOLDS)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        whole = pool.submit(_boosted, candidates, np.ones(len(fold), bool))
        grown = [
            pool.submit(_boosted, candidates, rows) if _both(candidates.is_person[rows]) else None for rows in others
        ]
    return whole.result(), [None if each is None else each.result() for each in grown]


def _scores_of_left_out(
    candidates: LabelledCandidates, fold: np.ndarray, of_others: Sequence[GradientBoostingClassifier | None]
) -> np.ndarray:
    """Score of every candidate by trees that have not seen its fold, float64 (N,); NaN where that cannot be had."""
    score = np.full(len(fold), np.nan)
    for number, boosted in enumerate(of_others):
        own = fold == number
        if boosted is not None and own.any():
            score[own] = boosted.decision_function(candidates.evidence[own])
    return score


def _calibration(is_person: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Offset and slope of the log-odds against the score (Platt 1999), float32 (2,)."""
    measured = np.isfinite(score)
    if not _both(is_person[measured]):
        return np.array([0, 1], np.float32)  # too few to calibrate on
    fit = LogisticRegression(C=100).fit(score[measured, None], is_person[measured])
    return np.array([fit.intercept_[0], fit.coef_[0, 0]], np.float32)


def _probability(score: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Calibrated probability of each score, float64 (N,)."""
    return expit(float(calibration[0]) + float(calibration[1]) * score)


def operating_point(candidates: LabelledCandidates, probability: np.ndarray) -> OperatingPoint | None:
    """Where FALSE_FRAMES of the frames without people show somebody; None without such frames, or without people.

    The probability, float64 (N,), is that of candidates which were left out, NaN of others.
    """
    measured = np.isfinite(probability)
    highest = np.full(candidates.row.max(initial=-1) + 2, -np.inf)
    np.maximum.at(highest, candidates.row[measured], probability[measured])
    empty = highest[np.minimum(candidates.empty_rows, len(highest) - 1)]  # the last row has no candidates
    own = probability[measured & candidates.is_person]
    if not len(own) or not len(empty):
        return None
    # frames without candidates show nobody at any limit, and may be all that the quantile sees
    limit = float(np.quantile(np.maximum(empty, probability[measured].min()), 1 - FALSE_FRAMES))
    return OperatingPoint(limit, float((empty >= limit).mean()), float((own >= limit).mean()))


def _auc(is_person: np.ndarray, score: np.ndarray) -> float | None:
    """Area under the ROC curve of candidates that were left out; None without both kinds."""
    measured = np.isfinite(score)
    return float(roc_auc_score(is_person[measured], score[measured])) if _both(is_person[measured]) else None


def _both(is_person: np.ndarray) -> bool:
    return bool(is_person.any() and not is_person.all())
