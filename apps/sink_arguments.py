"""The arguments that say where results go."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps.arguments import bvh_file, recording_file, video_file

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.sinks import FrameSink
    from posepipe.sinks.files.json_lines import ResultsHeader

_NEVER_A_SOURCE = (".jsonl", ".csv", ".bvh")


def add_sink_arguments(parser: argparse.ArgumentParser) -> None:
    """Where results go, besides a results file to wherever is asked for."""
    group = parser.add_argument_group("where results go (docs/reference/results.md)")
    group.add_argument(
        "--out",
        type=Path,
        default=Path("results.jsonl"),
        metavar="FILE",
        help="JSON lines, or a table where it ends in .csv (default: results.jsonl)",
    )
    group.add_argument("--bvh", type=bvh_file, metavar="FILE.bvh", help="also motion capture, one file a person")
    group.add_argument(
        "--record", type=recording_file, metavar="FILE.mcap", help="also depth and people as a ROS 2 recording"
    )
    group.add_argument(
        "--stream",
        type=stream_address,
        action="append",
        default=[],
        metavar="URL",
        help="also to other programs: tcp://:PORT (they connect), udp://HOST:PORT or osc://HOST:PORT; may be repeated",
    )
    group.add_argument("--video", type=video_file, metavar="FILE.mp4", help="also an annotated video")
    group.add_argument("--pictures", type=Path, metavar="DIR", help="also an annotated picture a frame")


def stream_address(text: str) -> Any:
    """Where to send, or to listen."""
    from posepipe.sinks.streams.network_stream import StreamAddress

    try:
        return StreamAddress.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def make_sinks(args: argparse.Namespace, header: ResultsHeader, body: BodyDefinition) -> list[FrameSink]:
    """The sinks of the arguments of `add_sink_arguments`; nothing is opened yet."""
    from posepipe.sinks.files.bvh import BvhSink
    from posepipe.sinks.files.result_formats import open_result_sink
    from posepipe.sinks.files.ros_poses import PoseRecordingSink
    from posepipe.sinks.images.pictures import PictureSink, VideoSink
    from posepipe.sinks.streams.network_stream import open_stream

    sinks: list[FrameSink] = [open_result_sink(args.out, header)]
    if args.bvh:
        sinks.append(BvhSink(args.bvh, body))
    if args.record:
        about = {"source": header.source, "model": header.model}
        sinks.append(PoseRecordingSink(args.record, body, about, header.start_time_ns))
    sinks += [open_stream(address, header) for address in args.stream]
    if args.video:
        sinks.append(VideoSink(args.video, body))
    if args.pictures:
        sinks.append(PictureSink(args.pictures, body))
    return sinks


def what_was_written(args: argparse.Namespace, sinks: list[FrameSink]) -> Iterator[str]:
    """A line for everything besides the results file that is there now, also after an error."""
    from posepipe.sinks.files.bvh import BvhSink

    for what, path in (("depth and people", args.record), ("video", args.video), ("pictures", args.pictures)):
        if path is not None and path.exists():
            yield f"{what} -> {path}"
    yield from (f"stream -> {address}" for address in args.stream)
    for sink in sinks:
        if isinstance(sink, BvhSink):
            yield from map(str, sink.written) if sink.has_seen_anybody else [f"nobody to write to {sink.path}"]


def is_standard_output(path: Path) -> bool:
    """Whether what is written to a file comes out where we print: /dev/stdout."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):  # it is not there, or standard output is no file
        return False


def _check_places(args: argparse.Namespace) -> None:
    """Whether files can be where they are asked for, before an hour of work shows that they cannot."""
    from posepipe.errors import PosepipeError

    for option in ("out", "bvh", "record", "video", "pictures"):
        path = getattr(args, option)
        if path is None:
            continue
        if option != "pictures" and path.is_dir():
            raise PosepipeError(f"--{option} {path} is a folder; give the name of a file to write")
        above = path if option == "pictures" else path.parent
        while not above.exists() and above != above.parent:
            above = above.parent
        if not above.is_dir():
            raise PosepipeError(f"--{option} {path}: {above} is a file, not a folder; give another name")


def check_files(source: Path, args: argparse.Namespace) -> None:
    """Results must not take the place of the frames they come from, nor of each other, and need a format."""
    from posepipe.errors import PosepipeError
    from posepipe.sinks.files.result_formats import check_suffix

    taken: dict[Path, str] = {}
    _check_places(args)
    for option in ("out", "bvh", "record", "video"):
        path = getattr(args, option)
        if path is None:
            continue
        inside = source.resolve() in path.resolve().parents and path.suffix not in _NEVER_A_SOURCE
        if path.resolve() == source.resolve() or (path.exists() and inside):
            raise PosepipeError(f"--{option} {path} would replace a file of the source; give another name")
        if path.resolve() in taken:
            raise PosepipeError(f"--{option} {path} is the file of --{taken[path.resolve()]}; give another name")
        taken[path.resolve()] = option
    if args.pictures and source.resolve() in (args.pictures.resolve(), *args.pictures.resolve().parents):
        raise PosepipeError(f"--pictures {args.pictures} would lie among the frames of the source; give another folder")
    check_suffix(args.out)
