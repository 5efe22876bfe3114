"""Several sinks at once, and a sink that only counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from posepipe.results import FrameResult

if TYPE_CHECKING:
    from posepipe.sinks import FrameSink


class ManySinks:
    """Hands every result to all of its sinks, in their order."""

    def __init__(self, sinks: Sequence[FrameSink]) -> None:
        self._sinks = sinks
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:  # if one fails to open, those before it are closed
            for sink in self._sinks:
                opening.enter_context(sink)
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def write(self, result: FrameResult) -> None:
        for sink in self._sinks:
            sink.write(result)


class CountingSink:
    """Counts frames and those with somebody in view; tells a progress bar."""

    def __init__(self, on_frame: Callable[[], object] = lambda: None) -> None:
        self.frames = 0
        self.with_people = 0
        self._on_frame = on_frame

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def write(self, result: FrameResult) -> None:
        self.frames += 1
        self.with_people += bool(result.people)
        self._on_frame()
