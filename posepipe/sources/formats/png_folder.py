"""Folders of 16-bit grey PNGs in name order, with a ``camera.json``.

The writer adds the times of the frames as ``depth.txt``. Its folders are laid out as TUM RGB-D folders;
most are in millimetres.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import (
    CAMERA_FILE_NAME,
    CameraFile,
    folder_camera,
    takes_default_unit,
    write_camera_file,
)
from posepipe.errors import PosepipeError, SourceError
from posepipe.frames import DepthFrame
from posepipe.io.files import disk_errors, temporary_name
from posepipe.sources.base.depth_units import depth_to_levels, levels_to_depth
from posepipe.sources.base.indexed_source import IndexedSource
from posepipe.sources.images.depth_png import read_depth_png, write_depth_png

TIMES_NAME = "depth.txt"

_log = logging.getLogger(__name__)


def natural_order(path: Path) -> list[tuple[int, str]]:
    """Sort key that compares digits as numbers: frame2 before frame10."""
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in re.split(r"(\d+)", path.name)]


def list_pngs(folder: Path) -> list[Path]:
    """PNG files of a folder in natural order, without hidden files."""
    with disk_errors(folder):
        files = [p for p in folder.iterdir() if p.suffix.lower() == ".png" and not p.name.startswith(".")]
    return sorted(files, key=natural_order)


def _without_special_files(folder: Path, files: list[Path]) -> list[Path]:
    """Leave out named pipes, devices and folders, with one logged warning."""
    special = {path for path in files if path.exists() and not path.is_file()}  # reading reports a dangling link
    if special:
        first = min(special, key=natural_order).name
        _log.warning("%s: %d of the *.png are no regular files and are left out, %s first", folder, len(special), first)
    return [path for path in files if path not in special]


class PngFolder(IndexedSource):
    """Frames of a PNG folder, read one at a time.

    Parameters
    ----------
    folder : the folder
    camera : replaces the folder's own ``camera.json``; a preset replaces its lens

    Raises
    ------
    FormatError
        When the calibration is missing or wrong; while iterating, when an image is not a depth image. Damaged images
        are left out.
    SourceError
        When the folder contains no PNG.
    """

    def __init__(self, folder: str | Path, camera: CameraFile | None = None) -> None:
        self.folder = Path(folder)
        self.name = str(folder)
        self._files = _without_special_files(self.folder, list_pngs(self.folder))
        if not self._files:
            raise SourceError(folder, f"no *.png there; wanted 16-bit grey PNGs beside {CAMERA_FILE_NAME}")
        self._camera = folder_camera(self.folder, camera)
        self.shape = (self._camera.height, self._camera.width)
        self.intrinsics, self.intrinsics_from = self._camera.intrinsics, self._camera.name
        by_default = ", by default" if takes_default_unit(self.folder, camera) else ""
        self.depth_unit = f"{self._camera.depth_unit_m * 1000:g} mm{by_default}"
        self.timestamps_s = np.arange(len(self._files)) / self._camera.fps

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        grey = read_depth_png(self._files[index], self._camera)
        depth = levels_to_depth(grey, self._camera.depth_unit_m)
        return self.frame(index, depth)


class PngFolderWriter:
    """Write frames as a PNG folder; a context manager.

    Depth is rounded to ``depth_unit_m``. Times, with ``start_time_ns`` added, are written to `TIMES_NAME`.

    Parameters
    ----------
    folder : is created if needed
    intrinsics, height, width : of every frame
    fps : frame rate for ``camera.json``
    depth_unit_m : metres per grey level
    start_time_ns : time of ``timestamp_s`` 0, nanoseconds since the Unix epoch
    whole : let the folder appear when the context ends without an error, and not before

    Raises
    ------
    PosepipeError
        When the folder cannot be written, or already contains PNGs.
    """

    def __init__(
        self,
        folder: str | Path,
        intrinsics: Intrinsics,
        height: int,
        width: int,
        fps: float = 30.0,
        depth_unit_m: float = 0.001,
        start_time_ns: int = 0,
        whole: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self.frame_count = 0
        self._start_time_ns = start_time_ns
        self._camera = CameraFile(width, height, intrinsics, depth_unit_m, fps)
        self._place = self.folder  # where files are written
        with disk_errors(self.folder):
            (self.folder.parent if whole else self.folder).mkdir(parents=True, exist_ok=True)
        if self.folder.exists() and (list_pngs(self.folder) or (self.folder / TIMES_NAME).exists()):
            raise SourceError(self.folder, f"already holds PNGs, or a list of them ({TIMES_NAME}); give a new folder")
        if whole:
            self._place = temporary_name(Path(os.path.realpath(self.folder)))  # a link is followed
        try:
            with self._errors():
                self._place.mkdir(exist_ok=True)
                write_camera_file(self._place / CAMERA_FILE_NAME, self._camera)
        except BaseException:
            self._remove_temporary()
            raise

    def write(self, frame: DepthFrame) -> None:
        """Append one frame. Raises ValueError for another camera, or a time before 1970."""
        wanted = (self._camera.height, self._camera.width)
        if frame.depth_m.shape != wanted or frame.intrinsics != self._camera.intrinsics:
            height, width = frame.depth_m.shape
            raise ValueError(
                f"{self.folder}: frame {frame.index} is {width}x{height} with {frame.intrinsics}; wanted frames of one"
                f" camera, {wanted[1]}x{wanted[0]} with {self._camera.intrinsics}: start another folder, or write an"
                " .npz pack, which keeps the lens of each frame"
            )
        time_ns = self._start_time_ns + round(frame.timestamp_s * 1e9)
        if time_ns < 0:
            raise ValueError(
                f"{self.folder}: frame {frame.index}: timestamp_s {frame.timestamp_s:g} lies before 1970; sort the"
                " frames by time, or give the source a date"
            )
        path = self._place / f"{self.frame_count:06d}.png"
        seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
        with self._errors(), disk_errors(path):
            write_depth_png(path, depth_to_levels(frame, self._camera.depth_unit_m))
            with (self._place / TIMES_NAME).open("a", encoding="ascii") as times:
                times.write(f"{seconds}.{nanoseconds:09d} {path.name}\n")
        self.frame_count += 1

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Let errors name the folder that was wanted, not the temporary one, which is removed."""
        try:
            with disk_errors(self.folder):
                yield
        except PosepipeError as error:
            if self._place == self.folder:
                raise
            raise PosepipeError(str(error).replace(str(self._place), str(self.folder))) from error

    def __enter__(self) -> PngFolderWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:  # every file was closed as soon as it was written
            if error is None and self._place != self.folder:
                with self._errors():
                    os.rename(self._place, os.path.realpath(self.folder))  # an error where files are in it by now
        finally:
            self._remove_temporary()

    def _remove_temporary(self) -> None:
        if self._place != self.folder:
            shutil.rmtree(self._place, ignore_errors=True)


def write_png_folder(folder: str | Path, frames: Iterable[DepthFrame], fps: float = 30.0) -> int:
    """Write frames of one camera as a PNG folder in millimetres.

    Returns the number of frames. Raises ValueError when there is none.
    """
    frames = iter(frames)
    first = next(frames, None)
    if first is None:
        raise ValueError(f"{folder}: no frames to write")
    height, width = first.depth_m.shape
    with PngFolderWriter(folder, first.intrinsics, height, width, fps) as writer:
        writer.write(first)
        for frame in frames:
            writer.write(frame)
        return writer.frame_count
