"""``posepipe record``: a camera, or any other source, into a recording that survives whatever ends it."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from apps.arguments import positive, seconds
from apps.progress import ProgressBar
from apps.source_arguments import add_source_arguments, open_named, play_as_asked
from posepipe.errors import PosepipeError

if TYPE_CHECKING:
    from posepipe.frames import DepthFrame
    from posepipe.recording import RecordingWriter
    from posepipe.sources import FrameSource

HELP = "record a depth camera, or any other source, to an MCAP file"
EXAMPLES = (
    "posepipe record camera:realsense walk.mcap                     # until Ctrl-C",
    "posepipe record camera:kinect-v1 walk.mcap --seconds 30",
    "posepipe record camera:socket:5555 walk.mcap --frames 900      # whoever sends frames to port 5555",
    "posepipe record camera:opencv:2 walk.mcap --camera camera.json --rotate 90",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser)
    parser.add_argument("file", type=_recording_file, metavar="FILE.mcap", help="the recording")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="stop after so long; default: Ctrl-C, or the end")
    parser.add_argument("--frames", type=positive, metavar="N", help="stop after so many frames")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE.mcap if it exists")


def _recording_file(text: str) -> Path:
    if Path(text).suffix.lower() != ".mcap":
        raise argparse.ArgumentTypeError(f"wanted a name that ends in .mcap, got {text!r}")
    return Path(text)


def run(args: argparse.Namespace) -> None:
    _refuse_to_replace(args)
    with open_named(args, every_frame=True) as source:
        line = _Line(args.frames, "record", "frames")
        recorder = _Recorder(args.file, source, {"command": args.typed})
        try:
            with line, recorder:
                for frame in play_as_asked(source, args):
                    if args.seconds is not None and frame.timestamp_s - recorder.first_s(frame) > args.seconds:
                        break
                    recorder.write(frame)
                    line.tell(recorder.dropped, recorder.safe_bytes)
                    if recorder.frames == args.frames:
                        break
        finally:
            print(recorder)


def _refuse_to_replace(args: argparse.Namespace) -> None:
    source, file = Path(args.source), args.file
    if source.resolve() in (file.resolve(), *file.resolve().parents) and source.exists():
        raise PosepipeError(f"{file} would replace a file of the source, or lie in it; give another name")
    if file.exists() and not args.overwrite:
        raise PosepipeError(f"{file} exists; give another name, or --overwrite")


class _Recorder:
    """A recording that begins with its first frame, so that a camera that does not answer replaces no older one.

    It is closed with whole frames alone in it: Ctrl-C waits for the frame that is being written, and of one that found
    no room on the disk nothing stays.
    """

    def __init__(self, path: Path, source: FrameSource, metadata: dict[str, str]) -> None:
        self._path, self._source, self._metadata = path, source, metadata
        self._writer: RecordingWriter | None = None
        self._first_s = self._last_s = 0.0
        self._cut = False
        self.frames = 0
        self.safe_bytes = 0  #: of the file, up to its last whole frame

    @property
    def dropped(self) -> int:
        """Frames that the camera took and that were lost on the way here."""
        return getattr(self._source, "dropped", 0)  # a file drops nothing

    def first_s(self, frame: DepthFrame) -> float:
        """Time of the first frame of the recording, which is this one where there is none yet."""
        return self._first_s if self.frames else frame.timestamp_s

    def write(self, frame: DepthFrame) -> None:
        """Append a frame. Raises PosepipeError when the disk is full."""
        with _uninterrupted():
            if self._writer is None:
                self._writer = self._begin(frame)
            try:
                self._writer.write(frame)
            except PosepipeError:
                self._cut = True
                raise
            self.safe_bytes = self._path.stat().st_size
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
        if self._writer is None:
            return
        with _uninterrupted():
            try:
                self._writer.close()
            except PosepipeError:
                if not self._cut:
                    self._cut = True
                    raise
            finally:
                if self._cut:  # part of a frame or of the index may have been written, and more after it
                    os.truncate(self._path, self.safe_bytes)
                self.safe_bytes = self._path.stat().st_size

    def __str__(self) -> str:
        if not self.frames:
            return f"nothing was recorded; {self._path} was not written"
        what = f"{self.frames} frames in {self._last_s - self._first_s:.1f} s"
        return f"{what}, {self.dropped} dropped, {self.safe_bytes / 1e6:.1f} MB -> {self._path}"


class _Line(ProgressBar):
    """A progress bar that also tells what was lost and how large the file is."""

    def tell(self, dropped: int, size: int) -> None:
        """One frame more."""
        self.update()
        if self._bar is not None:
            self._bar.set_postfix_str(f"{dropped} dropped, {size / 1e6:.1f} MB", refresh=False)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until this is done: it could strike in the middle of a frame."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[tuple] = []
    handler = signal.signal(signal.SIGINT, lambda *what: pressed.append(what))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pressed and callable(handler):
        handler(*pressed[-1])
