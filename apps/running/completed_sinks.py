"""Sinks whose files a stopped command completes before it ends."""

from __future__ import annotations

from types import TracebackType

from posepipe.io.interrupts import finishing
from posepipe.sinks.fan_out import FanOutSink


class CompletedSinks(FanOutSink):
    """Several sinks that are closed after Ctrl-C, too, however long that takes.

    A video cannot be played before, and the motion of people is in memory alone.
    """

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with finishing():
            super().__exit__(kind, error, trace)
