"""Trains the classifier of the person filter: on the candidates that a pipeline makes of labelled whole frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from posepipe.camera import Intrinsics
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import LabelledFrame
from posepipe.learn.tables.estimators.forest import RandomForestClassifier
from posepipe.learn.tree import LEAF
from posepipe.models.pose_model import PoseModel
from posepipe.models.provenance import source_revision
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.person_classifier.person_classifier import MIN_SHARE, PersonClassifier
from posepipe.segmentation.person_classifier.person_evidence import BoneLengths, evidence_names, person_evidence
from posepipe.segmentation.person_filter import PersonFilter
from posepipe.segmentation.rotated_views import View
from posepipe.stage import Stateless

PERSON_SHARE = 0.5
"""Minimum share of a candidate's pixels on people that makes it a person."""
FURNITURE_SHARE = 0.2
"""Maximum share of a candidate's pixels on people that makes it none; candidates between the two are left out."""
TREES, MIN_LEAF, MAX_DEPTH = 150, 3, 14
KEPT_BACK = 5
"""Every fifth group of frames calibrates the forest that was trained on the others."""
GROUP_FRAMES = 25
"""Frames that follow one another in a dataset form a group."""


class Candidates(NamedTuple):
    """Candidates of many frames."""

    evidence: np.ndarray  #: float32 (N, E)
    is_person: np.ndarray  #: bool (N,)
    row: np.ndarray  #: int64 (N,), of the frame


def refit_person_filter(
    model: PoseModel, frames: FrameSequence, command: str = "", on_frame: Callable[[], object] = lambda: None
) -> PoseModel:
    """Train the person filter of a model.

    Parameters
    ----------
    model : PoseModel, with the segmentation that will be used
    frames : labelled whole frames, with people and without
    command : command line of the training, for the metadata
    on_frame : called after every frame

    Returns
    -------
    PoseModel, without the figures measured with the earlier filter

    Raises
    ------
    ValueError
        When the frames give no candidate that is a person, or none that is not.
    """
    started = time.monotonic()
    lengths = BoneLengths.measure(model.body, np.concatenate([frame.joints_m for frame in _some(frames)]))
    candidates = collect_candidates(model, frames, lengths, on_frame)
    if candidates.is_person.all() or not candidates.is_person.any():
        kind = "people" if candidates.is_person.any() else "furniture"
        raise ValueError(
            f"a person filter learns from people and from furniture; all {len(candidates.row)} candidates of these"
            f" {len(frames)} frames are {kind}"
        )
    held_out = candidates.row // GROUP_FRAMES % KEPT_BACK == KEPT_BACK - 1
    calibration = _calibration(candidates, held_out)
    classifier = _classifier(model, lengths, _forest(candidates), calibration)
    about: dict[str, Any] = {
        "frames": len(frames),
        "identity": frames.identity,
        "recipes": frames.recipes,
        "source_revision": source_revision(),
        "command": command,
        "candidates": len(candidates.row),
        "people": int(candidates.is_person.sum()),
        "seconds": round(time.monotonic() - started, 1),
    }
    return replace(model, person_classifier=classifier).with_metadata(figures=None, person_filter=about)


def collect_candidates(
    model: PoseModel, frames: FrameSequence, lengths: BoneLengths, on_frame: Callable[[], object] = lambda: None
) -> Candidates:
    """Run the pipeline with an open filter, and label its candidates by the truth.

    Parameters
    ----------
    model : PoseModel
    frames : labelled whole frames
    lengths : BoneLengths
    on_frame : called after every frame

    Returns
    -------
    Candidates
    """
    recorder = _Recorder(model, lengths)
    pipeline = Pipeline.from_model(model, tracking=False)
    pipeline.person_filter = recorder  # type: ignore[assignment]
    rows, evidence, people = [], [], []
    for row, frame in enumerate(frames):
        recorder.seen.clear()
        pipeline.step(frame.depth)
        for mask, numbers in recorder.seen:
            share = float((frame.people[mask] > 0).mean())
            if not FURNITURE_SHARE < share < PERSON_SHARE:
                rows.append(row)
                evidence.append(numbers)
                people.append(share >= PERSON_SHARE)
        on_frame()
    table = np.array(evidence, np.float32).reshape(len(rows), len(evidence_names(model.body)))
    return Candidates(table, np.array(people, bool), np.array(rows, np.int64))


class _Recorder(Stateless):
    """A person filter that accepts every candidate with a pose, and keeps its mask and its evidence."""

    def __init__(self, model: PoseModel, lengths: BoneLengths) -> None:
        self._body, self._lengths = model.body, lengths
        self._filter = PersonFilter()
        self.seen: list[tuple[np.ndarray, np.ndarray]] = []

    def person_mask(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities
    ) -> np.ndarray | None:
        return self._filter.person_mask(depth_m, mask, intrinsics, parts)

    def is_person(self, view: View, parts: PartProbabilities, pose: Pose) -> bool:
        if pose.confidence < self._filter.min_confidence:
            return False
        numbers = person_evidence(view.depth_m, view.mask, view.intrinsics, parts, pose, self._body, self._lengths)
        self.seen.append((view.mask, numbers))
        return True


def _some(frames: FrameSequence) -> Iterator[LabelledFrame]:
    """At most a thousand frames, evenly spaced: enough for the median length of a bone."""
    return iter(frames[:: max(1, len(frames) // 1000)])


def _forest(candidates: Candidates, rows: np.ndarray | slice = slice(None)) -> RandomForestClassifier:
    forest = RandomForestClassifier(
        n_estimators=TREES, min_samples_leaf=MIN_LEAF, max_depth=MAX_DEPTH, oob_score=False, random_state=0
    )
    return forest.fit(candidates.evidence[rows], candidates.is_person[rows].astype(int))


def _calibration(candidates: Candidates, held_out: np.ndarray) -> np.ndarray:
    """Offset and slope of the log-odds (Platt 1999), by candidates that the forest has not seen: float32 (2,)."""
    truth = candidates.is_person[held_out]
    known = candidates.is_person[~held_out]
    if not (truth.any() and not truth.all() and known.any() and not known.all()):
        return np.array([0, 1], np.float32)  # too few to calibrate on
    forest = _forest(candidates, ~held_out)
    share = np.clip(forest.predict_proba(candidates.evidence[held_out])[:, 1], MIN_SHARE, 1 - MIN_SHARE)
    fit = LogisticRegression(C=100).fit(np.log(share / (1 - share))[:, None], truth)
    return np.array([fit.intercept_[0], fit.coef_[0, 0]], np.float32)


def _classifier(
    model: PoseModel, lengths: BoneLengths, forest: RandomForestClassifier, calibration: np.ndarray
) -> PersonClassifier:
    """Put the trees one after another, with the share of people at every node."""
    starts = np.cumsum([0, *(table.tree.n_nodes for table in forest.trees_)])
    trees = [table.tree for table in forest.trees_]
    return PersonClassifier(
        body=model.body,
        lengths=lengths,
        names=evidence_names(model.body),
        number=np.concatenate([tree.feature for tree in trees]).astype(np.int32),
        threshold=np.concatenate([tree.threshold for tree in trees]).astype(np.float32),
        child=np.concatenate(
            [
                np.where(tree.feature == LEAF, 0, tree.first_child + start)
                for tree, start in zip(trees, starts, strict=False)
            ]
        ).astype(np.int32),
        share=np.concatenate([table.values[:, 1] for table in forest.trees_]).astype(np.float32),
        roots=starts[:-1].astype(np.int32),
        calibration=calibration,
    )
