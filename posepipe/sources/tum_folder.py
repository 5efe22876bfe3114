"""A depth sequence of the TUM RGB-D benchmark: ``depth.txt`` lists times and 16-bit PNGs in 1/5000 m.

Without a ``camera.json`` the benchmark's default calibration is taken (640x480, fx = fy = 525,
cx = 319.5, cy = 239.5). The sequences' own calibrations differ by up to 2 % (freiburg1 517.3/516.5,
freiburg2 520.9/521.0, freiburg3 535.4/539.2); write a ``camera.json`` where that matters.

References
----------
https://cvg.cit.tum.de/data/datasets/rgbd-dataset/file_formats
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from posepipe.camera import Intrinsics
from posepipe.disk import disk_errors
from posepipe.errors import FormatError, SourceError
from posepipe.frames import DepthFrame
from posepipe.sources.camera_file import CAMERA_FILE_NAME, CameraFile, read_camera_file
from posepipe.sources.depth_png import depth_in_metres, read_depth_png

LIST_NAME = "depth.txt"
DEFAULT_CAMERA = CameraFile(640, 480, Intrinsics(525.0, 525.0, 319.5, 239.5), 1 / 5000, 30.0)


class TumFolder:
    """Frames of a TUM RGB-D folder, read one at a time; a `FrameSource`.

    Raises
    ------
    FormatError
        For a damaged list or calibration; while iterating, for an image that is missing or no depth image.
    SourceError
        For a list without a frame.
    """

    def __init__(self, folder: str | Path, camera: str | Path | None = None) -> None:
        self.folder = Path(folder)
        self.name = str(folder)
        own_camera = self.folder / CAMERA_FILE_NAME
        camera_path = camera or (own_camera if own_camera.is_file() else None)
        self._camera = DEFAULT_CAMERA if camera_path is None else read_camera_file(camera_path)
        self._rows = _read_list(self.folder / LIST_NAME)
        if not self._rows:
            raise SourceError(folder, f"{LIST_NAME} lists no frame")
        self.intrinsics: Intrinsics = self._camera.intrinsics
        self.frame_count: int | None = len(self._rows)
        self.start_time_ns = round(self._rows[0][0] * 1e9)

    def __iter__(self) -> Iterator[DepthFrame]:
        first_time = self._rows[0][0]
        for index, (time, file) in enumerate(self._rows):
            path = self.folder / file
            grey = read_depth_png(path)
            if grey.shape != (self._camera.height, self._camera.width):
                raise FormatError(
                    path,
                    f"{grey.shape[1]}x{grey.shape[0]} pixels, but the calibration is for "
                    f"{self._camera.width}x{self._camera.height}; give the right {CAMERA_FILE_NAME}",
                )
            depth = depth_in_metres(grey, self._camera.depth_unit_m)
            yield DepthFrame(depth, self.intrinsics, time - first_time, index)

    def __enter__(self) -> TumFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Every file is closed as soon as it is read."""


def _read_list(path: Path) -> list[tuple[float, str]]:
    """(seconds, file) of every line that is no comment."""
    with disk_errors(path):
        lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    rows = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text:
            rows.append(_read_row(path, number, text))
    return rows


def _read_row(path: Path, number: int, text: str) -> tuple[float, str]:
    time, _, file = text.partition(" ")
    try:
        seconds = float(time)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds) or seconds < 0 or not file.strip():
        raise FormatError(path, f"line {number}: wanted 'timestamp filename', got {text[:60]!r}")
    return seconds, file.strip()
