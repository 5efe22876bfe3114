"""Where results go."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import JsonLinesSink, read_results

__all__ = ["FrameSink", "JsonLinesSink", "read_results"]


class FrameSink(Protocol):
    """A context manager that takes one result after another."""

    def write(self, result: FrameResult) -> None:
        """Take one result; it is on its way to the disk when this returns."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
