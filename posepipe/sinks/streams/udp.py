"""Results as UDP datagrams: a line of the results file each, or packets of another format.

Sending never waits. Datagrams that cannot be sent are dropped and counted. Format: docs/reference/results.md.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Self

from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import ResultRow
from posepipe.sinks.streams.stream_address import StreamAddress

logger = logging.getLogger(__name__)

MAX_DATAGRAM_BYTES = 60_000
"""The protocol allows 65,507 bytes."""


class DatagramSink:
    """Sends every frame to one address, in datagrams; a `FrameSink`.

    Parameters
    ----------
    address : the receiver
    packets : function from a frame to its datagrams
    """

    def __init__(self, address: StreamAddress, packets: Callable[[ResultRow], list[bytes]]) -> None:
        self.address = address
        self.dropped = 0  #: datagrams that could not be sent; losses in the network are not included
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
            except OSError as error:  # no receiver, no route, or a full buffer
                if not self.dropped:
                    logger.warning("%s: %s; the run continues", self.address, error.strerror or error)
                self.dropped += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.dropped:
            logger.warning("%s: %d datagrams could not be sent", self.address, self.dropped)
        if self._socket is not None:
            self._socket.close()


def line_packets(row: ResultRow) -> list[bytes]:
    """Encode a frame as a line of the results file; a line too long for a datagram is split between people."""
    return _split(row, 0, len(row.people))


def _split(row: ResultRow, first: int, last: int) -> list[bytes]:
    line = row.as_line(slice(first, last)).encode()
    if len(line) <= MAX_DATAGRAM_BYTES or last - first < 2:
        return [line]
    middle = (first + last) // 2
    return _split(row, first, middle) + _split(row, middle, last)
