"""A folder that ``fakenect-record`` of libfreenect made of a Kinect for Xbox 360: one file a depth image.

``INDEX.txt`` lists ``d-TIME-TICKS.pgm`` (depth), ``r-...ppm`` (colour) and ``a-...dump`` (accelerometer). Against the
PGM standard its 16 bits are little-endian. They are the sensor's 11-bit disparity, 2047 = no reading; programs of one's
own may have recorded millimetres, 0 = no reading. The file does not say which, so the first images are looked at:
a value above 2047, or 0 where 2047 is not to be found, says millimetres.

A Kinect does not write how it sees either: without a ``camera.json`` the preset ``kinect-v1`` is taken. Disparity
becomes millimetres by libfreenect's formula, with the camera's own plane of reference where ``device.json`` has it.

References
----------
libfreenect: fakenect/record.c, fakenect/fakenect.c (``device.json``), src/registration.c (``freenect_raw_to_mm``).
"""

from __future__ import annotations

import logging
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

from posepipe.camera.camera_file import CAMERA_FILE_NAME, CameraFile, find_camera, read_camera_file
from posepipe.errors import FormatError, SourceError
from posepipe.frames import DepthFrame
from posepipe.io.files import disk_errors, read_json_object
from posepipe.sources.base.indexed_source import IndexedSource

INDEX_NAME = "INDEX.txt"
DEVICE_NAME = "device.json"
PRESET = "kinect-v1"
NO_DISPARITY = 2047
_LOOKS = 8  # images looked at to tell disparity from millimetres
_MOST_MM = 10_000  # libfreenect gives nothing further
_LINE = re.compile(r"[adr]-(\d{1,12}(?:\.\d{1,9})?)-\d{1,10}\.(?:pgm|ppm|dump)")
_HEADER = re.compile(rb"P5[ \t]+(\d{1,5})[ \t]+(\d{1,5})[ \t]+65535[ \t]*\r?\n")
_HEADER_BYTES = 64
_INDEX_BYTES = 1 << 30

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ZeroPlane:
    """The plane that a Kinect measures disparity against; the defaults are libfreenect's, of a Kinect of its author."""

    dcmos_emitter_distance: float = 7.5  #: between projector and depth camera, cm
    reference_distance: float = 120.0  #: of the plane, cm
    reference_pixel_size: float = 0.1042  #: mm
    const_shift: float = 200.0  #: disparity of the plane, pixels

    def millimetres(self) -> np.ndarray:
        """Depth of every disparity from 0 to 2047: uint16 (2048,), 0 = no reading. Fractions are cut off, as there."""
        emitter, distance, pixel = np.array(  # libfreenect keeps them as float, and computes in double
            [self.dcmos_emitter_distance, self.reference_distance, self.reference_pixel_size], np.float32
        ).tolist()
        metric = ((np.arange(NO_DISPARITY + 1) - 4 * self.const_shift) / 4 - 0.375) * pixel
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = 10 * (metric * distance / (emitter - metric) + distance)
        depth[NO_DISPARITY] = 0
        return np.where((depth > 0) & (depth < _MOST_MM), depth, 0).astype(np.uint16)


class FakenectDump(IndexedSource):
    """Depth images of a dump, read one at a time. A cut dump plays what it has, after one logged warning.

    Parameters
    ----------
    camera : a calibration to take instead of the folder's ``camera.json``, or of the preset

    Raises
    ------
    FormatError
        For a damaged list or calibration, or images of another size; while iterating, for an image that is missing or
        no depth image.
    SourceError
        For a list without a depth image.
    """

    def __init__(self, folder: str | Path, camera: CameraFile | None = None) -> None:
        self.folder = Path(folder)
        self.name = str(folder)
        rows = _read_index(self.folder / INDEX_NAME)
        if not rows:
            raise SourceError(folder, f"{INDEX_NAME} lists no depth image (d-TIME-TICKS.pgm)")
        self.shape = _read_shape(self.folder / rows[0][1])
        lens = self._lens(camera)
        self.intrinsics, self.lens_from = lens.intrinsics_for(*self.shape), lens.name
        rows = self._without_a_cut_end(rows)
        times_ns, self._files = zip(*rows, strict=True)
        self.start_time_ns = times_ns[0]
        self.timestamps_s = (np.array(times_ns) - times_ns[0]) / 1e9
        self._millimetres = None if self._is_in_millimetres() else _read_plane(self.folder).millimetres()

    def _lens(self, camera: CameraFile | None) -> CameraFile:
        own = self.folder / CAMERA_FILE_NAME
        if camera is None and own.is_file():
            return read_camera_file(own)
        if camera is None:
            _log.info("%s: a Kinect does not write its lens down; taking --camera %s", self.name, PRESET)
        return camera or find_camera(PRESET)

    def _without_a_cut_end(self, rows: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """All but the last image, where a killed recorder left that unfinished."""
        first, last = self.folder / rows[0][1], self.folder / rows[-1][1]
        if last.is_file() and last.stat().st_size >= first.stat().st_size:
            return rows
        _log.warning("%s: the dump is cut: %s is not whole and is passed over", self.name, last.name)
        return rows[:-1]

    def _is_in_millimetres(self) -> bool:
        levels = np.stack([self._levels(index) for index in range(min(_LOOKS, len(self)))])
        highest = int(levels.max())
        if highest > _MOST_MM:
            raise FormatError(
                self.folder,
                f"wanted 11-bit disparity (to {NO_DISPARITY}) or millimetres (to {_MOST_MM}), 16 bits little-endian,"
                f" as fakenect-record writes them; got values up to {highest}",
            )
        without = bool((levels == 0).any() and not (levels == NO_DISPARITY).any())
        return highest > NO_DISPARITY or without

    def _levels(self, index: int) -> np.ndarray:
        return _read_levels(self.folder / self._files[index], self.shape)

    def __getitem__(self, index: int) -> DepthFrame:
        levels = self._levels(index)
        if self._millimetres is not None:
            if levels.max() > NO_DISPARITY:
                raise FormatError(
                    self.folder / self._files[index],
                    f"wanted 11-bit disparity, as in the first images, got {levels.max()}",
                )
            levels = self._millimetres[levels]
        return DepthFrame(levels, self.intrinsics, float(self.timestamps_s[index]), index)


def _read_index(path: Path) -> list[tuple[int, str]]:
    """(nanoseconds since 1970, file) of every depth image. A last line that was cut is passed over."""
    with disk_errors(path):
        size = path.stat().st_size
        if size > _INDEX_BYTES:
            raise FormatError(path, f"wanted a list of files, got {size} bytes")
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    rows = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        match = _LINE.fullmatch(text)
        if match and text.startswith("d-"):
            rows.append((round(Decimal(match[1]) * 1_000_000_000), text))
        elif text and not match and number == len(lines) and number > 1:
            _log.warning("%s: the last line is cut and is passed over: %r", path, text[:60])
        elif text and not match:
            raise FormatError(path, f"line {number}: wanted a file d-TIME-TICKS.pgm, r-... or a-..., got {text[:60]!r}")
    return rows


def _read_shape(path: Path) -> tuple[int, int]:
    """Rows and columns that an image says it has."""
    with disk_errors(path), path.open("rb") as stream:
        match = _match_header(path, stream.read(_HEADER_BYTES))
    return int(match[2]), int(match[1])


def _match_header(path: Path, head: bytes) -> re.Match[bytes]:
    match = _HEADER.match(head)
    if match is None:
        raise FormatError(path, f"wanted a PGM with a first line 'P5 640 480 65535', got {head[:20]!r}")
    return match


def _read_levels(path: Path, shape: tuple[int, int]) -> np.ndarray:
    """uint16 (H, W) as the sensor gave them."""
    rest = 2 * shape[0] * shape[1]
    with disk_errors(path), path.open("rb") as stream:
        data = stream.read(_HEADER_BYTES + rest + 1)  # never more than an image, whatever lies there
    match = _match_header(path, data[:_HEADER_BYTES])
    if (int(match[2]), int(match[1])) != shape:
        raise FormatError(
            path, f"{match[1].decode()}x{match[2].decode()} pixels, the first image has {shape[1]}x{shape[0]}"
        )
    if len(data) - match.end() != rest:
        raise FormatError(
            path, f"wanted {rest} bytes of depth, got {len(data) - match.end()}: the image is cut", len(data)
        )
    return np.frombuffer(data, "<u2", offset=match.end()).reshape(shape)


def _read_plane(folder: Path) -> ZeroPlane:
    """The recorded camera's own, where newer programs wrote it down."""
    path = folder / DEVICE_NAME
    if not path.is_file():
        return ZeroPlane()
    values = read_json_object(path)
    try:
        zero = values["reg_info"]["zero_plane_info"]
        names = ("dcmos_emitter_distance", "reference_distance", "reference_pixel_size")
        numbers = [float(zero[name]) for name in names] + [float(values["const_shift"])]
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(
            path,
            f"wanted reg_info.zero_plane_info and const_shift, as libfreenect reads them ({error!r}); or remove it",
        ) from error
    if not all(0 < number < math.inf for number in numbers):
        raise FormatError(path, f"zero_plane_info and const_shift: wanted positive numbers, got {numbers}")
    return ZeroPlane(*numbers)
