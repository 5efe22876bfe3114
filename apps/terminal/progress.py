"""Progress bars with a rate and the time left, on standard error; lines where that is no terminal."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

from apps.terminal.interrupts import stop_if_interrupted
from apps.terminal.plain_text import plain, show

LINE_S = 10.0
"""Time between two lines where standard error is no terminal."""


class ProgressBar:
    """Bar that appears with its first unit; prints a line now and then where standard error is no terminal.

    Parameters
    ----------
    total : int or None, units expected; None = unknown, as it is once more have come
    what : str, name of the work, shown before the bar
    unit : str, name of the units, in the plural
    """

    def __init__(self, total: int | None, what: str, unit: str) -> None:
        self._total, self._what, self._unit = total, what, unit
        self._bar: tqdm | _Lines | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, count: int = 1, note: str = "") -> None:
        """Count units, and say more behind them. Raises KeyboardInterrupt if Ctrl-C was swallowed before."""
        stop_if_interrupted()
        if self._bar is None:
            self._bar = self._open()
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(count)

    def _open(self) -> tqdm | _Lines:
        if not sys.stderr.isatty():
            return _Lines(self._total, self._what, self._unit)
        return tqdm(
            total=self._total,
            desc=self._what,
            unit=f" {self._unit}",
            dynamic_ncols=True,
            mininterval=0.2,
            smoothing=0.1,
            file=sys.stderr,
        )

    def write(self, line: str) -> None:
        """Print a line on standard output without disturbing the bar."""
        stop_if_interrupted()
        tqdm.write(plain(line))


class _Lines:
    """Progress as whole lines, for logs: a bar that moves the cursor would fill them with its codes."""

    def __init__(self, total: int | None, what: str, unit: str) -> None:
        self._total, self._what, self._unit = total, what, unit
        self._count, self._printed, self._note = 0, -1, ""
        self._start_s = self._line_s = time.monotonic()

    def set_postfix_str(self, note: str, refresh: bool) -> None:
        self._note = f", {note}"

    def update(self, count: int) -> None:
        self._count += count
        if time.monotonic() - self._line_s >= LINE_S:
            self._print()

    def close(self) -> None:
        if self._count != self._printed:
            self._print()

    def _print(self) -> None:
        self._line_s, self._printed = time.monotonic(), self._count
        rate = self._count / max(self._line_s - self._start_s, 1e-9)
        of = "" if self._total is None or self._count > self._total else f"/{self._total}"  # as the bar
        left = max((self._total or 0) - self._count, 0) / max(rate, 1e-9)
        then = f", {tqdm.format_interval(left)} left" if left else ""
        show(f"{self._what}: {self._count}{of} {self._unit}, {rate:.1f} {self._unit}/s{then}{self._note}", sys.stderr)
