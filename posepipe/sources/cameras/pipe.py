"""``camera:pipe:PATH``: depth frames that another program writes to a named pipe, a file, or standard input."""

from __future__ import annotations

import logging
import os
import select
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import FormatError, SourceError
from posepipe.sources.cameras.depth_camera import CameraFrame
from posepipe.sources.cameras.wire import WireError, WireHeader, WireReader

SENDER_WAIT_S = 60.0
"""Maximum wait for a sender's header."""
STANDARD_INPUT = "-"

_POLL_S = 0.1
_log = logging.getLogger(__name__)


class PipeCamera:
    """Depth frames from a pipe. The source ends when the sender closes the pipe.

    Parameters
    ----------
    name : what the user called it
    path : a named pipe, a file with the output of a sender, or ``-`` for standard input
    calibration : replaces the sender's intrinsics

    Raises
    ------
    SourceError
        Without a path, and on Windows.
    """

    intrinsics: Intrinsics
    shape: tuple[int, int]
    waits = True
    recorded = False

    def __init__(self, name: str, path: str, calibration: CameraFile | None = None) -> None:
        self.name = name
        if not path:
            raise SourceError(name, "which pipe? camera:pipe:PATH, or camera:pipe:- for standard input")
        if os.name == "nt":
            raise SourceError(name, "pipes are not read on Windows; send to camera:socket:PORT")
        self._path = path
        self._calibration = calibration
        self._descriptor: int | None = None
        self._reader = WireReader(self.name, self._receive)

    def open(self, stop: Event) -> None:
        """Open the pipe and read the header. Raises SourceError where no sender answers."""
        if self._descriptor is not None:  # keep the pipe of a silent sender: reopening would break it
            return
        try:
            self._descriptor = self._open_path()
        except OSError as error:
            raise SourceError(self.name, error.strerror or str(error)) from error
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)
        header = self._read_header(stop)
        self.shape = (header.height, header.width)
        with self._wire_errors():
            self.intrinsics = header.intrinsics_or(self._calibration, self.name)

    def _open_path(self) -> int:
        if self._path == STANDARD_INPUT:
            if sys.__stdin__ is None or sys.__stdin__.isatty():
                raise SourceError(self.name, "standard input is a terminal; pipe a sender into it")
            return os.dup(sys.__stdin__.fileno())
        mode = Path(self._path).stat().st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(self.name, "is a folder; wanted a named pipe (mkfifo) or a file")
        self.recorded = stat.S_ISREG(mode)
        return os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)  # a blocking open would ignore Ctrl-C

    def _read_header(self, stop: Event) -> WireHeader:
        deadline = time.monotonic() + SENDER_WAIT_S
        logged = False
        with self._wire_errors():
            while not stop.is_set() and time.monotonic() < deadline:
                try:
                    header = self._reader.read_header(_POLL_S)
                except EOFError:
                    raise WireError("empty: the sender ended before it sent anything") from None
                if header is not None:
                    return header
                if self._reader.silent and not logged:
                    logged = True
                    _log.info("%s: waiting for a sender", self.name)
        raise SourceError(self.name, f"no header came within {SENDER_WAIT_S:g} s")

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None after the timeout.

        Raises
        ------
        FormatError
            When the stream is cut or damaged.
        EOFError
            When the sender has closed the pipe.
        """
        with self._wire_errors():
            return self._reader.read(timeout_s)

    def _receive(self, buffer: memoryview, timeout_s: float) -> int | None:
        assert self._descriptor is not None
        if not self._poll.poll(timeout_s * 1000):
            return None
        try:
            return os.readv(self._descriptor, [buffer])
        except BlockingIOError:
            return None

    @contextmanager
    def _wire_errors(self) -> Iterator[None]:
        try:
            yield
        except (WireError, OSError) as error:  # final: there is no second stream
            raise FormatError(self.name, str(error)) from error

    def close(self) -> None:
        """Close the pipe."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
