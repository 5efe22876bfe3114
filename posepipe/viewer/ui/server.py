"""The server of a page: on this machine alone unless told otherwise, for pages of its own, and quiet."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from posepipe.errors import PosepipeError

LOOPBACK = "127.0.0.1"
USUAL_PORT = 8080
TRIED_PORTS = 100
"""From the usual one up, while they are in use."""
_OWN_NAMES = {"127.0.0.1", "localhost", "::1"}
_REFUSED = 1008  # websocket close code: policy violation


@contextmanager
def open_server(host: str = LOOPBACK, port: int | None = None) -> Iterator[Any]:
    """Open a viser server, and stop it and its threads at the end.

    Parameters
    ----------
    host : where to listen; beyond this machine is warned of
    port : None = 8080, or the next that is free

    Raises
    ------
    PosepipeError
        When viser is missing, the port is in use or there is no such address.
    """
    try:
        import rich
        import viser
    except ImportError as error:
        raise PosepipeError("the live view is served by viser; pip install 'posepipe[view]'") from error
    port = _free_port(host, port)
    if not _is_loopback(host):
        warnings.warn(f"--host {host}: whoever reaches this machine sees the page, and turns its knobs", stacklevel=3)
    console, log = rich.get_console(), logging.getLogger("websockets")
    was = console.quiet, log.level
    console.quiet = True  # viser prints a banner and a farewell through it
    log.setLevel(logging.CRITICAL)  # nor is every broken connection news
    try:
        server: Any = viser.ViserServer(host=host, port=port, verbose=False)
        try:
            server.request_share_url = lambda *_, **__: None  # a page could ask for a tunnel through a public server
            _refuse_strangers(server, _is_loopback(host))
            yield server
        finally:
            server.get_event_loop().call_soon_threadsafe(_hang_up)
            server.stop()
    finally:
        console.quiet = was[0]
        log.setLevel(was[1])


def address(server: Any) -> str:
    """What to type into a browser on this machine."""
    host = server.get_host()
    shown = LOOPBACK if host in ("0.0.0.0", "") else "[::1]" if host == "::" else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{server.get_port()}"


def is_welcome(origin: str | None, host: str | None, loopback: bool) -> bool:
    """Whether a page may connect: our own may, and programs, which send no origin.

    Any page in the browser can open a websocket to this machine; without this check it could watch. ``origin`` and
    ``host`` are the headers; a page under another name that leads here (DNS rebinding) is no page of this machine.
    """
    if origin is None:
        return True
    try:
        page = urlsplit(origin)
    except ValueError:
        return False
    return page.netloc == host and (not loopback or page.hostname in _OWN_NAMES)


def _hang_up() -> None:
    """Let go of whoever is connected: browsers keep connections to spare, and closing would wait for them to speak."""
    for task in asyncio.all_tasks():
        if getattr(task.get_coro(), "__qualname__", "") == "Server.conn_handler":
            task.cancel()


def _refuse_strangers(server: Any, loopback: bool) -> None:
    connections = server._websock_server

    async def check(client: Any) -> None:
        connection = connections._live_connections[client.client_id]
        headers = connection.request.headers
        if not is_welcome(headers.get("Origin"), headers.get("Host"), loopback):
            await connection.close(_REFUSED, "not a page of this server")

    connections.on_client_connect(check)


def _free_port(host: str, port: int | None) -> int:
    """The port asked for, or the first free one: viser itself would silently take another, or search for ever."""
    wanted = range(USUAL_PORT, USUAL_PORT + TRIED_PORTS) if port is None else [port]
    try:
        family, _, _, _, place = socket.getaddrinfo(host, wanted[0], type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
            0
        ]
    except OSError as error:
        raise PosepipeError(f"--host {host}: no such address ({error.strerror})") from error
    for number in wanted:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            if os.name == "posix":  # a port that was just given up counts as free; on Windows it would be stolen
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((place[0], number))
            except OSError as error:
                problem = error
            else:
                return number
    if port is None:
        raise PosepipeError(f"--host {host}: no port of {wanted[0]} to {wanted[-1]} is free ({problem.strerror})")
    raise PosepipeError(f"--port {port}: {problem.strerror or problem}; give another, or leave it out")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
