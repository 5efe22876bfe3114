"""Options that say which source to play, and how; the same in every command that takes a SOURCE."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from apps.options.each_source import OfEachSource, SeveralSources
from apps.options.value_types import positive, seconds

if TYPE_CHECKING:
    from posepipe.sources import FrameSource

READABLE = """\
folders   16-bit *.png, or *.npy, *.pgm or *.tiff, with camera.json; TUM RGB-D,
          fakenect-record, rosbag2; datasets of posepipe synth
files     .mcap, .bag, .db3 (also RealSense's), .mkv (Azure Kinect), .oni
          (OpenNI), .npz packs, .h5 (ITOP); recognised by their content, not
          their name
cameras   camera:realsense, camera:orbbec, camera:oak, camera:kinect-v1,
          camera:opencv:INDEX, camera:pipe:PATH, camera:socket:PORT,
          camera:ros2:TOPIC"""
"""Formats and cameras, for --help. Written out, because importing their tables takes a second."""
_TIME_DECIMALS = 6  # as in results


def add_source_options(
    parser: argparse.ArgumentParser,
    metavar: str = "SOURCE",
    what: str = "file or folder of depth frames, or camera:NAME; see below",
    several: bool = False,
) -> None:
    """Add SOURCE, or ``several`` of them, and the options that change how they are read."""
    if several:
        what += "; of several cameras that see the same people, one for each (docs/guides/several-cameras.md)"
        parser.add_argument("source", nargs="+", action=SeveralSources, metavar=metavar, help=what)
    else:
        parser.add_argument("source", metavar=metavar, help=what)
    parser.add_argument_group("what can be read (docs/reference/formats.md, docs/guides/cameras.md)", READABLE)
    group = parser.add_argument_group("how the source is read")
    group.add_argument(
        "--camera",
        action=OfEachSource,
        metavar="PRESET|FILE",
        help="calibration instead of the source's own: a preset such as kinect-v1, or a camera.json",
    )
    group.add_argument(
        "--topic", action=OfEachSource, metavar="NAME", help="depth stream to read, if a file holds several"
    )
    group.add_argument(
        "--colour",
        action=OfEachSource,
        metavar="TOPIC|auto",
        help="of a ROS recording or TUM folder: show and record the pictures of this colour stream, too; auto = the"
        " only one",
    )
    group.add_argument("--start", type=seconds, default=0.0, metavar="S", help="start at this time, in seconds")
    group.add_argument("--end", type=seconds, metavar="S", help="end at this time, in seconds")
    group.add_argument("--frame-step", type=positive, default=1, metavar="K", help="use only every K-th frame")
    group.add_argument(
        "--realtime",
        action="store_true",
        help="play a file no faster than it was recorded; a long gap is shortened to 2 seconds",
    )
    group.add_argument("--mirror", action="store_true", help="swap left and right, for mirrored streams")
    group.add_argument(
        "--rotate",
        action=OfEachSource,
        type=int,
        choices=(0, 90, 180, 270),
        default=0,
        help="rotate the image clockwise, in degrees",
    )


def open_as_asked(args: argparse.Namespace) -> FrameSource:
    """Open the SOURCE of the arguments, to be played as they say."""
    return play_as_asked(open_named(args), args)


def open_named(args: argparse.Namespace, every_frame: bool = False) -> FrameSource:
    """Open the SOURCE as it is; a camera keeps ``every_frame``, or drops those that come too fast."""
    from posepipe.sources import open_source

    return open_source(args.source, args.camera, args.topic, every_frame, args.colour)


def play_as_asked(source: FrameSource, args: argparse.Namespace) -> FrameSource:
    """Return the stretch of an open source that the arguments name, mirrored and rotated.

    Raises
    ------
    SourceError
        If the stretch holds no frame.
    """
    from posepipe.errors import SourceError
    from posepipe.sources.playback import PacedSource, SlicedSource
    from posepipe.sources.rotation import RotatedSource

    played = SlicedSource(source, args.start, args.end, args.frame_step)
    if source.frame_count and played.frame_count == 0:
        last_s = float(source.timestamps_s[-1])
        end = "the end" if args.end is None else f"{args.end:g} s"
        raise SourceError(source.name, f"no frame between {args.start:g} s and {end}; the last is at {last_s:.2f} s")
    return RotatedSource(PacedSource(played) if args.realtime else played, args.mirror, args.rotate)


def open_together(each: Sequence[argparse.Namespace], offsets_s: Sequence[float]) -> list[FrameSource]:
    """Open the sources of `each_source`, to be played as asked: of files --start and --end are times of the first.

    ``offsets_s`` as in `posepipe.multiview.frame_sets.FrameSets`.
    """
    from posepipe.multiview.frame_sets import clock_shifts_s

    opened, shifts_s = [open_named(one) for one in each], [0.0] * len(each)
    if all(source.frame_count is not None for source in opened):  # a camera would start to tell its time
        shifts_s = clock_shifts_s(opened, offsets_s)
    return [
        play_as_asked(source, _on_own_clock(one, shift_s))
        for source, one, shift_s in zip(opened, each, shifts_s, strict=True)
    ]


def _on_own_clock(args: argparse.Namespace, shift_s: float) -> argparse.Namespace:
    """Return the arguments of a source with its own times, to which ``shift_s`` is added for those of the first."""
    end_s = None if args.end is None else round(args.end - shift_s, _TIME_DECIMALS)
    if args.start:
        start_s = round(args.start - shift_s, _TIME_DECIMALS)
    else:  # from its first frame
        start_s = 0.0 if end_s is None else min(0.0, end_s)
    return argparse.Namespace(**{**vars(args), "start": start_s, "end": end_s})


def refuse_source_options(args: argparse.Namespace, what: str, kind: str = "are results") -> None:
    """Raise PosepipeError if an option says how to play ``what``, which by its ``kind`` is not played."""
    from posepipe.errors import PosepipeError

    given = {
        "--camera": args.camera,
        "--topic": args.topic,
        "--colour": args.colour,
        "--start": args.start,
        "--end": args.end,
        "--frame-step": args.frame_step not in (1, None),
        "--realtime": args.realtime,
        "--mirror": args.mirror,
        "--rotate": args.rotate,
        "--round-to-mm": getattr(args, "round_to_mm", False),
    }
    if asked := [option for option, value in given.items() if value]:
        raise PosepipeError(f"{what} {kind}; {asked[0]} applies to depth frames only, leave it out")
