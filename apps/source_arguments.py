"""The arguments that say what to play and how: the same in every command that takes a SOURCE."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from apps.arguments import positive, seconds

if TYPE_CHECKING:
    from posepipe.sources import FrameSource

READABLE = """\
folders   16-bit *.png with camera.json; TUM RGB-D, fakenect-record, rosbag2;
          datasets of posepipe synth
files     .mcap, .bag, .db3 (also RealSense's), .mkv (Azure Kinect), .npz
          packs, .h5 (ITOP); told from what they hold, not from the name
cameras   camera:realsense, camera:orbbec, camera:kinect-v1, camera:opencv:INDEX,
          camera:pipe:PATH, camera:socket:PORT"""
"""Formats and cameras, one line a kind, for --help: the tables themselves take a second to import."""


def add_source_arguments(
    parser: argparse.ArgumentParser,
    metavar: str = "SOURCE",
    what: str = "file or folder of depth frames, or camera:NAME; see below",
) -> None:
    """SOURCE, and everything that changes how it is read."""
    parser.add_argument("source", metavar=metavar, help=what)
    parser.add_argument_group("what can be read (docs/reference/formats.md, docs/guides/cameras.md)", READABLE)
    group = parser.add_argument_group("how the source is read")
    group.add_argument(
        "--camera", metavar="PRESET|FILE", help="calibration instead of the source's own: kinect-v1, ... or camera.json"
    )
    group.add_argument("--topic", metavar="NAME", help="which depth stream, where a file holds several")
    group.add_argument("--start", type=seconds, default=0.0, metavar="S", help="from this second on")
    group.add_argument("--end", type=seconds, metavar="S", help="up to this second")
    group.add_argument("--every", type=positive, default=1, metavar="K", help="only every K-th frame")
    group.add_argument("--realtime", action="store_true", help="play a file no faster than it was recorded")
    group.add_argument("--mirror", action="store_true", help="exchange left and right: for streams that are mirrored")
    group.add_argument(
        "--rotate",
        type=int,
        choices=(0, 90, 180, 270),
        default=0,
        help="turn the picture clockwise",
    )


def open_as_asked(args: argparse.Namespace) -> FrameSource:
    """Open the SOURCE of the arguments of `add_source_arguments`, and play it as they say."""
    return play_as_asked(open_named(args), args)


def open_named(args: argparse.Namespace, every_frame: bool = False) -> FrameSource:
    """Open the SOURCE as it is; a camera keeps ``every_frame``, or drops those that come too fast."""
    from posepipe.sources import open_source

    return open_source(args.source, args.camera, args.topic, every_frame)


def play_as_asked(source: FrameSource, args: argparse.Namespace) -> FrameSource:
    """The stretch of a source that was asked for, turned."""
    from posepipe.errors import SourceError
    from posepipe.sources.playback import PacedSource, StretchOfSource
    from posepipe.sources.turning import TurnedSource

    played = StretchOfSource(source, args.start, args.end, args.every)
    if source.frame_count and played.frame_count == 0:
        last_s = float(source.timestamps_s[-1])
        end = "the end" if args.end is None else f"{args.end:g} s"
        raise SourceError(source.name, f"no frame between {args.start:g} s and {end}; the last is at {last_s:.2f} s")
    return TurnedSource(PacedSource(played) if args.realtime else played, args.mirror, args.rotate)


def refuse_source_options(args: argparse.Namespace, what: str) -> None:
    """Results are not played: raise PosepipeError where an option says how."""
    from posepipe.errors import PosepipeError

    given = {
        "--camera": args.camera,
        "--topic": args.topic,
        "--start": args.start,
        "--end": args.end,
        "--every": args.every != 1,
        "--realtime": args.realtime,
        "--mirror": args.mirror,
        "--rotate": args.rotate,
    }
    if asked := [option for option, value in given.items() if value]:
        raise PosepipeError(f"{what} are results, which {asked[0]} does not change; leave it out")
