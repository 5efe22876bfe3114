"""Labelled frames in memory, in place of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

from posepipe.body import BodyDefinition
from posepipe.frames import LabelledFrame
from tests.support.toy_person import TOY


@dataclass
class FramesInMemory:
    """Labelled frames as a dataset of their own."""

    frames: list[LabelledFrame]
    body: BodyDefinition = TOY
    recipe: dict | None = None
    source_revision: str = "here"
    name: str = "memory"
    has_parts: bool = True

    @property
    def content(self) -> str:
        return f"{[frame.depth.index for frame in self.frames]}"

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: int) -> LabelledFrame:
        return self.frames[index]
