"""Addresses of network streams: ``udp://HOST:PORT``, the same with tcp, osc and foxglove, and ``ros2://HOST/FRAME``."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from posepipe.errors import PosepipeError
from posepipe.loopback import LOOPBACK

SCHEMES = ("tcp", "udp", "osc", "foxglove", "ros2")
PORTLESS = ("ros2",)
"""Schemes whose ports follow from something else; their path has a meaning."""
DEFAULT_PORTS = {"foxglove": 8765}
"""Ports that other programs expect; they may be left out."""


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """Scheme, host and port of a stream."""

    scheme: str
    host: str
    port: int  #: 0 where the scheme needs none
    path: str = ""  #: with its slash; only of `PORTLESS` schemes

    @classmethod
    def parse(cls, url: str) -> StreamAddress:
        """Read a URL; the default host is this machine. Raises ValueError for anything else."""
        wanted = (
            "wanted udp://HOST:PORT, tcp://HOST:PORT, osc://HOST:PORT, foxglove://HOST:PORT or ros2://[HOST][/FRAME], "
            f"got {url!r}"
        )
        try:
            parts = urlsplit(url)
            given = parts.port
        except ValueError as error:
            raise ValueError(wanted) from error
        host, path, portless = parts.hostname or LOOPBACK, parts.path.rstrip("/"), parts.scheme in PORTLESS
        port = given or DEFAULT_PORTS.get(parts.scheme, 0)
        if parts.scheme not in SCHEMES or bool(port) == portless or (path and not portless):
            raise ValueError(wanted)
        if "://" not in url or parts.query or parts.username:
            raise ValueError(wanted)
        return cls(parts.scheme, host, port, path)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (f":{self.port}" if self.port else "") + self.path

    def resolve(self, kind: socket.SocketKind) -> tuple[int, tuple]:
        """Address family and socket address. Raises PosepipeError for an unknown host."""
        try:
            family, *_, address = socket.getaddrinfo(self.host, self.port, type=kind)[0]
        except (OSError, UnicodeError) as error:
            raise PosepipeError(f"{self}: {self.host!r} is no known host ({error})") from error
        return family, address
