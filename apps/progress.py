"""Progress bars with a rate and the time left, on standard error; and Ctrl-C that is never lost."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

from tqdm import tqdm

_interrupted = False


def watch_for_interrupt() -> None:
    """Remember Ctrl-C besides raising KeyboardInterrupt, which is swallowed while a kernel compiles."""
    global _interrupted
    _interrupted = False
    if threading.current_thread() is threading.main_thread():
        for asked_to_end in (signal.SIGINT, signal.SIGTERM):  # the latter is how services and containers ask
            signal.signal(asked_to_end, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Whether Ctrl-C was pressed since `watch_for_interrupt`."""
    return _interrupted


class ProgressBar:
    """A bar that appears with its first unit; quiet lines instead of redrawing where nobody watches."""

    def __init__(self, total: int | None, what: str, unit: str) -> None:
        self._total, self._what, self._unit = total, what, unit
        self._bar: tqdm | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, count: int = 1) -> None:
        """Count units. Raises KeyboardInterrupt when Ctrl-C was swallowed before."""
        if _interrupted:
            raise KeyboardInterrupt
        if self._bar is None:
            watched = sys.stderr.isatty()
            self._bar = tqdm(
                total=self._total,
                desc=self._what,
                unit=f" {self._unit}",
                dynamic_ncols=watched,
                mininterval=0.2 if watched else 10,
                smoothing=0.1,
                file=sys.stderr,
            )
        self._bar.update(count)

    def write(self, line: str) -> None:
        """Print a line on standard output without disturbing the bar."""
        if _interrupted:
            raise KeyboardInterrupt
        tqdm.write(line)
