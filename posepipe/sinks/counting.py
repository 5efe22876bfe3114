"""A sink that counts frames, for progress bars and summaries."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from posepipe.results import FrameResult


class CountingSink:
    """Counts all frames and frames with people; a `FrameSink`.

    Parameters
    ----------
    on_frame : called after every frame
    """

    def __init__(self, on_frame: Callable[[], object] = lambda: None) -> None:
        self.frames = 0
        self.frames_with_people = 0
        self._on_frame = on_frame

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def write(self, result: FrameResult) -> None:
        """Count one frame."""
        self.frames += 1
        self.frames_with_people += bool(result.people)
        self._on_frame()
