"""What the commands that open a page have in common: where it listens, how long it stays, how people are found."""

from __future__ import annotations

import argparse
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps.arguments import positive
from apps.progress import was_interrupted

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.pipeline import Pipeline
    from posepipe.sinks import FrameSink

HIGHEST_PORT = 65535
POLL_S = 0.2


def add_page_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the page is, and when it closes."""
    group = parser.add_argument_group("the page")
    group.add_argument("--port", type=_port, metavar="P", help="default: 8080, or the next that is free")
    group.add_argument(
        "--host", metavar="ADDRESS", help="listen there too, and not only for this machine (default: 127.0.0.1)"
    )
    group.add_argument("--open", action="store_true", help="open it in the browser")
    group.add_argument("--close-at-end", action="store_true", help="do not leave the last frame to be looked at")


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    """Whether to show what is being done, and where."""
    add_page_arguments(parser)
    parser.add_argument(
        "--view",
        nargs="?",
        choices=("page", "window"),
        const="page",
        help="also show it as it comes: on a page in the browser, or in a window of the desktop (default: page)",
    )


def add_pipeline_arguments(parser: argparse.ArgumentParser) -> None:
    """How people are found, as in `run`."""
    group = parser.add_argument_group("how people are found")
    group.add_argument("--model", default="person", metavar="M", help="shipped model or model file (default: person)")
    group.add_argument(
        "--foreground",
        choices=["auto", "none"],
        default="auto",
        help="auto: find people before floor and walls, or cut out; none: all that reads is one person (default: auto)",
    )
    group.add_argument(
        "--extrinsics", type=Path, metavar="FILE", help="where the camera is, T_world_camera; without it the floor says"
    )
    group.add_argument("--people", type=positive, metavar="N", help="keep the N surest people of a frame")
    group.add_argument("--no-tracking", action="store_true", help="treat every frame alone; ids count from 1")
    group.add_argument("--smooth", action="store_true", help="smooth the joints of each track from the start")


def pipeline_maker(args: argparse.Namespace, forest: DepthForest) -> Callable[[], Pipeline]:
    """Build the pipeline of the arguments; with tracking it has a smoother to switch on."""
    from posepipe.camera.extrinsics_file import read_extrinsics
    from posepipe.errors import PosepipeError
    from posepipe.pipeline import Pipeline
    from posepipe.tracking.one_euro import OneEuroSmoother

    if args.smooth and args.no_tracking:
        raise PosepipeError("--smooth needs to know who is who from frame to frame; leave out --no-tracking")

    extrinsics = None if args.extrinsics is None else read_extrinsics(args.extrinsics)

    def make() -> Pipeline:
        pipeline = Pipeline.from_forest(forest, not args.no_tracking, args.foreground)
        pipeline.max_people, pipeline.extrinsics = args.people, extrinsics
        pipeline.smoother = None if args.no_tracking else OneEuroSmoother()
        return pipeline

    return make


@contextmanager
def page_server(args: argparse.Namespace) -> Iterator[Any]:
    """Serve a page while inside, and say where."""
    from posepipe.viewer.ui.server import LOOPBACK, address, open_server

    with open_server(args.host or LOOPBACK, args.port) as server:
        print(f"the page is at {address(server)}", flush=True)
        if args.open:
            webbrowser.open(address(server))
        yield server


def leaves_at_end(args: argparse.Namespace) -> bool:
    """Whether a command ends with its last frame; if not, say what it waits for."""
    if not args.close_at_end:
        print("that was the last frame; the page stays until Ctrl-C", flush=True)
    return args.close_at_end


def stop_if_interrupted() -> None:
    """Raise the KeyboardInterrupt that a compiler may have swallowed."""
    if was_interrupted():
        raise KeyboardInterrupt


@contextmanager
def watched(args: argparse.Namespace, body: BodyDefinition) -> Iterator[list[FrameSink]]:
    """Sinks that show results, for `add_watch_arguments`; when all is written, what they show stays until Ctrl-C."""
    from posepipe.errors import PosepipeError

    if args.view == "page":
        from posepipe.viewer.ui.page import Page

        with page_server(args) as server:
            yield [Page(server, body, Path(args.source).name)]
            if not leaves_at_end(args):
                while True:
                    stop_if_interrupted()
                    time.sleep(POLL_S)
    elif args.view == "window":
        from posepipe.sinks.images.window import WindowSink

        window = WindowSink(body)
        try:
            yield [window]
            if not args.close_at_end:
                window.hold()
        finally:
            window.close()
    elif args.port or args.host or args.open or args.close_at_end:
        raise PosepipeError("--port, --host, --open and --close-at-end are about what --view shows; add --view")
    else:
        yield []


def _port(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"wanted a port from 1 to {HIGHEST_PORT}, got {text!r}")
    return number
