"""Options of the commands that show results while they work: on a page in the browser, or in a window."""

from __future__ import annotations

import argparse
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps.options.value_types import port
from apps.terminal.interrupts import stop_if_interrupted
from apps.terminal.plain_text import show

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.sinks import FrameSink

POLL_S = 0.2


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """Add where the page listens and when it closes."""
    group = parser.add_argument_group("the page")
    group.add_argument("--port", type=port, metavar="P", help="port of the page (default: 8080, or the next free one)")
    group.add_argument(
        "--host", metavar="ADDRESS", help="listen on this address too, for other machines (default: 127.0.0.1 only)"
    )
    group.add_argument("--open", action="store_true", help="open the page in the browser")
    group.add_argument(
        "--close-at-end",
        action="store_true",
        help="end after the last frame; view then plays at once, and once (default: until Ctrl-C)",
    )


def add_watch_options(parser: argparse.ArgumentParser) -> None:
    """Add whether results are shown as they come, and where."""
    add_page_options(parser)
    parser.add_argument(
        "--view",
        nargs="?",
        choices=("page", "window"),
        const="page",
        help="also show results as they come: on a page in the browser or in a desktop window (default: page)",
    )


@contextmanager
def page_server(args: argparse.Namespace) -> Iterator[Any]:
    """Serve a page inside the context, and print its address."""
    from posepipe.loopback import LOOPBACK
    from posepipe.viewer.ui.server import address, open_server

    with open_server(args.host or LOOPBACK, args.port) as server:
        show(f"the page is at {address(server)}", flush=True)
        if args.open:
            webbrowser.open(address(server))
        yield server


def plays_for_guests(args: argparse.Namespace) -> bool:
    """Return whether a recording waits for a browser and loops; print that it waits."""
    if not args.close_at_end:
        show("a recording plays once a browser opens the page, and loops; Ctrl-C ends it", flush=True)
    return not args.close_at_end


def leaves_at_end(args: argparse.Namespace) -> bool:
    """Return whether a command ends with its last frame; if not, print what it waits for."""
    if not args.close_at_end:
        show("that was the last frame; the page stays until Ctrl-C", flush=True)
    return args.close_at_end


@contextmanager
def watched(args: argparse.Namespace, body: BodyDefinition) -> Iterator[list[FrameSink]]:
    """Yield the sinks that show results, for `add_watch_options`; at the end they stay open until Ctrl-C."""
    from posepipe.errors import PosepipeError

    if args.view == "page":
        with _page(args, body) as page:
            yield [page]
    elif args.view == "window":
        with _window(args, body) as window:
            yield [window]
    elif args.port or args.host or args.open or args.close_at_end:
        raise PosepipeError("--port, --host, --open and --close-at-end apply to what --view shows; add --view")
    else:
        yield []


@contextmanager
def _page(args: argparse.Namespace, body: BodyDefinition) -> Iterator[FrameSink]:
    from posepipe.viewer.ui.page import Page

    with page_server(args) as server:
        yield Page(server, body, Path(args.source).name)
        if not leaves_at_end(args):
            while True:
                stop_if_interrupted()
                time.sleep(POLL_S)


@contextmanager
def _window(args: argparse.Namespace, body: BodyDefinition) -> Iterator[FrameSink]:
    from posepipe.sinks.images.window import WindowSink

    window = WindowSink(body)
    try:
        yield window
        if not args.close_at_end:
            window.hold()
    finally:
        window.close()
