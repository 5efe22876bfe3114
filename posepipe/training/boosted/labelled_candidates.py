"""Candidates of many frames, or regions of candidates, with their evidence, told to be people or not by the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.errors import counted
from posepipe.frames import LabelledFrame
from posepipe.training.check_frames import ROOMS


class LabelledCandidates(NamedTuple):
    """Evidence, and what it is evidence of."""

    evidence: np.ndarray  #: float32 (N, E)
    is_person: np.ndarray  #: bool (N,)
    row: np.ndarray  #: int64 (N,), of the frame
    empty_rows: np.ndarray  #: int64 (M,), frames without people

    @classmethod
    def join(cls, blocks: list[LabelledCandidates]) -> LabelledCandidates:
        """Put the candidates of several sets of frames one after another; their rows stay."""
        return cls(*(np.concatenate(each) for each in zip(*blocks, strict=True)))

    def of_rows(self, rows: np.ndarray) -> LabelledCandidates:
        """The same candidates, counted among more frames: ``rows``, int64, are those that these frames have there."""
        return self._replace(row=rows[self.row], empty_rows=rows[self.empty_rows])

    def check(
        self, n_frames: int, learner: str, candidate: str = "candidate", others: str = "furniture", seen: str = ""
    ) -> None:
        """Raise ValueError where nothing can be learned from these candidates of so many frames.

        The message names the learner, what it is shown, what is no person there, and which of them it is shown.
        """
        if not len(self.row):
            raise ValueError(f"{counted(n_frames, 'frame')} gave no {candidate}{seen}; {ROOMS}")
        if self.is_person.all() or not self.is_person.any():
            kind = "people" if self.is_person.any() else others
            raise ValueError(
                f"{learner} learns from people and from {others}; of {counted(len(self.row), candidate)} in"
                f" {counted(n_frames, 'frame')} all are {kind}; {ROOMS}"
            )


class CandidateLog:
    """Labelled candidates as they are kept, frame by frame; there are ``size`` numbers of each."""

    def __init__(self, size: int) -> None:
        self._evidence: list[np.ndarray] = []
        self._is_person: list[bool] = []
        self._rows: list[int] = []
        self._empty_rows: list[int] = []
        self._size = size

    def start_frame(self, row: int, frame: LabelledFrame) -> None:
        """Start a frame, the ``row``-th of all."""
        self._row = row
        if not frame.people.any():
            self._empty_rows.append(row)

    def keep(self, evidence: np.ndarray, is_person: bool) -> None:
        """Keep a candidate of this frame."""
        self._evidence.append(evidence)
        self._is_person.append(is_person)
        self._rows.append(self._row)

    def candidates(self) -> LabelledCandidates:
        """All that was kept."""
        return LabelledCandidates(
            np.array(self._evidence, np.float32).reshape(len(self._rows), self._size),
            np.array(self._is_person, bool),
            np.array(self._rows, np.int64),
            np.array(self._empty_rows, np.int64),
        )
