"""Options that say where results go."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps.options.input_files import files_read, refuse_to_replace
from apps.options.value_types import bvh_file, masks_place, motion_file, recording_file, video_file

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.sinks import FrameSink
    from posepipe.sinks.files.json_lines import ResultsHeader
    from posepipe.sinks.streams.stream_address import StreamAddress

_OUTPUTS = ("out", "bvh", "motion", "masks", "record", "video", "pictures")


class _Once(argparse.Action):
    """An option that may be given once: of two outputs the first would not be written."""

    def __call__(self, parser: argparse.ArgumentParser, args: argparse.Namespace, value: Any, name: Any = None) -> None:
        if getattr(args, self.dest) is not self.default:
            raise argparse.ArgumentError(self, "wanted one value, got two")
        setattr(args, self.dest, value)


def add_sink_options(parser: argparse.ArgumentParser) -> None:
    """Add the results file and all other outputs."""
    group = parser.add_argument_group("where results go (docs/reference/results.md)")
    group.add_argument(
        "--out",
        action=_Once,
        type=Path,
        default=Path("results.jsonl"),
        metavar="FILE",
        help="JSON lines, or a table if the name ends in .csv (default: results.jsonl)",
    )
    group.add_argument(
        "--bvh",
        action=_Once,
        type=bvh_file,
        metavar="FILE.bvh",
        help="also write motion capture, one file a person",
    )
    group.add_argument(
        "--motion",
        type=motion_file,
        action="append",
        default=[],
        metavar="FILE",
        help="also write motion as .c3d, .trc, .glb (glTF) or .bvh, one file a person; repeatable",
    )
    group.add_argument(
        "--masks",
        action=_Once,
        type=masks_place,
        metavar="DIR|FILE.mcap",
        help="also write whose pixel and which part each pixel is: PNGs, or topics beside the depth",
    )
    group.add_argument(
        "--record",
        action=_Once,
        type=recording_file,
        metavar="FILE.mcap",
        help="also record depth and people, as a ROS 2 recording",
    )
    group.add_argument(
        "--stream",
        type=_stream_address,
        action="append",
        default=[],
        metavar="URL",
        help="also send to other programs: tcp://:PORT (they connect), udp://HOST:PORT, osc://HOST:PORT,"
        " foxglove:// (the app connects) or ros2:// (topics of ROS 2); repeatable",
    )
    group.add_argument(
        "--video", action=_Once, type=video_file, metavar="FILE.mp4", help="also write an annotated video"
    )
    group.add_argument(
        "--pictures", action=_Once, type=Path, metavar="DIR", help="also write an annotated image of every frame"
    )
    group.add_argument(
        "--overwrite", action="store_true", help="replace the recordings of --record and --masks if they exist"
    )


def make_sinks(args: argparse.Namespace, header: ResultsHeader, body: BodyDefinition) -> list[FrameSink]:
    """Make the sinks that the arguments ask for; nothing is opened yet."""
    from posepipe.sinks.files.result_formats import open_result_sink
    from posepipe.sinks.files.ros_poses import PoseRecordingSink
    from posepipe.sinks.images.pictures import PictureSink
    from posepipe.sinks.images.video import VideoSink
    from posepipe.sinks.motion.motion_formats import open_motion_sink
    from posepipe.sinks.streams.stream_formats import open_stream

    sinks: list[FrameSink] = [open_result_sink(args.out, header)]
    sinks += [open_motion_sink(path, body) for path in ([args.bvh] if args.bvh else []) + args.motion]
    about = {"source": header.source, "model": header.model}
    if args.masks:
        sinks.append(_mask_sink(args.masks, body, about, header.start_time_ns))
    if args.record:
        sinks.append(PoseRecordingSink(args.record, body, about, header.start_time_ns))
    sinks += [open_stream(address, header, body) for address in args.stream]
    if args.video:
        sinks.append(VideoSink(args.video, body))
    if args.pictures:
        sinks.append(PictureSink(args.pictures, body))
    return sinks


def _mask_sink(path: Path, body: BodyDefinition, about: dict[str, str], start_time_ns: int) -> FrameSink:
    from posepipe.sinks.masks.mask_folder import MaskFolder
    from posepipe.sinks.masks.mask_recording import MaskRecording

    return MaskRecording(path, body, about, start_time_ns) if path.suffix else MaskFolder(path, body)


def what_was_written(args: argparse.Namespace, sinks: list[FrameSink]) -> Iterator[str]:
    """Yield a line for every output besides the results file that exists now, also after an error."""
    from posepipe.sinks.motion.motion_sink import MotionSink

    named = {"masks": args.masks, "depth and people": args.record, "video": args.video, "pictures": args.pictures}
    for what, path in named.items():
        if path is not None and path.exists():
            yield f"{what} -> {path}"
    yield from (f"stream -> {address}" for address in args.stream)
    for sink in sinks:
        if isinstance(sink, MotionSink):
            yield from map(str, sink.written) if sink.has_people else [f"no person to write to {sink.path}"]


def is_standard_output(path: Path) -> bool:
    """Return whether a file is our own standard output, as /dev/stdout is."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):  # it does not exist, or standard output is no file
        return False


def check_outputs(args: argparse.Namespace) -> None:
    """Check every output before the work begins.

    Raises
    ------
    PosepipeError
        If a file cannot be written there, would replace a file that is read, a recording or another output, or has no
        format.
    """
    from posepipe.sinks.files.result_formats import check_suffix

    _check_places(args)
    _check_clashes(args)
    check_suffix(args.out)


def _outputs(args: argparse.Namespace) -> Iterator[tuple[str, Path, bool]]:
    """Yield the option and the path of each output that is asked for, and whether it is a folder."""
    for option in _OUTPUTS:
        given = getattr(args, option)
        for path in given if isinstance(given, list) else [given]:
            if path is not None:
                yield option, path, option == "pictures" or (option == "masks" and not path.suffix)


def _check_places(args: argparse.Namespace) -> None:
    """Refuse files that are folders, and folders that are files."""
    from posepipe.errors import PosepipeError

    for option, path, is_folder in _outputs(args):
        if not is_folder and path.is_dir():
            raise PosepipeError(f"--{option} {path} is a folder; give the name of a file to write")
        above = path if is_folder else path.parent
        while not above.exists() and above != above.parent:
            above = above.parent
        if not above.is_dir():
            raise PosepipeError(f"--{option} {path}: {above} is a file, not a folder; give another name")


def _check_clashes(args: argparse.Namespace) -> None:
    """Refuse outputs that would replace what is read, a recording, or each other."""
    from posepipe.errors import PosepipeError

    refuse_to_replace(args, [(f"--{option}", path) for option, path, is_folder in _outputs(args) if not is_folder])
    folders = [(what, path) for what, path in files_read(args) if path.is_dir()]
    for option, path, is_folder in _outputs(args):
        if is_folder:
            for what, read in folders:
                if read.resolve() in (path.resolve(), *path.resolve().parents):
                    raise PosepipeError(
                        f"--{option} {path} would lie among the frames of the {what}; give another folder"
                    )
        elif option in ("record", "masks") and path.exists() and not args.overwrite:
            raise PosepipeError(f"--{option} {path} exists; give another name, or --overwrite")


def _stream_address(text: str) -> StreamAddress:
    """Parse where to send, or to listen."""
    from posepipe.sinks.streams.stream_address import StreamAddress

    try:
        return StreamAddress.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
