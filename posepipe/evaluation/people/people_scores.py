"""Counts of people found, missed and false, and the shares that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from posepipe.evaluation.people.person_labels import FrameLabels
from posepipe.evaluation.people.person_matching import Matches


@dataclass(slots=True)
class PeopleTally:
    """Counts of one place, one state, or all.

    With F found, M missed and W false: recall F / (F + M), precision F / (F + W).
    """

    frames: int = 0
    found: int = 0
    missed: int = 0
    false: int = 0

    @property
    def labelled(self) -> int:
        """Number of people to be found."""
        return self.found + self.missed

    @property
    def recall(self) -> float | None:
        """Share of labelled people who are found; None without any."""
        return _share(self.found, self.labelled)

    @property
    def precision(self) -> float | None:
        """Share of people found who are there, ignored ones left out; None without any."""
        return _share(self.found, self.found + self.false)

    @property
    def false_per_frame(self) -> float | None:
        """Mean number of false people in a frame; None without frames."""
        return _share(self.false, self.frames)


@dataclass(slots=True)
class PeopleScores:
    """Counts over many frames."""

    all: PeopleTally = field(default_factory=PeopleTally)
    by_state: dict[str, PeopleTally] = field(default_factory=dict)  #: found and missed alone: a false person has none
    by_visible: dict[str, PeopleTally] = field(default_factory=dict)  #: found and missed alone
    by_place: dict[str, PeopleTally] = field(default_factory=dict)
    ignored: int = 0  #: people found who count neither way
    with_false: int = 0  #: frames with a false person
    empty: int = 0  #: frames in which nobody is
    empty_with_false: int = 0  #: those of them with a false person

    def add(self, labels: FrameLabels, matches: Matches) -> None:
        """Count one frame."""
        for tally in (self.all, self.by_place.setdefault(labels.place, PeopleTally())):
            tally.frames += 1
            tally.found += len(matches.found)
            tally.missed += len(matches.missed)
            tally.false += len(matches.false)
        for row in (*matches.found, *matches.missed):
            person = labels.people[row]
            for tallies, word in ((self.by_state, person.state), (self.by_visible, person.visible)):
                tally = tallies.setdefault(word, PeopleTally())
                tally.found += row in matches.found
                tally.missed += row not in matches.found
        self.ignored += len(matches.ignored)
        self.with_false += bool(matches.false)
        self.empty += labels.empty
        self.empty_with_false += labels.empty and bool(matches.false)

    def figures(self) -> dict[str, Any]:
        """Every figure, ready for JSON; None = nothing to measure."""
        return {
            **_tally_figures(self.all),
            "share of frames with a false person": _share(self.with_false, self.all.frames),
            "empty frames": self.empty,
            "empty frames with a false person": self.empty_with_false,
            "ignored": self.ignored,
            "by state": {word: _recall_figures(tally) for word, tally in sorted(self.by_state.items())},
            "by visible": {word: _recall_figures(tally) for word, tally in sorted(self.by_visible.items())},
            "by place": {place: _tally_figures(tally) for place, tally in self.by_place.items()},
        }

    def text(self) -> str:
        """Format the figures for the terminal."""
        lines = [_row("", ("frames", "labelled", "found", "missed", "false", "a frame", "recall", "precision"))]
        lines += [_tally_row("all", self.all)]
        if len(self.by_place) > 1:
            lines += [_tally_row(f"  {place}", tally) for place, tally in self.by_place.items()]
        for title, tallies in (("state", self.by_state), ("visible", self.by_visible)):
            shares = [f"{word} {t.found}/{t.labelled} ({t.recall:.3f})" for word, t in sorted(tallies.items())]
            lines += [f"found by {title}:  " + "  ".join(shares)] if shares else []
        if self.empty:
            share = self.empty_with_false / self.empty
            lines += [f"empty frames with a false person:  {self.empty_with_false}/{self.empty} ({share:.3f})"]
        lines += [f"people who count neither way:  {self.ignored}"] if self.ignored else []
        return "\n".join(lines)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _tally_figures(tally: PeopleTally) -> dict[str, float | None]:
    return {
        "frames": tally.frames,
        "people": tally.labelled,
        "found": tally.found,
        "missed": tally.missed,
        "false": tally.false,
        "recall": tally.recall,
        "precision": tally.precision,
        "false people a frame": tally.false_per_frame,
    }


def _recall_figures(tally: PeopleTally) -> dict[str, float | None]:
    return {"people": tally.labelled, "found": tally.found, "recall": tally.recall}


def _tally_row(title: str, tally: PeopleTally) -> str:
    counts = map(str, (tally.frames, tally.labelled, tally.found, tally.missed, tally.false))
    shares = (tally.false_per_frame, tally.recall, tally.precision if tally.labelled else None)
    return _row(title, (*counts, *("-" if share is None else f"{share:.3f}" for share in shares)))


def _row(title: str, cells: Sequence[str]) -> str:
    return f"{title:26s}" + "".join(f"{cell:>11s}" for cell in cells)
