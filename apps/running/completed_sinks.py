"""Sinks whose files a stopped command completes before it ends, and whose failures to do so are all told."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from posepipe.errors import PosepipeError
from posepipe.processes.interrupts import finishing
from posepipe.results import FrameResult
from posepipe.sinks.fan_out import FanOutSink
from posepipe.sinks.frame_sink import FrameSink

_log = logging.getLogger(__name__)


class CompletedSinks(FanOutSink):
    """Several sinks that are closed after Ctrl-C, too, however long that takes.

    A video cannot be played before, and the motion of people is in memory alone.

    Raises
    ------
    PosepipeError
        On closing, with the lines of all sinks that cannot be closed. Where another error comes first, they are logged.
    """

    def __init__(self, sinks: Sequence[FrameSink]) -> None:
        self._failures: list[PosepipeError] = []  # of sinks that were closed, the last sink first
        super().__init__([_Closed(sink, self._failures) for sink in sinks])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with finishing():
            super().__exit__(kind, error, trace)
        failures = [each for each in reversed(self._failures) if str(each) != str(error)]  # a full disk fails twice
        if error is None and len(failures) == 1:
            raise failures[0]
        if error is None and failures:
            raise PosepipeError("; ".join(map(str, failures))) from failures[0]
        for failure in failures:
            _log.warning("%s", failure)


@dataclass(frozen=True, slots=True)
class _Closed:
    """A sink whose failure to close hides neither that of another, nor the error that ended the run."""

    sink: FrameSink
    failures: list[PosepipeError]  #: to which its own is added

    def __enter__(self) -> Self:
        self.sink.__enter__()
        return self

    def write(self, result: FrameResult) -> None:
        """Write one result."""
        self.sink.write(result)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.sink.__exit__(kind, error, trace)
        except PosepipeError as failure:
            self.failures.append(failure)
