"""Ctrl-C that is never lost, and that waits where it must."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_interrupted = False


def watch_for_interrupt() -> None:
    """Remember Ctrl-C besides raising KeyboardInterrupt, because a compiling kernel swallows the exception.

    SIGTERM, by which services and containers ask a program to end, counts as Ctrl-C.
    """
    global _interrupted
    _interrupted = False
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt)


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed since `watch_for_interrupt`."""
    return _interrupted


def stop_if_interrupted() -> None:
    """Raise the KeyboardInterrupt that a compiler may have swallowed."""
    if _interrupted:
        raise KeyboardInterrupt


@contextmanager
def delayed_interrupt() -> Iterator[None]:
    """Let Ctrl-C wait until the context is left, so that it does not strike in the middle of a write."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[tuple[int, FrameType | None]] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: pressed.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pressed and callable(handler):
        handler(*pressed[-1])


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt
