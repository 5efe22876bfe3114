"""Depth in a sensor_msgs/CompressedImage: a PNG of 16-bit grey, or what ROS's compressed_depth_image_transport makes.

That one puts 12 bytes first: an enum, and a and b of the quantisation. Depth in millimetres (16UC1) follows as a PNG or
as RVL, whose columns and rows stand in 8 bytes more; depth in metres (32FC1) does so as 16-bit steps of its inverse,
value = a / depth + b, with 0 for no reading.
"""

from __future__ import annotations

import struct

import cv2
import numpy as np

MAX_PIXELS = 1 << 26
"""Larger pictures are damage, or worse: no depth camera has a tenth of it."""

_CONFIG = struct.Struct("<iff")
_RVL_SIZE = struct.Struct("<II")
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_HEAD = struct.Struct(">8sI4sIIBB")  #: signature, length and name of the first chunk, width, height, bits, colour
_PNG_END = b"IEND\xaeB`\x82"


def is_compressed_depth(image_format: str, data: np.ndarray) -> bool:
    """Whether a compressed image, uint8 (N,), holds depth: its format says so, or it is grey of 16 bits."""
    if "compressedDepth" in image_format:
        return True
    try:
        return _png_head(data.tobytes())[2:] == (16, 0)
    except ValueError:
        return False


def decode_compressed_depth(image_format: str, data: np.ndarray) -> np.ndarray:
    """Depth (H, W) of a compressed image, uint8 (N,): uint16 millimetres, or float32 metres with 0 for no reading.

    Raises
    ------
    ValueError
        For an image that holds no depth, is damaged, or claims more than MAX_PIXELS.
    """
    payload = data.tobytes()
    encoding, _, transport = (part.strip() for part in image_format.partition(";"))
    if "compressedDepth" not in transport:
        return decode_png(payload)
    if len(payload) < _CONFIG.size:
        raise ValueError(f"{image_format!r} with {len(payload)} bytes")
    _, a, b = _CONFIG.unpack_from(payload)
    grey = _rvl(payload) if "rvl" in transport else decode_png(payload[_CONFIG.size :])
    if encoding in ("16UC1", "mono16"):
        return grey
    if encoding == "32FC1":
        return _depth_of_inverse(grey, a, b)
    raise ValueError(f"compressed depth of encoding {encoding!r}; readable: 16UC1, 32FC1")


def decode_png(data: bytes) -> np.ndarray:
    """Grey levels uint16 (H, W). Raises ValueError for another PNG, a cut one, or none."""
    width, height, bits, colour = _png_head(data)
    if (bits, colour) != (16, 0):
        raise ValueError(f"wanted a PNG of 16-bit grey, got {bits}-bit of colour type {colour}")
    _check_size(width, height)
    if _PNG_END not in data[-64:]:
        raise ValueError("the PNG is cut: its end is missing")
    try:
        grey = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise ValueError(f"the PNG cannot be decoded ({error.err})") from error
    if grey is None or grey.dtype != np.uint16 or grey.shape != (height, width):
        raise ValueError("the PNG is damaged and cannot be decoded")
    return grey


def _png_head(data: bytes) -> tuple[int, int, int, int]:
    """Width, height, bits and colour type."""
    if len(data) < _PNG_HEAD.size or not data.startswith(_PNG_SIGNATURE):
        raise ValueError("wanted a PNG of 16-bit grey, got something else")
    _, _, _, width, height, bits, colour = _PNG_HEAD.unpack_from(data)
    return width, height, bits, colour


def _rvl(payload: bytes) -> np.ndarray:
    from posepipe.recording.codecs.rvl import decode_rvl  # few recordings need it, and Numba is slow to import

    if len(payload) < _CONFIG.size + _RVL_SIZE.size:
        raise ValueError(f"compressed depth rvl with {len(payload)} bytes")
    width, height = _RVL_SIZE.unpack_from(payload, _CONFIG.size)
    _check_size(width, height)
    return decode_rvl(payload[_CONFIG.size + _RVL_SIZE.size :], height, width)


def _check_size(width: int, height: int) -> None:
    if not 0 < width * height <= MAX_PIXELS:
        raise ValueError(f"the picture says that it has {width}x{height} pixels; readable are 1 to {MAX_PIXELS}")


def _depth_of_inverse(grey: np.ndarray, a: float, b: float) -> np.ndarray:
    """Metres of quantised inverse depth."""
    if not (np.isfinite(a) and np.isfinite(b) and a > 0):
        raise ValueError(f"compressed depth with quantisation a = {a}, b = {b}")
    with np.errstate(divide="ignore"):
        depth_m = np.float32(a) / (grey - np.float32(b))
    return np.where(grey > 0, depth_m, np.float32(0))
