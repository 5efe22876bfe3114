"""Standard streams that the caller closed, as a service without a terminal may: what is written to them is discarded.

Otherwise Python has no object to print with, and the next file that is opened takes the number of the closed stream:
what a library prints would go into it.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

_STREAMS = 3


def replace_closed_streams() -> None:
    """Connect standard input, output and error to the null device where they are closed."""
    for number in range(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
            os.set_inheritable(opened, True)  # processes that are started here lack it, too
    sys.stdout = sys.stdout or _discarding()
    sys.stderr = sys.stderr or _discarding()


def _discarding() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # open as long as the process
