"""Candidates of many frames, or regions of candidates, with their evidence, told to be people or not by the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class LabelledCandidates(NamedTuple):
    """Evidence, and what it is evidence of."""

    evidence: np.ndarray  #: float32 (N, E)
    is_person: np.ndarray  #: bool (N,)
    row: np.ndarray  #: int64 (N,), of the frame
    empty_rows: np.ndarray  #: int64 (M,), frames without people

    @classmethod
    def of(
        cls, evidence: list[np.ndarray], is_person: list[bool], row: list[int], empty: list[int], size: int
    ) -> LabelledCandidates:
        """Put together what was collected; there are ``size`` numbers of each candidate."""
        table = np.array(evidence, np.float32).reshape(len(row), size)
        return cls(table, np.array(is_person, bool), np.array(row, np.int64), np.array(empty, np.int64))

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
            raise ValueError(f"these {n_frames} frames give no {candidate}{seen}; give other frames")
        if self.is_person.all() or not self.is_person.any():
            kind = "people" if self.is_person.any() else others
            raise ValueError(
                f"{learner} learns from people and from {others}; all {len(self.row)} {candidate}s of these"
                f" {n_frames} frames are {kind}"
            )
