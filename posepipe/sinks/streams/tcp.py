"""Results over TCP: JSON lines for every client that connects.

Sending never waits. A client that is too slow loses lines; they are counted. Format: docs/reference/results.md.
"""

from __future__ import annotations

import logging
import re
import socket
from types import TracebackType
from typing import Self

from posepipe.errors import PosepipeError
from posepipe.loopback import is_loopback
from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import ResultRow, ResultsHeader
from posepipe.sinks.streams.stream_address import StreamAddress
from posepipe.sinks.streams.tcp_server import LineServer

logger = logging.getLogger(__name__)


class TcpSink:
    """Listens on an address and sends the lines of a results file to every client; a `FrameSink`.

    Parameters
    ----------
    address : where to listen
    header : the first line that each client receives
    """

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
        if not is_loopback(re.sub("%.*", "", address[0])):
            logger.info("%s: other machines can read this stream", self.address)
        return self

    @property
    def server(self) -> LineServer:
        """The open server. Raises RuntimeError before the sink is opened."""
        if self._server is None:
            raise RuntimeError(f"{self.address}: not open")
        return self._server

    def write(self, result: FrameResult) -> None:
        """Send one frame to all connected clients."""
        self.server.put(ResultRow.of(result).as_line().encode())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.close()
