"""``posepipe record``: a camera, or any other source, into a recording that survives an interruption."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.source_options import add_source_options, open_named, play_as_asked
from apps.options.value_types import positive, recording_file, seconds
from apps.terminal.plain_text import show
from apps.terminal.progress import ProgressBar
from posepipe.errors import PosepipeError, counted
from posepipe.processes.interrupts import delayed_interrupt

if TYPE_CHECKING:
    from posepipe.frames import DepthFrame
    from posepipe.recording import RecordingWriter
    from posepipe.sources import FrameSource

HELP = "record a depth camera, or any other source, to an MCAP file"
EXAMPLES = (
    "posepipe record camera:realsense walk.mcap                     # until Ctrl-C",
    "posepipe record camera:kinect-v1 walk.mcap --seconds 30",
    "posepipe record camera:socket:5555 walk.mcap --frames 900      # frames sent to port 5555",
    "posepipe record camera:opencv:2 walk.mcap --camera camera.json --rotate 90",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_source_options(parser)
    parser.add_argument("file", type=recording_file, metavar="FILE.mcap", help="recording to write")
    parser.add_argument(
        "--seconds",
        type=seconds,
        metavar="S",
        help="stop after S seconds (default: at Ctrl-C or the end of the source)",
    )
    parser.add_argument("--frames", type=positive, metavar="N", help="stop after N frames")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE.mcap if it exists")


def run(args: argparse.Namespace) -> None:
    """Record the source until it ends, Ctrl-C is pressed or a limit is reached."""
    from posepipe.sources.playback import NonEmptySource

    _refuse_to_replace(args)
    with open_named(args, every_frame=True) as source:
        bar = ProgressBar(args.frames, "record", "frames")
        recorder = _Recorder(args.file, source, {"command": args.typed})
        try:
            with bar, recorder:
                for frame in NonEmptySource(play_as_asked(source, args)):
                    if args.seconds is not None and frame.timestamp_s - recorder.first_s(frame) > args.seconds:
                        break
                    recorder.write(frame)
                    bar.update(note=f"{recorder.dropped} dropped, {recorder.safe_bytes / 1e6:.1f} MB")
                    if recorder.frames == args.frames:
                        break
        finally:
            show(recorder)


def _refuse_to_replace(args: argparse.Namespace) -> None:
    from posepipe.sources.cameras import file_of_camera

    source, file = file_of_camera(args.source) or Path(args.source), args.file
    if source.resolve() in (file.resolve(), *file.resolve().parents) and source.exists():
        raise PosepipeError(f"{file} would replace a file of the source, or lie in it; give another name")
    if file.exists() and not args.overwrite:
        raise PosepipeError(f"{file} exists; give another name, or --overwrite")


class _Recorder:
    """Recording that begins with its first frame: a camera that gives none replaces no older recording.

    Ctrl-C waits for the frame that is being written; the frame is counted.
    """

    def __init__(self, path: Path, source: FrameSource, metadata: dict[str, str]) -> None:
        self._path, self._source, self._metadata = path, source, metadata
        self._writer: RecordingWriter | None = None
        self._first_s = self._last_s = 0.0
        self.frames = 0

    @property
    def dropped(self) -> int:
        """Frames that the camera took and that were lost before they came here."""
        return getattr(self._source, "dropped", 0)  # a file drops none

    @property
    def safe_bytes(self) -> int:
        """Size of the file up to its last whole frame."""
        return 0 if self._writer is None else self._writer.size

    def first_s(self, frame: DepthFrame) -> float:
        """Return the time of the recording's first frame; this one's if there is none yet."""
        return self._first_s if self.frames else frame.timestamp_s

    def write(self, frame: DepthFrame) -> None:
        """Append a frame. Raises PosepipeError when the disk is full."""
        with delayed_interrupt():
            if self._writer is None:
                self._writer = self._begin(frame)
            self._writer.write(frame)
            self._first_s, self._last_s = self.first_s(frame), frame.timestamp_s
            self.frames += 1

    def _begin(self, frame: DepthFrame) -> RecordingWriter:
        from posepipe.recording import RecordingWriter

        height, width = frame.depth_m.shape
        start_time_ns = self._source.start_time_ns
        return RecordingWriter(
            self._path, frame.intrinsics, height, width, metadata=self._metadata, start_time_ns=start_time_ns
        )

    def __enter__(self) -> _Recorder:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def __str__(self) -> str:
        if not self.frames:
            return f"nothing was recorded; {self._path} was not written"
        what = f"{counted(self.frames, 'frame')} in {self._last_s - self._first_s:.1f} s"
        return f"{what}, {self.dropped} dropped, {self.safe_bytes / 1e6:.1f} MB -> {self._path}"
