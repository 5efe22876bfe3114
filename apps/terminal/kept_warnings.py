"""Warnings of a worker, kept for the command that waits for its answer: nobody reads what a worker prints."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Give a list that fills with the warnings which this thread logs while the context is open."""
    kept = _Kept()
    root = logging.getLogger()
    root.addHandler(kept)
    try:
        yield kept.lines
    finally:
        root.removeHandler(kept)


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self.lines.append(record.getMessage())
