"""Labelled frames in a row, whatever they come from, and which of them follow one another in time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, overload, runtime_checkable

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.frames import LabelledFrame


@dataclass(frozen=True, slots=True)
class SequenceRows:
    """Frames of a dataset or pack that follow one another in time, before a camera that stands still."""

    name: str  #: for messages and tables
    rows: range  #: in the dataset; frames in order of time
    scene: str = ""  #: what it shows, of `synth.sequences.SCENES`; empty = not known
    exact_joints: bool = True  #: a renderer's; joints that another system measured tremble themselves


@runtime_checkable
class InSequences(Protocol):
    """Frames that know which of them follow one another; any others are single frames."""

    @property
    def sequences(self) -> tuple[SequenceRows, ...]:
        """In the order of their rows."""


class LabelledFrames(Protocol):
    """What a `FrameSequence` is made of: a `Dataset`, or whatever else has frames with their truth."""

    body: BodyDefinition
    recipe: dict
    source_revision: str

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def content(self) -> str:
        """Names the frames: other frames have another."""

    @property
    def has_parts(self) -> bool:
        """Whether pixels are labelled with body parts; without, `LabelledFrame.parts` is 0 everywhere."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> LabelledFrame: ...


class FrameSequence(Sequence[LabelledFrame]):
    """Frames of one or more datasets of one body, in order; slices are views that read nothing.

    Raises ValueError when the bodies differ.
    """

    def __init__(self, datasets: Sequence[LabelledFrames], rows: range | None = None) -> None:
        if any(dataset.body != datasets[0].body for dataset in datasets):
            names = ", ".join(f"{d.name}: {d.body.name}" for d in datasets)
            raise ValueError(f"datasets used together must have one body, got {names}")
        self._datasets = datasets
        self._starts = np.array([0, *accumulate(len(d) for d in datasets)])
        self._rows = range(int(self._starts[-1])) if rows is None else rows

    @property
    def body(self) -> BodyDefinition:
        return self._datasets[0].body

    @property
    def recipes(self) -> list[dict]:
        """Recipe of every dataset."""
        return [dataset.recipe for dataset in self._datasets]

    @property
    def source_revisions(self) -> list[str]:
        """Of the program that made each dataset."""
        return [dataset.source_revision for dataset in self._datasets]

    @property
    def has_parts(self) -> bool:
        """Whether all pixels of people are labelled with body parts."""
        return all(dataset.has_parts for dataset in self._datasets)

    @property
    def identity(self) -> str:
        """Names the content: a hash of the datasets' contents and of the rows in use."""
        content = hashlib.sha256(repr(self._rows).encode())
        for dataset in self._datasets:
            content.update(dataset.content.encode())
        return content.hexdigest()[:16]

    def sequences(self) -> list[tuple[SequenceRows, FrameSequence]]:
        """Those of the datasets that have them, cut to the rows in use; a single frame is none."""
        found = []
        for dataset, start in zip(self._datasets, self._starts.tolist(), strict=False):
            for sequence in dataset.sequences if isinstance(dataset, InSequences) else ():
                own = range(start + sequence.rows.start, start + sequence.rows.stop)
                used = [place for place, row in enumerate(self._rows) if row in own]
                if len(used) > 1:
                    found.append((sequence, self[used[0] : used[-1] + 1]))
        return found

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> LabelledFrame: ...
    @overload
    def __getitem__(self, index: slice) -> FrameSequence: ...
    def __getitem__(self, index: int | slice) -> LabelledFrame | FrameSequence:
        if isinstance(index, slice):
            return FrameSequence(self._datasets, self._rows[index])
        row = self._rows[index]
        dataset = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._datasets[dataset][row - int(self._starts[dataset])]
