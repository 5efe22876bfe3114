"""A TCP server that sends lines of text to all clients. A slow client delays neither the caller nor other clients.

There is no thread. Sockets are non-blocking and are served whenever a line is put.
"""

from __future__ import annotations

import logging
import socket
import time
from collections import deque
from contextlib import suppress

logger = logging.getLogger(__name__)

MAX_CLIENTS = 32
BACKLOG_BYTES = 1 << 20
"""Maximum of unsent bytes per client. Beyond it, whole lines are dropped for that client."""
CLOSE_TIMEOUT_S = 1.0
"""Total time to send remaining lines when the server closes, seconds."""

READS_PER_LINE = 8
"""Maximum number of pieces of input, of all clients together, that are read and ignored with each line."""

_READ_BYTES = 1 << 16  # of a piece; also what the system keeps of a client's input


_ignored = bytearray(_READ_BYTES)


class _Client:
    """One connection and its unsent lines."""

    def __init__(self, connection: socket.socket, name: str) -> None:
        self.connection = connection
        self.name = name
        self.dropped = 0
        self._unsent: deque[bytes] = deque()
        self._bytes = 0
        connection.setblocking(False)
        with suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def is_behind(self) -> bool:
        """Whether lines are unsent."""
        return bool(self._unsent)

    def put(self, line: bytes) -> None:
        """Queue a line, or drop it if the client is too far behind."""
        if self._unsent and self._bytes + len(line) > BACKLOG_BYTES:
            self.dropped += 1
            return
        self._unsent.append(line)
        self._bytes += len(line)

    def send(self) -> None:
        """Send as much as the socket takes now. Raises OSError if the client has disconnected."""
        while self._unsent:
            try:
                sent = self.connection.send(self._unsent[0])
            except BlockingIOError:
                return
            self._bytes -= sent
            rest = self._unsent.popleft()[sent:]
            if rest:
                self._unsent.appendleft(rest)

    def discard_input(self) -> bool:
        """Read and ignore one piece of what the client sent; returns whether there was any."""
        try:
            return bool(self.connection.recv_into(_ignored))
        except OSError:
            return False

    def close(self) -> None:
        """Close the connection in order: unread input would reset it."""
        for _ in range(READS_PER_LINE):
            if not self.discard_input():
                break
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
        self.connection.close()


class LineServer:
    """Sends lines to all clients of an address.

    Parameters
    ----------
    family, address : as returned by `socket.getaddrinfo`
    greeting : the first line for every client

    Raises
    ------
    OSError
        If the address cannot be listened on.
    """

    def __init__(self, family: int, address: tuple, greeting: bytes) -> None:
        self.dropped = 0  #: lines that were not sent because a client was behind
        self._greeting = greeting
        self._clients: deque[_Client] = deque()
        self._listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _READ_BYTES)  # its connections inherit it
            self._listener.bind(address)
            self._listener.listen(MAX_CLIENTS)
            self._listener.setblocking(False)
        except BaseException:
            self._listener.close()
            raise

    @property
    def address(self) -> tuple:
        """The address that the server listens on."""
        return self._listener.getsockname()

    def put(self, line: bytes) -> None:
        """Send a line to all clients; returns at once."""
        self._accept()
        for client in list(self._clients):
            client.put(line)
            self._serve(client)
        self._discard_input()

    def _accept(self) -> None:
        with suppress(OSError):  # BlockingIOError: no more connections; others: closed before they were accepted
            for _ in range(2 * MAX_CLIENTS):
                connection, peer = self._listener.accept()
                if len(self._clients) >= MAX_CLIENTS:
                    connection.close()
                    continue
                client = _Client(connection, f"{peer[0]}:{peer[1]}")
                client.put(self._greeting)
                self._clients.append(client)

    def _discard_input(self) -> None:
        """Read a little of what clients send, in turn: a client with unread input would be reset at the end.

        The work is bounded for all clients together, however much they send. The rest waits at its sender.
        """
        reads = idle = 0
        while reads < READS_PER_LINE and idle < len(self._clients):
            client = self._clients[0]
            self._clients.rotate(-1)
            has_sent = client.discard_input()
            reads += has_sent
            idle = 0 if has_sent else idle + 1

    def _serve(self, client: _Client) -> None:
        try:
            client.send()
        except OSError:
            self._remove(client)

    def _remove(self, client: _Client) -> None:
        self._clients.remove(client)
        self.dropped += client.dropped
        if client.dropped:
            logger.warning("%s was too slow and missed %d lines", client.name, client.dropped)
        client.close()

    def close(self) -> None:
        """Send remaining lines for at most CLOSE_TIMEOUT_S, then disconnect all clients."""
        self._accept()
        until = time.monotonic() + CLOSE_TIMEOUT_S
        for client in list(self._clients):
            self._serve(client)
        while any(client.is_behind for client in self._clients) and time.monotonic() < until:
            time.sleep(0.005)
            for client in list(self._clients):
                self._serve(client)
            self._discard_input()
        for client in list(self._clients):
            self._remove(client)
        self._listener.close()
