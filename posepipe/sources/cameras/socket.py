"""``camera:socket:[HOST:]PORT``: depth frames that another program sends over TCP.

The camera listens on the loopback address unless another host is named. It accepts one sender at a time.
"""

from __future__ import annotations

import logging
import socket
import time
from threading import Event

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import SourceError
from posepipe.loopback import LOOPBACK, is_loopback
from posepipe.sources.cameras.depth_camera import CameraFrame
from posepipe.sources.cameras.wire import WireError, WireHeader, WireReader

SENDER_WAIT_S = 60.0
"""Maximum wait for the first sender."""
RETURN_WAIT_S = 10.0
"""Maximum wait for the next sender, per attempt."""
HEADER_WAIT_S = 5.0
"""Maximum wait for the header of a sender that has connected."""

_POLL_S = 0.1
_log = logging.getLogger(__name__)


class SocketCamera:
    """Depth frames from senders that connect to a port.

    Parameters
    ----------
    name : what the user called it
    place : ``PORT`` or ``HOST:PORT``; port 0 = any free port
    calibration : replaces the sender's intrinsics
    """

    intrinsics: Intrinsics
    shape: tuple[int, int]
    waits = True
    recorded = False

    def __init__(self, name: str, place: str, calibration: CameraFile | None = None) -> None:
        self.name = name
        self._host, self._port = _host_and_port(name, place)
        self._calibration = calibration
        self._listener: socket.socket | None = None
        self._sender: socket.socket | None = None
        self._reader: WireReader | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of the listening socket; valid while open."""
        assert self._listener is not None
        return self._listener.getsockname()[:2]

    def open(self, stop: Event) -> None:
        """Wait for a sender. Raises SourceError where none comes, or the port cannot be opened."""
        self._drop_sender()
        wait_s, came = RETURN_WAIT_S, "came back"
        if self._listener is None:
            self._listener = self._listen()
            wait_s, came = SENDER_WAIT_S, "came"
        _log.info("%s: waiting for a sender on %s:%d", self.name, *self.address)
        deadline = time.monotonic() + wait_s
        while not stop.is_set() and time.monotonic() < deadline:
            if self._accept(self._listener, stop):
                return
        raise SourceError(self.name, f"no sender {came} within {wait_s:g} s")

    def _listen(self) -> socket.socket:
        try:
            kind = socket.AF_INET6 if ":" in self._host else socket.AF_INET
            listener = socket.create_server((self._host, self._port), family=kind, backlog=4)
        except OSError as error:
            problem = f"cannot listen on {self._host}:{self._port} ({error.strerror or error}); give another port"
            raise SourceError(self.name, problem) from error
        listener.settimeout(_POLL_S)
        if not is_loopback(self._host):
            _log.warning("%s: listens on %s: whoever reaches it can send frames", self.name, self._host)
        return listener

    def _accept(self, listener: socket.socket, stop: Event) -> bool:
        """Accept the next sender with a valid header; False when none connects within the poll time."""
        try:
            self._sender, (host, *_) = listener.accept()
        except TimeoutError:
            return False
        self._reader = WireReader(self.name, self._receive)
        try:
            header = self._read_header(self._reader, stop)
            self.shape = (header.height, header.width)
            self.intrinsics = header.intrinsics_or(self._calibration, self.name)
        except (WireError, OSError, EOFError) as error:
            _log.warning("%s: a sender from %s was refused: %s", self.name, host, str(error) or "it sent nothing")
            self._drop_sender()
            return False
        _log.info("%s: a sender from %s, %dx%d pixels", self.name, host, *reversed(self.shape))
        return True

    def _read_header(self, reader: WireReader, stop: Event) -> WireHeader:
        deadline = time.monotonic() + HEADER_WAIT_S
        while not stop.is_set() and time.monotonic() < deadline:
            header = reader.read_header(_POLL_S)
            if header is not None:
                return header
        raise WireError(f"no first line within {HEADER_WAIT_S:g} s")

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None after the timeout. Raises SourceError when the sender is gone."""
        assert self._reader is not None
        try:
            return self._reader.read(timeout_s)
        except EOFError:
            raise SourceError(self.name, "the sender went away") from None
        except (WireError, OSError) as error:
            raise SourceError(self.name, str(error)) from error

    def _receive(self, buffer: memoryview, timeout_s: float) -> int | None:
        assert self._sender is not None
        self._sender.settimeout(timeout_s)
        try:
            return self._sender.recv_into(buffer)
        except (TimeoutError, BlockingIOError):  # BlockingIOError: the timeout was 0
            return None

    def _drop_sender(self) -> None:
        if self._sender is not None:
            self._sender.close()
        self._sender = self._reader = None

    def close(self) -> None:
        """Close the connection and the port."""
        self._drop_sender()
        if self._listener is not None:
            self._listener.close()
            self._listener = None


def _host_and_port(name: str, place: str) -> tuple[str, int]:
    host, _, port = place.rpartition(":")
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) < 1 << 16):
        raise SourceError(name, f"wanted camera:socket:PORT or camera:socket:HOST:PORT, got port {port!r}")
    return host.strip("[]") or LOOPBACK, int(port)
