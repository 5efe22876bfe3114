"""Labelled frames of one or more datasets, and their sequences: frames that follow one another in time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, overload, runtime_checkable

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Extrinsics
from posepipe.frames import LabelledFrame


@dataclass(frozen=True, slots=True)
class SequenceRows:
    """Consecutive frames of a dataset or pack, taken by a static camera."""

    name: str  #: for messages and tables
    rows: range  #: rows in the dataset, in order of time
    scene: str = ""  #: scenario, from `synth.motion.motion_plans.SCENARIOS`; empty = unknown
    exact_joints: bool = True  #: True for rendered joints; measured joints have jitter of their own
    extrinsics: Extrinsics | None = None  #: pose of the camera, of scenes that several cameras see; None = unknown


@runtime_checkable
class HasSequences(Protocol):
    """Frames with known sequences. All other frames count as single frames."""

    @property
    def sequences(self) -> tuple[SequenceRows, ...]:
        """All sequences, in the order of their rows."""


class LabelledFrames(Protocol):
    """Input of a `FrameSequence`: a `Dataset`, or any other container of labelled frames."""

    body: BodyDefinition
    recipe: dict
    source_revision: str

    @property
    def name(self) -> str:
        """Name for messages."""

    @property
    def content(self) -> str:
        """Text that identifies the frames: different frames have different text."""

    @property
    def has_parts(self) -> bool:
        """Whether pixels are labelled with body parts; otherwise `LabelledFrame.parts` is 0 everywhere."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> LabelledFrame: ...


class FrameSequence(Sequence[LabelledFrame]):
    """Frames of one or more datasets of one body, in order; slices are views that read nothing.

    Parameters
    ----------
    datasets : at least one
    rows : frames to use, counted over all datasets; None = all

    Raises
    ------
    ValueError
        When the bodies differ.
    """

    def __init__(self, datasets: Sequence[LabelledFrames], rows: Sequence[int] | None = None) -> None:
        if any(dataset.body != datasets[0].body for dataset in datasets):
            names = ", ".join(f"{d.name}: {d.body.name}" for d in datasets)
            raise ValueError(f"datasets used together must have one body, got {names}")
        self._datasets = datasets
        self._starts = np.array([0, *accumulate(len(d) for d in datasets)])
        self._rows: Sequence[int] = range(int(self._starts[-1])) if rows is None else rows

    @property
    def body(self) -> BodyDefinition:
        """Body definition that all datasets share."""
        return self._datasets[0].body

    @property
    def recipes(self) -> list[dict]:
        """Recipes of the datasets, one each."""
        return [dataset.recipe for dataset in self._datasets]

    @property
    def source_revisions(self) -> list[str]:
        """Revisions of the program that made the datasets, one each."""
        return [dataset.source_revision for dataset in self._datasets]

    @property
    def has_parts(self) -> bool:
        """Whether all pixels of people are labelled with body parts."""
        return all(dataset.has_parts for dataset in self._datasets)

    @property
    def identity(self) -> str:
        """Hash of the datasets' contents and of the rows in use, 16 hexadecimal digits."""
        content = hashlib.sha256(repr(self._rows).encode())
        for dataset in self._datasets:
            content.update(dataset.content.encode("utf-8", "surrogatepass"))
        return content.hexdigest()[:16]

    def check_joints(self, body: BodyDefinition) -> None:
        """Raise ValueError unless the frames show subjects with the joints of a model's body; parts may differ."""
        if self.body.joints != body.joints:
            raise ValueError(
                f"a model of body {body.name!r} needs frames with its {len(body.joints)} joints, and these show"
                f" {self.body.name!r}; give frames of {body.name!r}"
            )

    def sequences(self) -> list[tuple[SequenceRows, FrameSequence]]:
        """Sequences of the datasets, restricted to the rows in use; single frames do not count."""
        found, rows = [], np.asarray(self._rows, np.int64)
        for dataset, start in zip(self._datasets, self._starts.tolist(), strict=False):
            for sequence in dataset.sequences if isinstance(dataset, HasSequences) else ():
                first, stop = start + sequence.rows.start, start + sequence.rows.stop
                used = np.flatnonzero((rows >= first) & (rows < stop)).tolist()
                if len(used) > 1:
                    found.append((sequence, self[used[0] : used[-1] + 1]))
        return found

    def dataset_of_rows(self) -> np.ndarray:
        """Number of the dataset, from 0, that each frame comes from: int64 (N,)."""
        return np.searchsorted(self._starts, np.asarray(self._rows, np.int64), side="right") - 1

    def select(self, rows: np.ndarray) -> FrameSequence:
        """View of some frames, by their places in this sequence, int (N,)."""
        return FrameSequence(self._datasets, tuple(self._rows[row] for row in rows.tolist()))

    def at_most(self, count: int) -> FrameSequence:
        """View of every k-th frame from the first, with the smallest k for which at most ``count`` frames remain."""
        return self[:: max(1, -(-len(self) // count))]

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
