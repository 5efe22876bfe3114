"""The protocol of every sink."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from posepipe.results import FrameResult


class FrameSink(Protocol):
    """A context manager that takes one result after another.

    A pipeline enters the sink before the first frame and leaves it after the last, also after an error. Open files and
    connections in ``__enter__``, close them in ``__exit__``. Raise PosepipeError if the output cannot be written.

    Examples
    --------
    >>> from posepipe.sinks import FrameSink
    >>> class PrintSink:
    ...     def __enter__(self):
    ...         return self
    ...
    ...     def write(self, result):
    ...         print(result.frame.index, [track.id for track in result.people])
    ...
    ...     def __exit__(self, kind, error, trace):
    ...         pass
    >>> sink: FrameSink = PrintSink()
    """

    def write(self, result: FrameResult) -> None:
        """Take one result. Its data must survive a kill of the process after this returns."""

    def __enter__(self) -> Self:
        """Open the output."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Finish and close the output."""


class WatchingSink:
    """Base of sinks that look at results and have no output, so that nothing is opened or closed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
