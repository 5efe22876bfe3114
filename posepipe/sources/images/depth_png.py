"""One depth image as a 16-bit grey PNG."""

from __future__ import annotations

import struct
from pathlib import Path

import cv2
import numpy as np

from posepipe.camera.camera_file import CameraFile, what_fits
from posepipe.errors import DamagedMessageError, FormatError
from posepipe.io.files import disk_errors, open_regular, replace_file
from posepipe.io.limits import MAX_PIXELS
from posepipe.io.png_chunks import checked_png

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
PNG_BITS = 24
"""Place of the byte that holds the bits of a channel."""
_END_CHUNK = b"IEND\xaeB`\x82"
_SIZE = struct.Struct(">II")  #: width, height
_SIZE_OFFSET = 16
_MAX_FILE_BYTES = 2 * 2 * MAX_PIXELS  #: twice the largest image, for metadata
_COLOURS = {0: "grey", 2: "colour", 3: "palette", 4: "grey with alpha", 6: "colour with alpha"}


def read_depth_png(path: str | Path, camera: CameraFile) -> np.ndarray:
    """Read uint16 (H, W) grey levels of the size of a calibration; the header is compared before decoding.

    Raises
    ------
    DamagedMessageError
        For a file that is not a PNG, is cut or damaged: the other files of a folder may be readable.
    FormatError
        For another size, or when it is not 16-bit grey. OpenCV would convert the latter silently.
    """
    with open_regular(path) as stream, disk_errors(path):
        data = stream.read(_MAX_FILE_BYTES)
    if not data:
        raise DamagedMessageError(path, "the file is empty")
    if not data.startswith(PNG_MAGIC) or len(data) < 26:
        raise DamagedMessageError(path, "wanted a 16-bit grey PNG, got another kind of file")
    bits, colour = data[PNG_BITS], data[PNG_BITS + 1]
    if (bits, colour) != (16, 0):
        got = f"{bits}-bit {_COLOURS.get(colour, 'unknown')}"
        raise FormatError(path, f"wanted a 16-bit grey PNG, got {got}; save depth as uint16, one channel")
    width, height = _SIZE.unpack_from(data, _SIZE_OFFSET)
    if (width, height) != (camera.width, camera.height):
        problem = f"{width}x{height} pixels, but {camera.name} is for {camera.width}x{camera.height}"
        advice = f"{what_fits(height, width, camera)}, or take images of another size out of the folder"
        raise FormatError(path, f"{problem}; {advice}")
    if _END_CHUNK not in data[-64:]:
        raise DamagedMessageError(path, "the PNG is cut: its end is missing", len(data))
    try:
        checked = checked_png(data)
    except ValueError as error:
        raise DamagedMessageError(path, str(error)) from error
    try:
        pixels = cv2.imdecode(np.frombuffer(checked, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:  # an image larger than OpenCV allows
        raise DamagedMessageError(path, f"the PNG cannot be decoded ({error.err})") from error
    if pixels is None or pixels.dtype != np.uint16 or pixels.shape != (height, width):
        raise DamagedMessageError(path, "the PNG is damaged and cannot be decoded")
    return pixels


def write_depth_png(path: str | Path, grey: np.ndarray) -> None:
    """Write uint16 (H, W) grey levels, whole or not at all. Raises ValueError for another type or shape."""
    if grey.dtype != np.uint16 or grey.ndim != 2:
        raise ValueError(f"wanted uint16 (H, W), got {grey.dtype} {grey.shape}")
    _, data = cv2.imencode(".png", grey)
    replace_file(path, data.tobytes())
