"""Ctrl-C, SIGTERM and a closed terminal: one line, exit code 130, and an end within seconds whatever the command does.

A signal raises KeyboardInterrupt, and commands close what they write. A compiler or a callback may swallow that
exception, and a long call into a library delays it. A thread therefore ends the process when the command has not ended
by itself. Nothing finished is lost: results and recordings are flushed frame by frame. While the files of a run are
completed the thread waits, and tells so; a further signal then ends the process.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from posepipe.processes.interrupts import STOP_SIGNALS, is_finishing

INTERRUPTED = 128 + 2
"""Exit code after Ctrl-C, as shells show it, and after SIGTERM."""
STOPPED = "posepipe: stopped; what was finished is kept"
FINISHING = "posepipe: stops when its files are complete; Ctrl-C once more leaves them incomplete"
MAX_UNWINDING_S = 3.0
"""Time that a command has to end by itself, seconds."""

_interrupted = False
_line = threading.Lock()  # held once `STOPPED` is printed, or about to be


@contextmanager
def watch_for_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C and SIGTERM, once, and end the process if that takes too long.

    Further signals are ignored, so that they do not disturb what is being closed. Outside the main thread this does
    nothing, because no other thread handles signals.
    """
    global _interrupted, _line
    _interrupted, _line = False, threading.Lock()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hooks = sys.unraisablehook, threading.excepthook
    handlers = {number: signal.signal(number, _interrupt) for number in STOP_SIGNALS}
    try:
        with _deadline_after_signals():
            yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.unraisablehook, threading.excepthook = hooks


def leave_at_signals() -> None:
    """Let Ctrl-C and SIGTERM end the process at once, where no command is running and nothing is open.

    While Python ends they are ignored: it could not handle them any more.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, _leave)
        atexit.register(signal.signal, number, signal.SIG_IGN)


def leave() -> NoReturn:
    """End this process as stopped, without waiting for threads that still run."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    os._exit(INTERRUPTED)


def was_interrupted() -> bool:
    """Return whether a signal came since `watch_for_interrupt`."""
    return _interrupted


def stop_if_interrupted() -> None:
    """Raise the KeyboardInterrupt that a compiler may have swallowed."""
    if _interrupted:
        raise KeyboardInterrupt


def say_stopped() -> None:
    """Print on standard error that the command was stopped, once."""
    from apps.terminal.plain_text import show  # imported late: `leave_at_signals` has no time to lose

    if _line.acquire(blocking=False):
        with suppress(OSError):  # the terminal may be closed
            show(STOPPED, sys.stderr)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _interrupted
    if not _interrupted:
        _interrupted = True
        sys.unraisablehook = lambda details: None  # what fails now fails because it was stopped
        threading.excepthook = lambda details: None
        if not is_finishing():  # a run that has ended completes its files
            raise KeyboardInterrupt


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    if _line.acquire(blocking=False):
        with suppress(OSError):
            os.write(2, f"{STOPPED}\n".encode())  # sys.stderr may be in the middle of a line
    os._exit(INTERRUPTED)


@contextmanager
def _deadline_after_signals() -> Iterator[None]:
    """End the process when the context is still open `MAX_UNWINDING_S` after a signal, or after what must be finished.

    A thread waits for the signal itself, not for its handler: the main thread may be busy in a library.
    """
    told, telling = socket.socketpair()  # Windows takes no pipe here
    telling.setblocking(False)
    done = threading.Event()

    def wait_for_signal() -> None:
        while (number := told.recv(1)) and number[0] not in STOP_SIGNALS:
            pass
        told.setblocking(False)
        is_told = False
        while number and not done.wait(MAX_UNWINDING_S):
            if (_received(told) and is_told) or not is_finishing():
                _end_process()
            if not is_told:
                _say_finishing()
            is_told = True

    before = signal.set_wakeup_fd(telling.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=wait_for_signal, name="posepipe-deadline", daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        done.set()
        telling.close()
        thread.join()
        told.close()


def _received(told: socket.socket) -> bool:
    """Whether signals came since the last call."""
    try:
        return bool(told.recv(1 << 10))
    except BlockingIOError:
        return False


def _say_finishing() -> None:
    from apps.terminal.plain_text import show_beside_bars

    with suppress(OSError):
        show_beside_bars(FINISHING)


def _end_process() -> NoReturn:
    """End this process and those that it started, without waiting for anything."""
    from apps.terminal.plain_text import shows_bar

    if (processes := sys.modules.get("multiprocessing")) is not None:
        for child in processes.active_children():
            child.kill()
    if shows_bar():
        with suppress(OSError):
            os.write(2, b"\n")
    _leave(signal.SIGINT, None)
