"""Results to other programs as they come: JSON lines over TCP or UDP, or OSC.

Nothing here waits or stops a run: what cannot be sent is dropped and counted. What is sent: docs/reference/results.md.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from posepipe.errors import PosepipeError
from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import ResultRow, ResultsHeader
from posepipe.sinks.streams.line_server import LineServer
from posepipe.sinks.streams.osc import frame_packets

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
MOST_DATAGRAM_BYTES = 60_000
"""A datagram holds 65,507 at most."""


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """``udp://HOST:PORT``, ``tcp://HOST:PORT`` or ``osc://HOST:PORT``."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> StreamAddress:
        """Without a host it is this machine. Raises ValueError for anything else."""
        wanted = f"wanted udp://HOST:PORT, tcp://HOST:PORT or osc://HOST:PORT, got {url!r}"
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise ValueError(wanted) from error
        if parts.scheme not in _STREAMS or not port or parts.path.strip("/") or parts.query or parts.username:
            raise ValueError(wanted)
        return cls(parts.scheme, parts.hostname or LOOPBACK, port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def resolve(self, kind: socket.SocketKind) -> tuple[int, tuple]:
        """Family and address for a socket. Raises PosepipeError for a name that nobody knows."""
        try:
            family, *_, address = socket.getaddrinfo(self.host, self.port, type=kind)[0]
        except (OSError, UnicodeError) as error:
            raise PosepipeError(f"{self}: {self.host!r} is no known host ({error})") from error
        return family, address


class LineStreamSink:
    """Listens, and sends the lines of a results file to everybody who connects; a `FrameSink`."""

    def __init__(self, address: StreamAddress, header: ResultsHeader) -> None:
        self.address = address
        self._header = header
        self._server: LineServer | None = None

    def __enter__(self) -> Self:
        family, address = self.address.resolve(socket.SOCK_STREAM)
        try:
            self._server = LineServer(family, address, self._header.as_line().encode())
        except OSError as error:
            raise PosepipeError(f"{self.address}: cannot listen there ({error.strerror or error})") from error
        if not ipaddress.ip_address(re.sub("%.*", "", address[0])).is_loopback:
            logger.info("%s: other machines can read along", self.address)
        return self

    @property
    def server(self) -> LineServer:
        """Raises RuntimeError before it is opened."""
        if self._server is None:
            raise RuntimeError(f"{self.address}: not open")
        return self._server

    def write(self, result: FrameResult) -> None:
        """Send one frame to whoever is there."""
        self.server.put(ResultRow.of(result).as_line().encode())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.close()


class DatagramSink:
    """Sends every frame in datagrams to one address; a `FrameSink`.

    Parameters
    ----------
    address : where to
    packets : a frame -> datagrams
    """

    def __init__(self, address: StreamAddress, packets: Callable[[ResultRow], list[bytes]]) -> None:
        self.address = address
        self.dropped = 0  #: datagrams that could not be sent; lost on their way are others
        self._packets = packets
        self._socket: socket.socket | None = None
        self._to: tuple = ()

    def __enter__(self) -> Self:
        family, self._to = self.address.resolve(socket.SOCK_DGRAM)
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        return self

    def write(self, result: FrameResult) -> None:
        """Send one frame."""
        if self._socket is None:
            raise RuntimeError(f"{self.address}: not open")
        for packet in self._packets(ResultRow.of(result)):
            try:
                self._socket.sendto(packet, self._to)
            except OSError as error:  # nobody listens, no way there, the buffer is full
                if not self.dropped:
                    logger.warning("%s: %s; the run goes on", self.address, error.strerror or error)
                self.dropped += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.dropped:
            logger.warning("%s: %d datagrams could not be sent", self.address, self.dropped)
        if self._socket is not None:
            self._socket.close()


def line_packets(row: ResultRow) -> list[bytes]:
    """A frame as the line of a results file; a line too long for a datagram goes as several, of some people each."""
    return _split(row, 0, len(row.people))


def _split(row: ResultRow, first: int, last: int) -> list[bytes]:
    line = row.as_line(slice(first, last)).encode()
    if len(line) <= MOST_DATAGRAM_BYTES or last - first < 2:
        return [line]
    middle = (first + last) // 2
    return _split(row, first, middle) + _split(row, middle, last)


_STREAMS: dict[str, Callable[[StreamAddress, ResultsHeader], LineStreamSink | DatagramSink]] = {
    "tcp": LineStreamSink,
    "udp": lambda address, header: DatagramSink(address, line_packets),
    "osc": lambda address, header: DatagramSink(address, frame_packets),
}


def open_stream(address: StreamAddress, header: ResultsHeader) -> LineStreamSink | DatagramSink:
    """The sink that sends to, or listens on, an address; it opens as a context manager."""
    return _STREAMS[address.scheme](address, header)
