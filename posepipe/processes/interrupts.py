"""Ctrl-C, SIGTERM and a closed terminal: steps that must be whole before they strike, and work finished after them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType

_HANG_UP: tuple[signal.Signals, ...] = (signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()  # not on Windows
STOP_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    *(number for number in _HANG_UP if signal.getsignal(number) != signal.SIG_IGN),  # which nohup has ignored
)
"""Signals by which users, services, containers and a terminal that is closed ask a program to end."""


@contextmanager
def delayed_interrupt() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the context is left, so that they do not strike in the middle of a write."""
    if threading.current_thread() is not threading.main_thread():  # no other thread handles signals
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []
    before = {number: handler for number in STOP_SIGNALS if (handler := signal.getsignal(number)) is not None}
    try:
        for number in before:
            signal.signal(number, lambda number, frame: waiting.append((number, frame)))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if waiting:
        _handle(*waiting[-1])


_finishing = 0


@contextmanager
def finishing() -> Iterator[None]:
    """Mark work that a stopped program must finish, however long it takes: what is lost otherwise."""
    global _finishing
    _finishing += 1
    try:
        yield
    finally:
        _finishing -= 1


def is_finishing() -> bool:
    """Whether such work is going on, in any thread."""
    return _finishing > 0


@contextmanager
def blocked_in_children(signals: Iterable[signal.Signals]) -> Iterator[None]:
    """Block signals in processes and threads that are started in the context; they inherit the mask of this thread."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # starts with the first process, and would unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _handle(number: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(number)
    if callable(handler):
        handler(number, frame)
    else:  # the system's answer: ignore it, or end the process
        signal.raise_signal(number)
