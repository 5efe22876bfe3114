"""A sink that passes results on to several others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from posepipe.results import FrameResult
from posepipe.sinks.frame_sink import FrameSink


class FanOutSink:
    """Writes every result to all of its sinks, in their order; a `FrameSink`."""

    def __init__(self, sinks: Sequence[FrameSink]) -> None:
        self._sinks = sinks
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:  # if a sink fails to open, those before it are closed
            for sink in self._sinks:
                opening.enter_context(sink)
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def write(self, result: FrameResult) -> None:
        """Write one result to every sink."""
        for sink in self._sinks:
            sink.write(result)
