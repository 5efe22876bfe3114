"""Depth sequences of the TUM RGB-D benchmark: ``depth.txt`` lists times and 16-bit PNGs in 1/5000 m.

``rgb.txt`` lists pictures in colour in the same way. They have times of their own.

Without a ``camera.json`` the benchmark's default calibration applies (640x480, fx = fy = 525,
cx = 319.5, cy = 239.5). The calibrations of the sequences differ by up to 2 % (freiburg1 517.3/516.5,
freiburg2 520.9/521.0, freiburg3 535.4/539.2). Write a ``camera.json`` where that matters.

References
----------
https://cvg.cit.tum.de/data/datasets/rgbd-dataset/file_formats
"""

from __future__ import annotations

import logging
from decimal import Decimal, InvalidOperation
from pathlib import Path, PurePosixPath

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CAMERA_FILE_NAME, CameraFile, folder_camera, takes_default_unit
from posepipe.errors import FormatError, SourceError
from posepipe.frames import EARLIEST_DATE_NS, DepthFrame
from posepipe.io.colour_picture import decode_picture
from posepipe.io.files import listed_file, read_regular
from posepipe.recording.colour_by_time import AUTO, ColourByTime
from posepipe.sources.base.depth_units import levels_to_depth
from posepipe.sources.base.indexed_source import IndexedSource
from posepipe.sources.images.depth_png import read_depth_png

LIST_NAME = "depth.txt"
COLOUR_LIST_NAME = "rgb.txt"
_MAX_TIME_S = (1 << 63) // 10**9 - 1
_log = logging.getLogger(__name__)
DEFAULT_CAMERA = CameraFile(640, 480, Intrinsics(525.0, 525.0, 319.5, 239.5), 1 / 5000, 30.0, "the default calibration")


class TumFolder(IndexedSource):
    """Frames of a TUM RGB-D folder, read one at a time.

    Parameters
    ----------
    folder : the folder
    camera : replaces the folder's ``camera.json`` or the default calibration; a preset replaces their lens
    colour : AUTO = frames carry the pictures of ``rgb.txt``; None = none

    Raises
    ------
    FormatError
        When list or calibration are damaged; while iterating, when an image is not a depth image. Missing and damaged
        images are left out.
    SourceError
        When a list contains no frame, or the folder has no such colour.
    """

    def __init__(self, folder: str | Path, camera: CameraFile | None = None, colour: str | None = None) -> None:
        self.folder = Path(folder)
        self.name = str(folder)
        self._camera = folder_camera(self.folder, camera, DEFAULT_CAMERA)
        rows = _read_list(self.folder / LIST_NAME)
        if not rows:
            raise SourceError(folder, f"{LIST_NAME} lists no frame")
        times_ns, self._files = zip(*rows, strict=True)
        self.shape = (self._camera.height, self._camera.width)
        self.intrinsics, self.intrinsics_from = self._camera.intrinsics, self._camera.name
        self.depth_unit = f"{self._camera.depth_unit_m * 1000:g} mm"
        if takes_default_unit(self.folder, camera):
            self.depth_unit += ", that of the TUM RGB-D benchmark"
            if camera is not None:  # for another camera than the benchmark's: its images may have another unit
                _log.warning(
                    "%s: no %s says its unit, and a preset has none: a grey level is read as 1/5000 m, as in the TUM"
                    " RGB-D benchmark; if these are millimetres, give --camera a file with depth_unit_m 0.001",
                    *(self.name, CAMERA_FILE_NAME),
                )
        self.start_time_ns = times_ns[0] if times_ns[0] >= EARLIEST_DATE_NS else 0
        self.timestamps_s = (np.array(times_ns) - times_ns[0]) / 1e9
        self._times_ns = times_ns
        self._colour = None if colour is None else _Pictures(self.folder, colour)

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        grey = read_depth_png(listed_file(self.folder, self._files[index], LIST_NAME), self._camera)
        depth = levels_to_depth(grey, self._camera.depth_unit_m)
        colour = None if self._colour is None else self._colour.near(self._times_ns[index])
        return self.frame(index, depth, colour=colour)


class _Pictures(ColourByTime):
    """Pictures that the folder lists."""

    def __init__(self, folder: Path, wanted: str) -> None:
        if wanted not in (AUTO, COLOUR_LIST_NAME):
            raise SourceError(folder, f"a TUM RGB-D folder has no topic {wanted!r}; give --colour {AUTO}")
        if not (folder / COLOUR_LIST_NAME).is_file():
            raise SourceError(folder, f"no {COLOUR_LIST_NAME} there, so no colour; leave out --colour")
        rows = sorted(_read_list(folder / COLOUR_LIST_NAME))
        if not rows:
            raise SourceError(folder, f"{COLOUR_LIST_NAME} lists no picture; leave out --colour")
        self._files = [folder / file for _, file in rows]
        super().__init__(np.array([time for time, _ in rows], np.int64))
        self.shape  # noqa: B018 - a list without a picture is an error when it is opened

    def image(self, index: int) -> np.ndarray:
        """Decode a picture; see `ColourByTime.image`."""
        try:
            return decode_picture(np.frombuffer(read_regular(self._files[index]), np.uint8))
        except ValueError as error:
            raise FormatError(self._files[index], str(error)) from None


def _read_list(path: Path) -> list[tuple[int, str]]:
    """Time, nanoseconds, and file of every line, without comments."""
    lines = read_regular(path).decode("utf-8-sig", "replace").splitlines()  # editors of Windows begin with a mark
    rows = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text:
            rows.append(_read_row(path, number, text))
    return rows


def _read_row(path: Path, number: int, text: str) -> tuple[int, str]:
    time, file = (*text.split(maxsplit=1), "")[:2]  # by spaces or, as the benchmark's own tools read it, a tab
    try:
        seconds = Decimal(time)  # a float cannot hold nanoseconds since 1970
    except InvalidOperation:
        seconds = Decimal("NaN")
    if not seconds.is_finite() or not 0 <= seconds <= _MAX_TIME_S or not file.strip():
        raise FormatError(path, f"line {number}: wanted 'timestamp filename', seconds, got {text[:60]!r}")
    name = PurePosixPath(file.strip())
    if name.is_absolute() or Path(name).drive or ".." in Path(name).parts or "\0" in str(name):
        raise FormatError(path, f"line {number}: wanted a file inside the folder, got {str(name)[:60]!r}")
    return round(seconds * 1_000_000_000), file.strip()
