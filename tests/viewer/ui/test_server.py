"""The server: local, for its own pages only, silent, and stopped completely."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
import sys
import threading
import time

import pytest

from posepipe.errors import PosepipeError
from posepipe.viewer.ui import server as server_module
from posepipe.viewer.ui.server import address, is_allowed_origin, open_server

pytest.importorskip("viser", reason="needs the extra 'view'", exc_type=ImportError)


@pytest.fixture
def server():
    with open_server() as server:
        yield server


def can_connect(host, port):
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError:
        return False
    return True


def test_it_listens_on_this_machine_alone(server):
    assert can_connect("127.0.0.1", server.get_port())
    if sys.platform == "linux":  # all of 127.0.0.0/8 is this machine, and another interface than 127.0.0.1
        assert not can_connect("127.0.0.2", server.get_port())
    assert address(server) == f"http://127.0.0.1:{server.get_port()}"


def test_it_takes_the_next_port_if_the_default_is_in_use(server):
    with open_server() as second:
        assert second.get_port() > server.get_port()
        assert can_connect("127.0.0.1", second.get_port())


def test_a_port_that_was_asked_for_and_is_in_use_is_an_error(server):
    with pytest.raises(PosepipeError, match=f"--port {server.get_port()}.*in use"), open_server(port=server.get_port()):
        pass


def test_no_free_port_is_an_error(server, monkeypatch):
    monkeypatch.setattr(server_module, "DEFAULT_PORT", server.get_port())
    monkeypatch.setattr(server_module, "TRIED_PORTS", 1)
    with pytest.raises(PosepipeError, match="no port of"), open_server():
        pass


@pytest.mark.parametrize("port", [None, 8080])
@pytest.mark.parametrize(("host", "says"), [("no such host", "no such address"), ("192.0.2.1", "no address of this")])
def test_an_address_of_another_machine_is_an_error(host, says, port):
    with pytest.raises(PosepipeError, match=f"--host {host}: {says}"), open_server(host, port):
        pass


def test_listening_on_other_interfaces_warns():
    with pytest.warns(UserWarning, match="anyone who can reach this machine"), open_server("0.0.0.0") as server:
        assert address(server).startswith("http://127.0.0.1:")


def test_it_prints_nothing_and_leaves_no_thread(capsys):
    import rich

    before = set(threading.enumerate())  # threads of earlier servers may end meanwhile
    with open_server() as server:
        port = server.get_port()
        assert set(threading.enumerate()) - before
    assert not can_connect("127.0.0.1", port)
    assert not set(threading.enumerate()) - before
    assert capsys.readouterr() == ("", "")
    assert not rich.get_console().quiet


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(PosepipeError, match=r"pip install 'posepipe\[view\]'"), open_server():
        pass


def test_no_tunnel_through_a_public_server_is_opened(server):
    assert server.request_share_url() is None


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, "127.0.0.1:8080", True),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ("http://localhost:9000", "localhost:9000", True),  # through an ssh tunnel
        ("https://example.org", "127.0.0.1:8080", False),
        ("http://127.0.0.1:3000", "127.0.0.1:8080", False),
        ("http://rebound.example.org:8080", "rebound.example.org:8080", False),
        ("null", "127.0.0.1:8080", False),
        ("", "127.0.0.1:8080", False),
        ("http://[bad", "127.0.0.1:8080", False),
    ],
)
def test_foreign_origins_are_not_allowed(origin, host, allowed):
    assert is_allowed_origin(origin, host, loopback=True) == allowed


def test_a_public_server_allows_any_host_name_of_its_own_origin():
    assert is_allowed_origin("http://robot.local:8080", "robot.local:8080", loopback=False)
    assert not is_allowed_origin("https://example.org", "robot.local:8080", loopback=False)


def open_page(server, origin=None):
    """Connection of a page of that origin."""
    import viser
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    subprotocol = Subprotocol(f"viser-v{viser.__version__}")
    url = f"ws://127.0.0.1:{server.get_port()}"
    return connect(url, subprotocols=[subprotocol], origin=origin, proxy=None)


def first_message(server, origin):
    """What a page of that origin is sent first."""
    with open_page(server, origin) as client:
        return client.recv(timeout=10)


def test_a_page_of_another_site_receives_nothing(server):
    from websockets.exceptions import ConnectionClosed

    server.gui.add_text("secret", "what the camera sees")
    assert first_message(server, address(server))
    assert first_message(server, None)
    with pytest.raises(ConnectionClosed) as closed:
        first_message(server, "https://example.org")
    assert closed.value.rcvd.code == 1008


def test_an_idle_connection_does_not_delay_closing():
    """Browsers keep some to spare, and the websocket library waits for each of them to speak."""
    before = set(threading.enumerate())  # threads of earlier servers may end meanwhile
    with open_server() as server, socket.create_connection(("127.0.0.1", server.get_port())):
        assert first_message(server, None)
    for thread in set(threading.enumerate()) - before:  # the client's own may end a moment later
        thread.join(timeout=2)  # the library would wait 10 s
        assert not thread.is_alive()


def silent_page(server):
    """Socket of a page that has connected, and then neither reads nor answers, as of a laptop that sleeps."""
    import viser

    page = socket.create_connection(("127.0.0.1", server.get_port()))
    page.sendall(
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.get_port()}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: viser-v{viser.__version__}\r\n\r\n".encode()
    )
    assert page.recv(12) == b"HTTP/1.1 101"
    return page


def test_silent_pages_are_dropped_at_once():
    with contextlib.ExitStack() as pages:
        with open_server() as server:
            for _ in range(3):
                pages.enter_context(silent_page(server))
            loop, closing_s = server.get_event_loop(), time.monotonic()
        assert time.monotonic() - closing_s < 2  # the library would wait 10 s
        assert not asyncio.all_tasks(loop)  # asyncio prints a line of those that are destroyed before their end
