"""Trains the person classifier: on the candidates that a pipeline makes of labelled whole frames."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.learn.depth.checkpoints import Checkpoints
from posepipe.models.pose_model import PoseModel
from posepipe.segmentation.evidence.pose_evidence import BoneLengths
from posepipe.segmentation.person_classifier.person_classifier import PersonClassifier
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.training.boosted.fit_calibrated_trees import fit_calibrated_trees
from posepipe.training.boosted.folds import FOLDS, folds_of, kind_of_folds, typical_bones
from posepipe.training.boosted.labelled_candidates import LabelledCandidates
from posepipe.training.boosted.person_candidates import collect_candidates
from posepipe.training.check_frames import check_rooms
from posepipe.training.fit_segmentation import train_segmentation
from posepipe.training.origin import origin_of

FOLD_FRAMES = 10_000
"""Maximum number of frames, evenly spaced, that the segmentation of a fold is trained on."""
FALSE_FRAMES = 0.05
"""Share of frames without people, of datasets left out, in which a candidate is accepted at the operating point."""


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
    PoseModel, without the figures measured with the earlier filter, and without a region classifier: that has learned
    from the probabilities of the earlier one

    Raises
    ------
    ValueError
        When the frames give no candidate that is a person, or none that is not, or show another body.
    """
    frames.check_joints(model.body)
    started = time.monotonic()
    check_rooms(frames, "a person filter")  # before hours of looking for candidates
    lengths = typical_bones(frames, model.body)
    fold = folds_of(frames)
    prepared = time.monotonic()
    candidates, collecting_seconds = _candidates_of_all(model, frames, fold, lengths, on_frame, workers, checkpoints)
    collected = time.monotonic()
    candidates.check(len(frames), "a person filter", seen=" with confident joints")
    names = PersonEvidence(model.body, lengths).names
    fit = fit_calibrated_trees(candidates, fold[candidates.row], names)
    point = operating_point(candidates, fit.probability)
    classifier = PersonClassifier(model.body, lengths, fit.trees, fit.calibration)
    about: dict[str, Any] = {
        **origin_of(frames, command),
        "candidates": len(candidates.row),
        "people": int(candidates.is_person.sum()),
        "auc_left_out": fit.auc,
        "left_out": None if point is None else {name: round(value, 4) for name, value in point._asdict().items()},
        "folds_of": kind_of_folds(frames),
        "seconds": round(prepared - started + collecting_seconds + time.monotonic() - collected, 1),
    }
    model = replace(model, person_classifier=classifier, region_classifier=None)
    return model.with_metadata(figures=None, person_filter=about, region_filter=None)


def _candidates_of_all(
    model: PoseModel,
    frames: FrameSequence,
    fold: np.ndarray,
    lengths: BoneLengths,
    on_frame: Callable[[], object],
    workers: int,
    checkpoints: Checkpoints | None,
) -> tuple[LabelledCandidates, float]:
    """Candidates of all folds, each by a segmentation that has not seen it, if the model has one.

    With them the seconds that they took, in this run and in those that it resumes.
    """
    found, seconds = [], 0.0
    for number in range(FOLDS):
        rows, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if not len(rows):
            continue
        stored = _stored(checkpoints, number)
        if stored is not None:
            candidates, took = stored
            for _ in rows:
                on_frame()
        else:
            started = time.monotonic()
            of_fold = model
            if model.segmentation is not None and len(others):
                some = frames.select(others).at_most(FOLD_FRAMES)
                of_fold = replace(model, segmentation=train_segmentation(some))
            candidates = collect_candidates(of_fold, frames.select(rows), lengths, on_frame, workers).of_rows(rows)
            took = time.monotonic() - started
            if checkpoints:
                checkpoints.save_arrays(f"fold-{number}", {**candidates._asdict(), "seconds": np.array(took)})
        found.append(candidates)
        seconds += took
    return LabelledCandidates.join(found), seconds


def _stored(checkpoints: Checkpoints | None, number: int) -> tuple[LabelledCandidates, float] | None:
    """Candidates of a fold of an interrupted run, and their seconds; None where there are none, or others."""
    arrays = checkpoints.load_arrays(f"fold-{number}") if checkpoints else None
    if not arrays or arrays.keys() != {*LabelledCandidates._fields, "seconds"}:
        return None
    seconds = float(arrays.pop("seconds"))
    return LabelledCandidates(**arrays), seconds


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
