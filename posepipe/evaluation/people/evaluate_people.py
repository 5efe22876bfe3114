"""Evaluation of people in whole frames: run a pipeline on labelled frames, and count who is found, missed and false."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from posepipe.evaluation.people.people_frames import PeopleFrames
from posepipe.evaluation.people.people_scores import PeopleScores
from posepipe.evaluation.people.person_labels import FrameLabels
from posepipe.evaluation.people.person_matching import Matches, PersonCentre, centre_of, match_people, torso_depth_m
from posepipe.evaluation.people.still_camera import still_camera
from posepipe.pipeline import Pipeline
from posepipe.results import FrameResult

MAX_WORST = 24
"""Number of frames that are kept for pictures."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedFrame:
    """A frame with the people found in it, and what became of its labels."""

    source: str
    result: FrameResult
    labels: FrameLabels
    centres: tuple[PersonCentre, ...]  #: of the people found
    matches: Matches

    @property
    def errors(self) -> int:
        """Number of people missed and false."""
        return len(self.matches.missed) + len(self.matches.false)


@dataclass(slots=True, eq=False)
class PeopleReport:
    """Figures of one pipeline on labelled frames, and the frames with the most errors."""

    scores: PeopleScores = field(default_factory=PeopleScores)
    unmatchable: int = 0  #: people to be found whose torso has no reading: nobody fits them
    _worst: list[tuple[int, int, JudgedFrame]] = field(default_factory=list)

    def add(self, judged: JudgedFrame) -> None:
        """Count one frame."""
        self.scores.add(judged.labels, judged.matches)
        depth_m = judged.result.frame.depth_m
        counted = (label for label in judged.labels.people if not label.ignore)
        self.unmatchable += sum(torso_depth_m(label, depth_m) is None for label in counted)
        if judged.errors:
            entry = (judged.errors, -self.scores.all.frames, judged)  # of equals the earlier frame
            (heapq.heappush if len(self._worst) < MAX_WORST else heapq.heappushpop)(self._worst, entry)

    @property
    def worst(self) -> list[JudgedFrame]:
        """At most MAX_WORST frames with errors, those with the most first."""
        return [judged for *_, judged in sorted(self._worst, key=lambda entry: entry[:2], reverse=True)]

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON."""
        return self.scores.figures()

    def text(self) -> str:
        """Format the figures for the terminal."""
        return self.scores.text()


def evaluate_people(
    pipeline: Pipeline,
    frames: PeopleFrames,
    played: bool = False,
    repeat_s: float = 0.0,
    on_frame: Callable[[], object] = lambda: None,
) -> PeopleReport:
    """Find the people of frames, and compare them with the labels.

    Parameters
    ----------
    pipeline : without tracking, unless frames are played or repeated
    frames : PeopleFrames
    played : play whole sequences; otherwise each labelled frame is judged alone
    repeat_s : show each frame for so many seconds as a still camera would, and judge the last; 0 = once
    on_frame : called after every labelled frame

    Returns
    -------
    PeopleReport
    """
    report = PeopleReport()
    for source, result, labels in _results(pipeline, frames, played, repeat_s):
        found = (centre_of(track.pose, result.frame) for track in result.people)
        centres = tuple(centre for centre in found if centre is not None)
        matches = match_people(centres, labels.people, result.frame.depth_m)
        report.add(JudgedFrame(source, result, labels, centres, matches))
        on_frame()
    return report


def _results(
    pipeline: Pipeline, frames: PeopleFrames, played: bool, repeat_s: float
) -> Iterator[tuple[str, FrameResult, FrameLabels]]:
    """Name of the source, result and labels of every labelled frame."""
    if played:
        for source, sequence in frames.played():
            pipeline.reset()
            for frame, labels in sequence:
                result = pipeline.step(frame)
                if labels is not None:
                    yield source, result, labels
        return
    for source, frame, labels in frames.single_frames():
        pipeline.reset()
        for repeated in still_camera(frame, repeat_s):
            result = pipeline.step(repeated)
        yield source, result, labels
