"""The web server of a page: local by default, for its own pages only, and without console output."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from posepipe.errors import PosepipeError
from posepipe.loopback import LOOPBACK, is_loopback

DEFAULT_PORT = 8080
TRIED_PORTS = 100
"""Number of ports tried, starting at the default, until one is free."""
_LOCAL_NAMES = {"127.0.0.1", "localhost", "::1"}
_REFUSED = 1008  # websocket close code: policy violation


@contextmanager
def open_server(host: str = LOOPBACK, port: int | None = None) -> Iterator[Any]:
    """Open a viser server; stop it and its threads at the end.

    Parameters
    ----------
    host : address to listen on; a warning is issued if other machines can reach it
    port : None = 8080, or the next free port

    Raises
    ------
    PosepipeError
        If viser is missing, the port is in use or the address does not exist.
    """
    try:
        import rich
        import viser
    except ImportError as error:
        raise PosepipeError("the live view is served by viser; pip install 'posepipe[view]'") from error
    port = _free_port(host, port)
    if not is_loopback(host):
        warnings.warn(
            f"--host {host}: anyone who can reach this machine sees the page and can change its thresholds",
            stacklevel=3,
        )
    console, log = rich.get_console(), logging.getLogger("websockets")
    previous = console.quiet, log.level
    console.quiet = True  # viser prints start and stop messages through it
    log.setLevel(logging.CRITICAL)  # it logs every broken connection
    try:
        server: Any = viser.ViserServer(host=host, port=port, verbose=False)
        try:
            server.request_share_url = lambda *_, **__: None  # a page could request a tunnel through a public server
            _reject_foreign_pages(server, is_loopback(host))
            yield server
        finally:
            server.get_event_loop().call_soon_threadsafe(_drop_connections, server)
            server.stop()
    finally:
        console.quiet = previous[0]
        log.setLevel(previous[1])


def address(server: Any) -> str:
    """Return the URL of the page for a browser on this machine."""
    host = server.get_host()
    every_address = {"0.0.0.0": LOOPBACK, "": LOOPBACK, "::": "[::1]"}  # nosec B104
    shown = every_address.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{server.get_port()}"


def is_allowed_origin(origin: str | None, host: str | None, loopback: bool) -> bool:
    """Whether a page may connect: pages of this server, and programs, which send no origin.

    Any page in the browser can open a websocket to this machine; without this check it could see the depth stream.

    Parameters
    ----------
    origin, host : the HTTP headers of the connection
    loopback : the server is local: names other than those of this machine are rejected (DNS rebinding)
    """
    if origin is None:
        return True
    try:
        page = urlsplit(origin)
    except ValueError:
        return False
    return page.netloc == host and (not loopback or page.hostname in _LOCAL_NAMES)


def _drop_connections(server: Any) -> None:
    """Drop all connections. Browsers hold idle ones open, or do not answer: stopping the server would wait for them."""
    for task in asyncio.all_tasks():
        if getattr(task.get_coro(), "__qualname__", "") == "Server.conn_handler":
            task.cancel()
    for connection in server._websock_server._live_connections.values():
        connection.transport.abort()  # else its other tasks may stay, and asyncio prints a line of each


def _reject_foreign_pages(server: Any, loopback: bool) -> None:
    connections = server._websock_server

    async def check(client: Any) -> None:
        connection = connections._live_connections[client.client_id]
        headers = connection.request.headers
        if not is_allowed_origin(headers.get("Origin"), headers.get("Host"), loopback):
            await connection.close(_REFUSED, "not a page of this server")

    connections.on_client_connect(check)


def _free_port(host: str, port: int | None) -> int:
    """Return the port asked for, or the first free one; viser itself would silently use another port."""
    candidates = range(DEFAULT_PORT, DEFAULT_PORT + TRIED_PORTS) if port is None else [port]
    try:
        found = socket.getaddrinfo(host, candidates[0], type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise PosepipeError(f"--host {host}: no such address ({error.strerror})") from error
    family, _, _, _, resolved = found[0]
    for number in candidates:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            if os.name == "posix":  # a port closed a moment ago is free; on Windows this would take over a used port
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((resolved[0], number))
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL:
                    raise PosepipeError(f"--host {host}: no address of this machine; give one, or 0.0.0.0") from error
                problem = error
            else:
                return number
    if port is None:
        ports = f"{candidates[0]} to {candidates[-1]}"
        raise PosepipeError(f"--host {host}: no port of {ports} is free ({problem.strerror})")
    raise PosepipeError(f"--port {port}: {problem.strerror or problem}; give another, or leave it out")
