"""One recording into another format, with depth, times and calibration as they are, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from posepipe.errors import PosepipeError
from posepipe.frames import DepthFrame
from posepipe.recording import RecordingWriter
from posepipe.sources.base.frame_source import FrameSource
from posepipe.sources.formats.depth_png import depth_in_grey_levels
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import PngFolderWriter

ROUNDING_M = 1e-5
"""Nearer to a whole millimetre than this is rounding of float32."""


@dataclass(frozen=True)
class FrameFormat:
    """One line of the table of formats that can be written."""

    description: str
    matches: Callable[[Path], bool]
    write: Callable[[FrameSource, Iterable[DepthFrame], Path], int]
    keeps_fractions: bool  #: of millimetres


def convert_frames(
    source: FrameSource,
    path: str | Path,
    round_to_mm: bool = False,
    on_frame: Callable[[], object] = lambda: None,
) -> int:
    """Write all frames of a source in the format that the name of ``path`` asks for; of none, nothing is written.

    Parameters
    ----------
    source : FrameSource, closed afterwards
    path : ends in .mcap or .npz, or has no suffix: a folder of PNGs
    round_to_mm : depth finer than millimetres may be rounded where the format holds whole ones
    on_frame : called after every frame

    Returns
    -------
    number of frames

    Raises
    ------
    PosepipeError
        When the path is taken, names no known format, the format would lose something, or there is no frame.
    """
    path = Path(path)
    format_ = next((each for each in FORMATS if each.matches(path)), None)
    if format_ is None:
        raise PosepipeError(f"{path}: recordings are written as {'; '.join(each.description for each in FORMATS)}")
    if path.exists():
        raise PosepipeError(f"{path}: is there already; give another name")
    with source:
        frames = _told(iter(source), path, format_.keeps_fractions or round_to_mm, on_frame)
        first = next(frames, None)
        if first is None:
            raise PosepipeError(f"{source.name}: not a single frame came; {path} was not written")
        try:
            return format_.write(source, chain([first], frames), path)
        except ValueError as error:
            raise PosepipeError(str(error)) from error


def _told(
    frames: Iterator[DepthFrame], path: Path, fractions_may_go: bool, on_frame: Callable[[], object]
) -> Iterator[DepthFrame]:
    """The frames, each looked at for what the format would lose."""
    for frame in frames:
        if not fractions_may_go:
            millimetres = depth_in_grey_levels(frame, 0.001)
            if abs(millimetres * 0.001 - frame.depth_m).max() > ROUNDING_M:
                raise PosepipeError(
                    f"{path}: frame {frame.index} is finer than millimetres; write an .mcap, or give --round-to-mm"
                )
        yield frame
        on_frame()


def _write_recording(source: FrameSource, frames: Iterable[DepthFrame], path: Path) -> int:
    with RecordingWriter(path, source.intrinsics, *source.shape, start_time_ns=source.start_time_ns) as writer:
        for frame in frames:
            writer.write(frame)
        return writer.frame_count


def _write_pack(source: FrameSource, frames: Iterable[DepthFrame], path: Path) -> int:
    return write_npz_pack(path, frames, source.start_time_ns)


def _write_pngs(source: FrameSource, frames: Iterable[DepthFrame], path: Path) -> int:
    start_time_ns = source.start_time_ns
    with PngFolderWriter(path, source.intrinsics, *source.shape, start_time_ns=start_time_ns) as writer:
        for frame in frames:
            writer.write(frame)
        return writer.frame_count


FORMATS = (
    FrameFormat("FILE.mcap, a recording", lambda path: path.suffix.lower() == ".mcap", _write_recording, True),
    FrameFormat("FILE.npz, a pack", lambda path: path.suffix.lower() == ".npz", _write_pack, False),
    FrameFormat("FOLDER, of PNGs", lambda path: path.suffix == "", _write_pngs, False),
)
"""What can be written; the name of the file tells which."""
