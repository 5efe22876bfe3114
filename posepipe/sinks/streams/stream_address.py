"""Addresses of network streams: ``udp://HOST:PORT``, and the same with tcp, osc and foxglove."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from posepipe.errors import PosepipeError

LOOPBACK = "127.0.0.1"
SCHEMES = ("tcp", "udp", "osc", "foxglove")
DEFAULT_PORTS = {"foxglove": 8765}
"""Ports that other programs expect; they may be left out."""


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """Scheme, host and port of a stream."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> StreamAddress:
        """Read a URL; the default host is this machine. Raises ValueError for anything else."""
        wanted = f"wanted udp://HOST:PORT, tcp://HOST:PORT, osc://HOST:PORT or foxglove://HOST:PORT, got {url!r}"
        try:
            parts = urlsplit(url)
            port = parts.port or DEFAULT_PORTS.get(parts.scheme)
        except ValueError as error:
            raise ValueError(wanted) from error
        if parts.scheme not in SCHEMES or not port or parts.path.strip("/") or parts.query or parts.username:
            raise ValueError(wanted)
        return cls(parts.scheme, parts.hostname or LOOPBACK, port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def resolve(self, kind: socket.SocketKind) -> tuple[int, tuple]:
        """Address family and socket address. Raises PosepipeError for an unknown host."""
        try:
            family, *_, address = socket.getaddrinfo(self.host, self.port, type=kind)[0]
        except (OSError, UnicodeError) as error:
            raise PosepipeError(f"{self}: {self.host!r} is no known host ({error})") from error
        return family, address
