"""Progress bars with a rate and the time left, on standard error."""

from __future__ import annotations

import sys

from tqdm import tqdm

from apps.terminal.interrupts import stop_if_interrupted
from apps.terminal.plain_text import plain


class ProgressBar:
    """Bar that appears with its first unit; prints occasional lines where standard error is no terminal.

    Parameters
    ----------
    total : int or None, units expected; None = unknown
    what : str, name of the work, shown before the bar
    unit : str, name of the units, in the plural
    """

    def __init__(self, total: int | None, what: str, unit: str) -> None:
        self._total, self._what, self._unit = total, what, unit
        self._bar: tqdm | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, count: int = 1) -> None:
        """Count units. Raises KeyboardInterrupt if Ctrl-C was swallowed before."""
        stop_if_interrupted()
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
        stop_if_interrupted()
        tqdm.write(plain(line))
