"""Conversion of recordings between formats, without loss of depth, times or calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from posepipe.camera.camera_file import DEFAULT_FPS, FPS_RANGE
from posepipe.errors import PosepipeError
from posepipe.frames import DepthFrame
from posepipe.io.files import reserved
from posepipe.recording import RecordingWriter
from posepipe.sources.base.depth_units import depth_to_levels
from posepipe.sources.base.frame_source import FrameSource
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import PngFolderWriter

ROUNDING_TOLERANCE_M = 1e-5
"""Maximum distance from a whole millimetre that counts as rounding of float32."""


@dataclass(frozen=True)
class FrameFormat:
    """One format of `FORMATS`."""

    description: str
    matches: Callable[[Path], bool]  #: whether the name of the output selects this format
    write: Callable[[FrameSource, Iterable[DepthFrame], Path], int]  #: returns the number of frames
    keeps_fractions: bool  #: whether it stores depth finer than millimetres


def convert_frames(
    source: FrameSource,
    path: str | Path,
    round_to_mm: bool = False,
    on_frame: Callable[[], object] = lambda: None,
) -> int:
    """Write all frames of a source in the format that the name of ``path`` selects.

    A source without frames is an error, and nothing is written. The output appears when it is complete: a damaged
    source, a full disk or Ctrl-C leaves nothing of it. Recordings and folders of a camera grow frame by frame instead
    and keep what came before an error, because its frames do not come again.

    Parameters
    ----------
    source : FrameSource, closed afterwards
    path : ends in .mcap or .npz, or has no suffix: a folder of PNGs
    round_to_mm : allow rounding to whole millimetres where the format needs it
    on_frame : called after every frame

    Returns
    -------
    number of frames

    Raises
    ------
    PosepipeError
        When ``path`` exists or selects no format, when the format would lose depth, or when no frame comes.
    """
    path = Path(path)
    format_ = next((each for each in FORMATS if each.matches(path)), None)
    if format_ is None:
        raise PosepipeError(f"{path}: recordings are written as {'; '.join(each.description for each in FORMATS)}")
    if path.exists():
        raise PosepipeError(f"{path}: is there already; give another name")
    with source:
        frames = _checked(iter(source), path, format_.keeps_fractions or round_to_mm, on_frame)
        try:
            first = next(frames, None)
            if first is None:
                raise PosepipeError(f"{source.name}: not a single frame came; {path} was not written")
            return format_.write(source, chain([first], frames), path)
        except ValueError as error:
            raise PosepipeError(str(error)) from error


def _checked(
    frames: Iterator[DepthFrame], path: Path, fractions_allowed: bool, on_frame: Callable[[], object]
) -> Iterator[DepthFrame]:
    """Check every frame for depth that the format would lose. Raises ValueError for such a frame."""
    for frame in frames:
        if not fractions_allowed:
            millimetres = depth_to_levels(frame, 0.001)
            if abs(millimetres * 0.001 - frame.depth_m).max() > ROUNDING_TOLERANCE_M:
                raise ValueError(
                    f"{path}: frame {frame.index} is finer than millimetres; write an .mcap, or give --round-to-mm"
                )
        yield frame
        on_frame()


def _write_recording(source: FrameSource, frames: Iterable[DepthFrame], path: Path) -> int:
    camera, start_ns, whole = (source.intrinsics, *source.shape), source.start_time_ns, source.frame_count is not None
    with RecordingWriter(path, *camera, start_time_ns=start_ns, whole=whole) as writer:
        for frame in frames:
            writer.write(frame)
        return writer.frame_count


def _write_pack(source: FrameSource, frames: Iterable[DepthFrame], path: Path) -> int:
    with reserved(path):  # it is written when all frames were read
        return write_npz_pack(path, frames, source.start_time_ns)


def _frame_rate(source: FrameSource) -> float:
    """Frames per second of a file, by the median of its steps; the default where it tells none."""
    if source.frame_count is None or source.frame_count < 2:
        return DEFAULT_FPS
    step_s = float(np.median(np.diff(source.timestamps_s)))
    rate = float(f"{1 / step_s:.6g}") if step_s > 0 else DEFAULT_FPS
    return min(max(rate, FPS_RANGE[0]), FPS_RANGE[1])


def _write_pngs(source: FrameSource, frames: Iterable[DepthFrame], path: Path) -> int:
    camera, start_ns, whole = (source.intrinsics, *source.shape), source.start_time_ns, source.frame_count is not None
    with PngFolderWriter(path, *camera, fps=_frame_rate(source), start_time_ns=start_ns, whole=whole) as writer:
        for frame in frames:
            writer.write(frame)
        return writer.frame_count


FORMATS = (
    FrameFormat("FILE.mcap, a recording", lambda path: path.suffix.lower() == ".mcap", _write_recording, True),
    FrameFormat("FILE.npz, a pack", lambda path: path.suffix.lower() == ".npz", _write_pack, False),
    FrameFormat("FOLDER, of PNGs", lambda path: path.suffix == "", _write_pngs, False),
)
"""All formats for writing; the name of the output selects one."""
