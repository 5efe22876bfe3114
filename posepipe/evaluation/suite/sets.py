"""The suite: frozen test sets that every model is scored on, by rules that stand here.

Each set is a recipe. How its frames are scored follows from the set, never from the model. Figures are plain data,
ready for JSON; `suite_tables` makes tables of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.errors import FormatError
from posepipe.evaluation.baseline_tracker import NearestPoseTracker
from posepipe.evaluation.evaluate_poses import cut_out, evaluate, find_poses
from posepipe.evaluation.evaluate_tracks import TrackingVariant, evaluate_tracks
from posepipe.evaluation.metrics.people_in_view import joints_in_view
from posepipe.evaluation.oracle_parts import OracleParts
from posepipe.evaluation.pose_report import PoseReport
from posepipe.evaluation.suite.fit_table import TIME, UNFITTED
from posepipe.frames import LabelledFrame
from posepipe.io.files import read_json_object, replace_file
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.profiling import WHOLE, time_stages
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.tracking.tracker import Tracker

FORMAT, VERSION = "posepipe-suite", 2
Poses = Literal["embedded", "bank", "motions"]
"""Poses of a set: those that come with posepipe, or a pose bank or motions of captured people besides."""
TRACKERS = ("tracker", "tracker, smoothed", "nearest pose")
SINGLE_STEP = 4
"""Every so many frames of sequences are scored as single frames, too."""
TIMED_FRAMES = 60
"""Frames on which the time of a person is measured."""
PLAYED = {"all": (1, 0.0), "frame step 3": (3, 0.0), "gap 0.5 s": (1, 0.5), "gap 0.9 s": (1, 0.9)}
"""How sequences are played: every K-th frame, and seconds in the middle in which no person is seen."""


@dataclass(frozen=True, slots=True)
class SuiteSet:
    """One frozen test set."""

    name: str  #: of its folder, its figures and its tables
    recipe: str
    poses: Poses
    whole_frames: bool = False  #: the pipeline finds the people itself; otherwise they are cut out by the truth
    tracks: bool = False  #: tracking is scored, not single frames
    oracle: bool = False  #: also with oracle labels and with shuffled ones
    played: tuple[str, ...] = ("all",)  #: of PLAYED
    sensor: str = ""  #: whose noise the frames have; "" = the recipe's
    frames: int = 0  #: how many are rendered; 0 = the recipe's
    unfitted: bool = False  #: also without the fitted body; of sequences also single frames, both ways

    def command(self, mocap: str = "") -> str:
        """The commands that render and score the set alone."""
        given = "" if self.poses == "embedded" else f" --mocap {mocap}"
        given += f" --sensor {self.sensor}" if self.sensor else ""
        given += f" --frames {self.frames}" if self.frames else ""
        options = (" --tracks" if self.tracks else "") + (" --whole-frames" if self.whole_frames else "")
        folder = f"data/{self.name}"
        return f"posepipe synth {folder} --recipe {self.recipe}{given} && posepipe evaluate {folder}{options}"


SETS = (
    SuiteSet("held-out-clips", "validation", "bank", oracle=True, unfitted=True),
    SuiteSet("embedded-clips", "validation", "embedded", unfitted=True),
    SuiteSet("upside-down", "upside-down", "embedded"),
    SuiteSet("near", "near", "bank", unfitted=True),
    SuiteSet("from-above", "from-above", "bank"),
    SuiteSet("kinect-v2", "validation", "bank", sensor="kinect-v2", frames=300),
    SuiteSet("azure-nfov", "validation", "bank", sensor="azure-nfov", frames=300),
    SuiteSet("d435", "validation", "bank", sensor="d435", frames=300),
    SuiteSet("rooms", "rooms", "bank", whole_frames=True, unfitted=True),
    SuiteSet("furnished-rooms", "furnished-rooms", "bank", whole_frames=True, unfitted=True),
    SuiteSet("seated", "seated", "bank", whole_frames=True, unfitted=True),
    SuiteSet("lying", "lying", "bank", whole_frames=True, unfitted=True),
    SuiteSet("bending", "bending", "bank", whole_frames=True, unfitted=True),
    SuiteSet("rooms-from-above", "rooms-from-above", "bank", whole_frames=True),
    SuiteSet("sequences", "sequences", "motions", tracks=True, played=tuple(PLAYED)),
    SuiteSet("sequences-in-rooms", "sequences-in-rooms", "motions", whole_frames=True, tracks=True),
    SuiteSet("exercises", "exercises", "embedded", tracks=True, unfitted=True),
)
"""A set that joins is scored like the others; the tables name the sets that they show."""


def score_set(
    suite_set: SuiteSet, frames: FrameSequence, model: PoseModel, on_frame: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Score a model on a set: plain data by title of what was scored.

    Parameters
    ----------
    suite_set : SuiteSet
    frames : of the set
    model : PoseModel
    on_frame : called after every frame; see `frames_to_score`

    Returns
    -------
    Of single frames, the figures of "model" and, where the set has an oracle, of "oracle labels" and "shuffled labels",
    each with a "headline". Of sequences, the figures of each of TRACKERS for every way of playing them. Sets that are
    also scored without the fitted body have single frames as UNFITTED, in sequences beside "model", and their tracks as
    "all, " and UNFITTED.
    """
    if suite_set.tracks:
        tracks = {name: _tracking(suite_set, frames, model, *PLAYED[name], on_frame) for name in suite_set.played}
        if not suite_set.unfitted:
            return tracks
        tracks[f"all, {UNFITTED}"] = _tracking(suite_set, frames, model, *PLAYED["all"], on_frame, fit=False)
        return tracks | _with_and_without_fit(suite_set, frames[::SINGLE_STEP], model, on_frame)
    oracles: dict[str, OracleParts | None] = {"model": None}
    if suite_set.oracle:
        classifier = model.classifier()
        oracles |= {"oracle labels": OracleParts(classifier), "shuffled labels": OracleParts(classifier, True)}
    scores = {
        title: as_figures(evaluate(model, frames, on_frame, oracle, suite_set.whole_frames))
        for title, oracle in oracles.items()
        if oracle is not None or not suite_set.unfitted
    }
    return _with_and_without_fit(suite_set, frames, model, on_frame) | scores if suite_set.unfitted else scores


def _with_and_without_fit(
    suite_set: SuiteSet, frames: FrameSequence, model: PoseModel, on_frame: Callable[[], object]
) -> dict[str, Any]:
    """Figures of single frames by the model, and by its poses to which no body is fitted."""
    scores = {}
    for title, fit in {"model": True, UNFITTED: False}.items():
        whole = suite_set.whole_frames
        report = evaluate(model, frames, on_frame, whole_frames=whole, fit=fit)
        scores[title] = as_figures(report) | {TIME: person_ms(model, frames[:TIMED_FRAMES], fit)}
    return scores


def person_ms(model: PoseModel, frames: Iterable[LabelledFrame], fit: bool) -> float:
    """Time the pipeline on the first person of every frame, cut out: median, milliseconds."""
    pipeline = Pipeline.from_model(model, foreground="none", fit=fit)
    alone = [cut_out(frame, person=1) for frame in frames]
    return 1000 * float(np.median(time_stages(pipeline, alone)[WHOLE]))


def scored_as(suite_set: SuiteSet) -> tuple[str, ...]:
    """Titles of what is scored of a set beside what every set has."""
    return (UNFITTED,) if suite_set.unfitted else ()


def as_figures(report: PoseReport) -> dict[str, Any]:
    """Figures of a report, with its headline and its summary by joint."""
    return {**report.to_dict(), **report.summary()}


def frames_to_score(suite_set: SuiteSet, frames: FrameSequence) -> int:
    """How often `score_set` will call ``on_frame``."""
    if not suite_set.tracks:
        return len(frames) * (1 + 2 * suite_set.oracle + suite_set.unfitted)
    steps = [PLAYED[name][0] for name in suite_set.played] + [1] * suite_set.unfitted
    single = 2 * len(frames[::SINGLE_STEP]) if suite_set.unfitted else 0
    return single + sum(len(rows[::step]) for step in steps for _, rows in frames.sequences())


def _tracking(
    suite_set: SuiteSet,
    frames: FrameSequence,
    model: PoseModel,
    frame_step: int,
    gap_s: float,
    on_frame: Callable[[], object],
    fit: bool = True,
) -> dict[str, Any]:
    tracker = partial(Tracker, model.body)
    variants = (
        TrackingVariant(tracker),
        TrackingVariant(tracker, OneEuroSmoother),
        TrackingVariant(NearestPoseTracker),
    )
    find = partial(find_poses, model, whole_frames=suite_set.whole_frames, fit=fit)
    in_view = joints_in_view(model.body) if suite_set.whole_frames else 1
    named = dict(zip(TRACKERS, variants, strict=True))
    report = evaluate_tracks(frames.sequences(), find, named, in_view, frame_step, gap_s, on_frame)
    return report.to_dict()["trackers"]


@contextmanager
def damaged_figures(what: str | Path) -> Iterator[None]:
    """Convert the errors of figures that are missing, or of another type, to a FormatError that names ``what``."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(what, f"figures are missing or damaged ({error!r:.200}); score the suite again") from error


@dataclass(frozen=True, slots=True)
class SuiteFigures:
    """Figures of the suite: what was scored, and how each model did. Written as one JSON file."""

    sets: Mapping[str, Mapping[str, Any]]  #: by name: command, content, frames, and "models": name -> `score_set`
    identities: Mapping[str, str]  #: name of each model -> what its answers are decided by, a hash

    @classmethod
    def read(cls, path: Path) -> SuiteFigures:
        """Read a file of figures; an absent file has none. Raises FormatError for another kind of file."""
        if not path.is_file():
            return cls({}, {})
        data = read_json_object(path)
        if data.get("format") != FORMAT or data.get("version") != VERSION:
            raise FormatError(path, f"wanted figures of a suite, {FORMAT!r} version {VERSION}; give another folder")
        with damaged_figures(path):
            sets, identities = data["sets"], data["models"]
            scores = [own["models"] for own in sets.values()]
            objects = [sets, identities, *sets.values(), *scores, *(each for own in scores for each in own.values())]
            if not all(isinstance(each, dict) for each in objects):
                raise ValueError("sets, models and scores are objects")
            return cls(sets, identities)

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        data = {"format": FORMAT, "version": VERSION, "models": dict(self.identities), "sets": dict(self.sets)}
        replace_file(path, json.dumps(data, indent=1).encode() + b"\n")

    def has(self, name: str, content: str, model: str, identity: str, titles: Iterable[str] = ()) -> bool:
        """Whether a model was scored on just these frames, with figures of these titles among others."""
        known = self.sets.get(name, {})
        same_model = self.identities.get(model) == identity
        scores = known.get("models", {}).get(model)
        return same_model and known.get("content") == content and scores is not None and scores.keys() >= set(titles)

    def of_single_frames(self, model: str) -> dict[str, dict[str, Any]]:
        """Headline and joints of a model on every set of single frames, by a title that names the frames."""
        found = {}
        for name, own in self.sets.items():
            scores = own["models"].get(model, {}).get("model", {})
            if "headline" in scores:
                title = f"{name}: {own['frames']} frames, content {own['content']}"
                found[title] = {"headline": scores["headline"], "joints": scores["joints"]}
        return found

    def with_scores(
        self, name: str, about: Mapping[str, Any], model: str, identity: str, scores: Mapping[str, Any]
    ) -> SuiteFigures:
        """Return the figures with those of a model on a set added; figures of other frames or models are dropped."""
        known = self.sets.get(name, {})
        models = dict(known.get("models", {})) if known.get("content") == about["content"] else {}
        sets = {**self.sets, name: {**about, "models": {**models, model: scores}}}
        if self.identities.get(model) != identity:  # another model under this name: what it scored before is void
            sets = {
                each: {**own, "models": {m: s for m, s in own["models"].items() if m != model or each == name}}
                for each, own in sets.items()
            }
        return replace(self, sets=sets, identities={**self.identities, model: identity})
