"""Recordings of ``fakenect-record`` (libfreenect) of a Kinect for Xbox 360: folders with one file per depth image.

``INDEX.txt`` lists ``d-TIME-TICKS.pgm`` (depth), ``r-...ppm`` (colour) and ``a-...dump`` (accelerometer). The 16 bits
are little-endian, contrary to the PGM standard. They hold the sensor's 11-bit disparity, 2047 = no reading. Other
programs record millimetres, 0 = no reading. The files do not say which, so the first images decide: values above 2047,
or 0 without any 2047, mean millimetres.

The recording has no intrinsics: without a ``camera.json`` they come from the preset ``kinect-v1``. libfreenect's
formula converts disparity to millimetres, with the reference plane from ``device.json`` where there is one.

References
----------
libfreenect: fakenect/record.c, fakenect/fakenect.c (``device.json``).
"""

from __future__ import annotations

import logging
import math
import re
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import numpy as np

from posepipe.camera.camera_file import CAMERA_FILE_NAME, CameraFile, find_camera, read_camera_file
from posepipe.errors import DamagedMessageError, FormatError, SourceError
from posepipe.frames import DepthFrame
from posepipe.io.files import disk_errors, listed_file, open_regular, read_json_object, read_regular
from posepipe.io.limits import check_pixels
from posepipe.sources.base.indexed_source import IndexedSource
from posepipe.sources.base.kinect_disparity import MAX_DEPTH_MM, NO_DISPARITY, ZeroPlane

INDEX_NAME = "INDEX.txt"
DEVICE_NAME = "device.json"
PRESET = "kinect-v1"
_SAMPLE_FRAMES = 8  # images that decide between disparity and millimetres
_LINE = re.compile(r"[adr]-(\d{1,12}(?:\.\d{1,9})?)-\d{1,10}\.(?:pgm|ppm|dump)")
_HEADER = re.compile(rb"P5[ \t]+(\d{1,5})[ \t]+(\d{1,5})[ \t]+65535[ \t]*\r?\n")
_HEADER_BYTES = 64

_log = logging.getLogger(__name__)


class FakenectDump(IndexedSource):
    """Depth images of a dump, read one at a time.

    A cut dump plays its complete images, with one logged warning.

    Parameters
    ----------
    folder : the dump
    camera : replaces the folder's ``camera.json`` or the preset

    Raises
    ------
    FormatError
        When list, calibration or image size are wrong; while iterating, when an image is of another kind.
        Missing and damaged images are left out.
    SourceError
        When the list contains no depth image.
    """

    def __init__(self, folder: str | Path, camera: CameraFile | None = None) -> None:
        self.folder = Path(folder)
        self.name = str(folder)
        rows = _read_index(self.folder / INDEX_NAME)
        if not rows:
            raise SourceError(folder, f"{INDEX_NAME} lists no depth image (d-TIME-TICKS.pgm)")
        self.shape = _read_shape(self.folder / rows[0][1])
        calibration = self._calibration(camera)
        self.intrinsics, self.intrinsics_from = calibration.intrinsics_for(*self.shape), calibration.name
        rows = self._without_cut_end(rows)
        times_ns, self._files = zip(*rows, strict=True)
        self.start_time_ns = times_ns[0]
        self.timestamps_s = (np.array(times_ns) - times_ns[0]) / 1e9
        self._millimetres = None if self._is_in_millimetres() else _read_plane(self.folder).millimetres()

    def _calibration(self, camera: CameraFile | None) -> CameraFile:
        own = self.folder / CAMERA_FILE_NAME
        if camera is None and own.is_file():
            return read_camera_file(own)
        if camera is None:
            _log.info("%s: the recording has no intrinsics; using --camera %s", self.name, PRESET)
        return camera or find_camera(PRESET)

    def _without_cut_end(self, rows: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Remove a last image that a killed recorder left incomplete."""
        first, last = self.folder / rows[0][1], self.folder / rows[-1][1]
        if last.is_file() and last.stat().st_size >= first.stat().st_size:
            return rows
        _log.warning("%s: the dump is cut: %s is incomplete and is skipped", self.name, last.name)
        return rows[:-1]

    def _is_in_millimetres(self) -> bool:
        whole = []
        for index in range(min(_SAMPLE_FRAMES, len(self))):
            with suppress(DamagedMessageError):
                whole.append(self._levels(index))
        if not whole:
            raise FormatError(self.folder, "the first depth images are all damaged")
        levels = np.stack(whole)
        highest = int(levels.max())
        if highest > MAX_DEPTH_MM:
            raise FormatError(
                self.folder,
                f"wanted 11-bit disparity (to {NO_DISPARITY}) or millimetres (to {MAX_DEPTH_MM}), 16 bits"
                f" little-endian, as fakenect-record writes them; got values up to {highest}",
            )
        zero_only = bool((levels == 0).any() and not (levels == NO_DISPARITY).any())
        return highest > NO_DISPARITY or zero_only

    def _levels(self, index: int) -> np.ndarray:
        return _read_levels(listed_file(self.folder, self._files[index], INDEX_NAME), self.shape)

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        levels = self._levels(index)
        if self._millimetres is not None:
            if levels.max() > NO_DISPARITY:
                raise FormatError(
                    self.folder / self._files[index],
                    f"wanted 11-bit disparity, as in the first images, got {levels.max()}",
                )
            levels = self._millimetres[levels]
        return self.frame(index, levels)


def _read_index(path: Path) -> list[tuple[int, str]]:
    """Time, nanoseconds since 1970, and file of every depth image; a cut last line is skipped."""
    lines = read_regular(path).decode("utf-8", "replace").split("\n")
    rows = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        match = _LINE.fullmatch(text)
        if match and text.startswith("d-"):
            rows.append((round(Decimal(match[1]) * 1_000_000_000), text))
        elif text and not match and number == len(lines) and number > 1:
            _log.warning("%s: the last line is cut and is skipped: %r", path, text[:60])
        elif text and not match:
            raise FormatError(path, f"line {number}: wanted a file d-TIME-TICKS.pgm, r-... or a-..., got {text[:60]!r}")
    return rows


def _read_shape(path: Path) -> tuple[int, int]:
    """Rows and columns, from the header of an image."""
    with open_regular(path) as stream, disk_errors(path):
        match = _match_header(path, stream.read(_HEADER_BYTES))
    height, width = int(match[2]), int(match[1])
    try:
        check_pixels(width, height)
    except ValueError as error:
        raise FormatError(path, str(error)) from error
    return height, width


def _match_header(path: Path, head: bytes) -> re.Match[bytes]:
    match = _HEADER.match(head)
    if match is None:
        raise DamagedMessageError(path, f"wanted a PGM with a first line 'P5 640 480 65535', got {head[:20]!r}")
    return match


def _read_levels(path: Path, shape: tuple[int, int]) -> np.ndarray:
    """Read sensor values, uint16 (H, W). Raises FormatError for another size, DamagedMessageError for a cut image."""
    size = 2 * shape[0] * shape[1]
    with open_regular(path) as stream, disk_errors(path):
        data = stream.read(_HEADER_BYTES + size + 1)  # at most one image, whatever the size of the file
    match = _match_header(path, data[:_HEADER_BYTES])
    if (int(match[2]), int(match[1])) != shape:
        raise FormatError(
            path, f"{match[1].decode()}x{match[2].decode()} pixels, the first image has {shape[1]}x{shape[0]}"
        )
    if len(data) - match.end() != size:
        raise DamagedMessageError(
            path, f"wanted {size} bytes of depth, got {len(data) - match.end()}: the image is cut", len(data)
        )
    return np.frombuffer(data, "<u2", offset=match.end()).reshape(shape)


def _read_plane(folder: Path) -> ZeroPlane:
    """Reference plane of the recorded camera, from ``device.json``; the default without that file."""
    path = folder / DEVICE_NAME
    if not path.is_file():
        return ZeroPlane()
    values = read_json_object(path)
    try:
        zero = values["reg_info"]["zero_plane_info"]
        names = ("dcmos_emitter_distance", "reference_distance", "reference_pixel_size")
        numbers = [float(zero[name]) for name in names] + [float(values["const_shift"])]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            path,
            f"wanted reg_info.zero_plane_info and const_shift, as libfreenect reads them ({error!r}); or remove it",
        ) from error
    if not all(0 < number < math.inf for number in numbers):
        raise FormatError(path, f"zero_plane_info and const_shift: wanted positive numbers, got {numbers}")
    return ZeroPlane(*numbers)
