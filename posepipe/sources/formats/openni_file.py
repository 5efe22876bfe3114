"""Recordings of OpenNI (``.oni``), of a Kinect, an Xtion or another sensor of PrimeSense.

A file is a row of records. Those of the depth node are its properties, such as its size and field of view, and its
frames: 16zT or uncompressed. Times are microseconds, depth is millimetres, or what the pixel format of OpenNI 2 says.

References
----------
OpenNI 1.5: Modules/nimRecorder (DataRecords.h, PlayerNode.cpp). OpenNI 2.2: Source/Core/OniRecorder.cpp.
"""

from __future__ import annotations

import logging
import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from posepipe.camera import Intrinsics, check_lens
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import DamagedMessageError, FormatError
from posepipe.frames import DepthFrame
from posepipe.io.files import disk_errors, open_regular
from posepipe.io.limits import check_block, check_pixels, max_plain_records
from posepipe.recording import decode_16z
from posepipe.sources.base.depth_units import levels_to_depth
from posepipe.sources.base.indexed_source import IndexedSource

ONI_MAGIC = b"NI10"
_FILE_HEADER = struct.Struct("<4sBBHIQI")  # magic, version (four numbers), largest time, largest node
_RECORD = struct.Struct("<4sIIII")  # magic, kind, node, bytes of the fields with this header, bytes of the payload
_RECORD_MAGIC = b"NIR\0"
_INTEGER, _GENERAL, _NEW_DATA, _END = 0x03, 0x06, 0x0A, 0x0B
_NODE_ADDED = (0x02, 0x0C, 0x0D)
_DEPTH_NODE = 2
_WIDE_POSITIONS = (1, 0, 1)  # version from which positions in the file have 64 bits
_MAX_FIELDS_BYTES = 1 << 20
_MAX_TIME_US = 1 << 53
_CODECS = {b"16zT": "16zT", b"NONE": "uncompressed", b"\0\0\0\0": "uncompressed"}
_UNITS_M = {100: 0.001, 101: 0.0001}
"""Metres per level of the pixel formats of depth: ONI_PIXEL_FORMAT_DEPTH_1_MM and DEPTH_100_UM."""
_DEFAULT_FORMAT = 100  # OpenNI 1 knows no other

_log = logging.getLogger(__name__)


_CROP = struct.Struct("<IHHHH")  # whether it is, then column, row, width and height


class _Place(NamedTuple):
    """One frame in the file."""

    time_us: int
    start: int  #: of its data, bytes
    size: int  #: of its data, bytes
    mirrored: bool
    crop: tuple[slice, slice] | None  #: rows and columns that its data are; None = all


@dataclass
class _DepthNode:
    """What the records say of the first depth node."""

    id: int = -1
    codec: bytes = b""
    properties: dict[str, bytes] = field(default_factory=dict)
    frames: list[_Place] = field(default_factory=list)

    @property
    def mirrored(self) -> bool:
        """Whether frames are mirrored from here on; a key of OpenNI's viewer changes it while it records."""
        return int.from_bytes(self.properties.get("xnMirror", b""), "little") == 1

    @property
    def crop(self) -> tuple[slice, slice] | None:
        """Rows and columns of the image that frames hold from here on; None = all."""
        found = self.properties.get("xnCropping", b"")
        is_cropped, col, row, width, height = _CROP.unpack(found) if len(found) == _CROP.size else (0,) * 5
        return (slice(row, row + height), slice(col, col + width)) if is_cropped else None


class OpenniFile(IndexedSource):
    """Depth frames of one recording, read one at a time; mirrored ones are mirrored back.

    Parameters
    ----------
    path : the recording
    camera : replaces the field of view of the file

    Raises
    ------
    FormatError
        When the file is damaged, holds no depth, or its depth has another codec.
    """

    def __init__(self, path: str | Path, camera: CameraFile | None = None) -> None:
        self.path = Path(path)
        self.name = str(path)
        self._stream = open_regular(path)
        try:
            with disk_errors(path):
                self._node = self._read_records()
            self.shape = self._read_shape()
            self._unit_m = self._read_unit_m()
            self.intrinsics = self._lens() if camera is None else camera.intrinsics_for(*self.shape)
        except BaseException:
            self._stream.close()
            raise
        self.intrinsics_from = "the field of view in the file" if camera is None else camera.name
        times_us = np.array([frame.time_us for frame in self._node.frames], float)
        self.timestamps_s = (times_us - times_us[0]) / 1e6

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        self.refuse_closed(self._stream.closed)
        place = self._node.frames[index]
        with disk_errors(self.path):
            self._stream.seek(place.start)
            data = self._stream.read(place.size)
        try:
            levels = self._decoded(data, place.crop)
        except ValueError as error:
            raise DamagedMessageError(self.path, f"frame {index}: {error}", place.start) from error
        depth = levels_to_depth(levels, self._unit_m)
        return self.frame(index, depth[:, ::-1] if place.mirrored else depth)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _decoded(self, data: bytes, crop: tuple[slice, slice] | None) -> np.ndarray:
        """Levels of a whole image: around what it was cropped to there are no readings."""
        if crop is None:
            return self._unpacked(data, *self.shape)
        whole = np.zeros(self.shape, np.uint16)
        rows, cols = crop
        if rows.stop > self.shape[0] or cols.stop > self.shape[1]:
            raise ValueError(f"cropped to {cols.stop}x{rows.stop} pixels of an image of {self.shape[::-1]}")
        whole[crop] = self._unpacked(data, rows.stop - rows.start, cols.stop - cols.start)
        return whole

    def _unpacked(self, data: bytes, height: int, width: int) -> np.ndarray:
        if self._node.codec == b"16zT":
            return decode_16z(data, height, width)
        if len(data) != 2 * height * width:
            raise ValueError(f"{len(data)} bytes; wanted {2 * height * width} for {width}x{height} pixels")
        return np.frombuffer(data, "<u2").astype(np.uint16).reshape(height, width)

    def _read_records(self) -> _DepthNode:
        node = _DepthNode()
        for kind, owner, fields, place, size in self._records():
            if kind in _NODE_ADDED and node.id < 0:
                rest = fields[_text_bytes(fields) :]
                if len(rest) >= 8 and int.from_bytes(rest[:4], "little") == _DEPTH_NODE:
                    node.id, node.codec = owner, rest[4:8]
            elif owner != node.id:
                continue
            elif kind in (_INTEGER, _GENERAL):
                name, value = _property(fields)
                node.properties[name] = value
            elif kind == _NEW_DATA and len(fields) >= 8 and size:
                time_us = min(int.from_bytes(fields[:8], "little"), _MAX_TIME_US)
                node.frames.append(_Place(time_us, place, size, node.mirrored, node.crop))
        if node.id < 0:
            raise FormatError(self.path, "a recording of OpenNI without depth")
        if node.codec not in _CODECS:
            readable = ", ".join(dict.fromkeys(_CODECS.values()))
            raise FormatError(self.path, f"depth has the codec {node.codec!r}; readable: {readable}")
        if not node.frames:
            raise FormatError(self.path, "no complete depth frame in the recording")
        return node

    def _records(self) -> Iterator[tuple[int, int, bytes, int, int]]:
        """Yield kind, node and fields of every complete record, and place and bytes of its payload."""
        stream, path = self._stream, self.path
        end = os.fstat(stream.fileno()).st_size
        header = stream.read(_FILE_HEADER.size)
        if len(header) < _FILE_HEADER.size or not header.startswith(ONI_MAGIC):
            raise FormatError(path, "wanted a recording of OpenNI (.oni), got a cut one or another kind of file")
        _, major, minor, maintenance, *_ = _FILE_HEADER.unpack(header)
        undo_bytes = 8 if (major, minor, maintenance) >= _WIDE_POSITIONS else 4
        at = _FILE_HEADER.size
        for _ in range(max_plain_records(end)):
            stream.seek(at)
            head = stream.read(_RECORD.size)
            if len(head) < _RECORD.size:
                _log.warning("%s: the file is cut after %d bytes; its complete frames are played", path, end)
                return
            magic, kind, node, fields_bytes, payload_bytes = _RECORD.unpack(head)
            if magic != _RECORD_MAGIC or not _RECORD.size + undo_bytes <= fields_bytes <= _MAX_FIELDS_BYTES:
                raise FormatError(path, "wanted a record of OpenNI", at)
            if kind == _END:
                return
            _check_payload(path, payload_bytes, at)
            fields = stream.read(fields_bytes - _RECORD.size)[undo_bytes:]
            place = at + fields_bytes
            if place + payload_bytes > end:
                _log.warning("%s: the file is cut after %d bytes; its complete frames are played", path, end)
                return
            yield kind, node, fields, place, payload_bytes
            at = place + payload_bytes
        raise FormatError(path, "more records than a file of its size has")

    def _read_shape(self) -> tuple[int, int]:
        mode = self._node.properties.get("xnMapOutputMode", b"")
        if len(mode) < 8:
            raise FormatError(self.path, "the size of its depth images (xnMapOutputMode) is missing")
        width, height = struct.unpack_from("<II", mode)
        try:
            check_pixels(width, height)
        except ValueError as error:
            raise FormatError(self.path, str(error)) from error
        return height, width

    def _read_unit_m(self) -> float:
        """Metres per level of depth."""
        found = self._node.properties.get("oniPixelFormat")
        pixel_format = _DEFAULT_FORMAT if found is None else int.from_bytes(found, "little")
        if pixel_format not in _UNITS_M:
            wanted = "millimetres (100) or tenths of them (101)"
            raise FormatError(self.path, f"wanted depth in {wanted}, got pixel format {pixel_format} of OpenNI 2")
        return _UNITS_M[pixel_format]

    def _lens(self) -> Intrinsics:
        """OpenNI's pinhole: the axis through the middle of the image, focal lengths by the field of view."""
        view = self._node.properties.get("xnFOV", b"")
        if len(view) < 16:
            raise FormatError(self.path, "its field of view (xnFOV) is missing; give --camera PRESET|FILE")
        across, down = struct.unpack_from("<dd", view)
        if not (0 < across < math.pi and 0 < down < math.pi):
            raise FormatError(self.path, f"field of view {across:g} x {down:g} radians; give --camera PRESET|FILE")
        height, width = self.shape
        lens = Intrinsics(width / 2 / math.tan(across / 2), height / 2 / math.tan(down / 2), width / 2, height / 2)
        try:
            check_lens(lens, width, height)
        except ValueError as error:
            raise FormatError(self.path, f"{error}; give --camera PRESET|FILE") from error
        return lens


def _check_payload(path: Path, size: int, at: int) -> None:
    """Raise FormatError for a payload that is larger than any frame."""
    try:
        check_block(size)
    except ValueError as error:
        raise FormatError(path, str(error), at) from error


def _text_bytes(fields: bytes) -> int:
    """Bytes of a text with its length."""
    return 4 + int.from_bytes(fields[:4], "little")


def _property(fields: bytes) -> tuple[str, bytes]:
    """Name and value of a property; the value follows its own length."""
    start = _text_bytes(fields)
    name = fields[4:start].rstrip(b"\0").decode("ascii", "replace")
    size = int.from_bytes(fields[start : start + 4], "little")
    return name, fields[start + 4 : start + 4 + size]
