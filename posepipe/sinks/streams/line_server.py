"""Lines of text to whoever connects over TCP, as fast as each takes them; nobody who is slow stops anything.

There is no thread: sockets never wait, and are looked after whenever a line comes.
"""

from __future__ import annotations

import logging
import socket
import time
from collections import deque
from contextlib import suppress

logger = logging.getLogger(__name__)

MOST_CLIENTS = 32
BACKLOG_BYTES = 1 << 20
"""What a client may be behind; further lines are dropped for him, whole."""
FAREWELL_S = 1.0
"""How long clients that are behind are waited for at the end, all together."""

_READ_BYTES = 1 << 16
_MOST_READS = 8  # somebody who talks without end must not hold us up


class _Client:
    def __init__(self, connection: socket.socket, name: str) -> None:
        self.connection = connection
        self.name = name
        self.dropped = 0
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        connection.setblocking(False)
        with suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def is_behind(self) -> bool:
        return bool(self._waiting)

    def put(self, line: bytes) -> None:
        if self._waiting and self._bytes + len(line) > BACKLOG_BYTES:
            self.dropped += 1
            return
        self._waiting.append(line)
        self._bytes += len(line)

    def send(self) -> None:
        """Send what goes out at once. Raises OSError when the client is gone."""
        while self._waiting:
            try:
                sent = self.connection.send(self._waiting[0])
            except BlockingIOError:
                return
            self._bytes -= sent
            rest = self._waiting.popleft()[sent:]
            if rest:
                self._waiting.appendleft(rest)

    def ignore_what_it_says(self) -> None:
        # unread input would turn our goodbye into a reset, and the last lines would be lost with it
        with suppress(OSError):
            for _ in range(_MOST_READS):
                if not self.connection.recv(_READ_BYTES):
                    return

    def close(self) -> None:
        self.ignore_what_it_says()
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
        self.connection.close()


class LineServer:
    """Listens on an address; raises OSError when it cannot.

    Parameters
    ----------
    family, address : as `socket.getaddrinfo` gives them
    greeting : what everybody gets first
    """

    def __init__(self, family: int, address: tuple, greeting: bytes) -> None:
        self.dropped = 0  #: lines that some client did not get, because it was behind
        self._greeting = greeting
        self._clients: list[_Client] = []
        self._listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.bind(address)
            self._listener.listen(MOST_CLIENTS)
            self._listener.setblocking(False)
        except BaseException:
            self._listener.close()
            raise

    @property
    def address(self) -> tuple:
        """Where it listens."""
        return self._listener.getsockname()

    @property
    def client_count(self) -> int:
        return len(self._clients)

    def put(self, line: bytes) -> None:
        """Hand a line to everybody who is there; returns at once."""
        self._accept()
        for client in list(self._clients):
            client.put(line)
            self._serve(client)

    def _accept(self) -> None:
        with suppress(OSError):  # BlockingIOError: nobody else is waiting; others: gone before we looked
            for _ in range(2 * MOST_CLIENTS):
                connection, peer = self._listener.accept()
                if len(self._clients) >= MOST_CLIENTS:
                    connection.close()
                    continue
                client = _Client(connection, f"{peer[0]}:{peer[1]}")
                client.put(self._greeting)
                self._clients.append(client)

    def _serve(self, client: _Client) -> None:
        client.ignore_what_it_says()
        try:
            client.send()
        except OSError:
            self._part_with(client)

    def _part_with(self, client: _Client) -> None:
        self._clients.remove(client)
        self.dropped += client.dropped
        if client.dropped:
            logger.warning("%s was too slow and missed %d lines", client.name, client.dropped)
        client.close()

    def close(self) -> None:
        """Give those who are behind a moment, then hang up."""
        self._accept()
        until = time.monotonic() + FAREWELL_S
        for client in list(self._clients):
            self._serve(client)
        while any(client.is_behind for client in self._clients) and time.monotonic() < until:
            time.sleep(0.005)
            for client in list(self._clients):
                self._serve(client)
        for client in list(self._clients):
            self._part_with(client)
        self._listener.close()
