"""Depth in a sensor_msgs/CompressedImage: a 16-bit grey PNG, or the format of compressed_depth_image_transport.

That format starts with 12 bytes: an enum, and the quantisation parameters a and b. Depth in millimetres (16UC1)
follows as PNG, or as RVL after 8 more bytes, columns and rows. Depth in metres (32FC1) is stored likewise, quantised to
16 bits as value = a / depth + b, with 0 = no reading.
"""

from __future__ import annotations

import struct

import cv2
import numpy as np

from posepipe.io.limits import check_pixels
from posepipe.io.png_chunks import checked_png

_CONFIG = struct.Struct("<iff")
_RVL_SIZE = struct.Struct("<II")
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_HEAD = struct.Struct(">8sI4sIIBB")  #: signature, length and name of the first chunk, width, height, bits, colour
_PNG_END = b"IEND\xaeB`\x82"


def is_compressed_depth(image_format: str, data: np.ndarray) -> bool:
    """Whether a compressed image, uint8 (N,), contains depth, by its format or as 16-bit grey PNG."""
    if "compressedDepth" in image_format:
        return True
    try:
        return _png_head(data.tobytes())[2:] == (16, 0)
    except ValueError:
        return False


def decode_compressed_depth(image_format: str, data: np.ndarray) -> np.ndarray:
    """Decode the depth of a compressed image.

    Parameters
    ----------
    image_format : ``format`` of the message
    data : uint8 (N,)

    Returns
    -------
    (H, W), uint16 millimetres, or float32 metres with 0 = no reading

    Raises
    ------
    ValueError
        When the image contains no depth, is damaged, or has more than MAX_PIXELS.
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
    """Decode a 16-bit grey PNG to uint16 (H, W). Raises ValueError for other or damaged data."""
    width, height, bits, colour = _png_head(data)
    if (bits, colour) != (16, 0):
        raise ValueError(f"wanted a PNG of 16-bit grey, got {bits}-bit of colour type {colour}")
    check_pixels(width, height)
    if _PNG_END not in data[-64:]:
        raise ValueError("the PNG is cut: its end is missing")
    checked = checked_png(data)
    try:
        grey = cv2.imdecode(np.frombuffer(checked, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise ValueError(f"the PNG cannot be decoded ({error.err})") from error
    if grey is None or grey.dtype != np.uint16 or grey.shape != (height, width):
        raise ValueError("the PNG is damaged and cannot be decoded")
    return grey


def _png_head(data: bytes) -> tuple[int, int, int, int]:
    """Width, height, bits per pixel and colour type."""
    if len(data) < _PNG_HEAD.size or not data.startswith(_PNG_SIGNATURE):
        raise ValueError("wanted a PNG of 16-bit grey, got something else")
    _, _, _, width, height, bits, colour = _PNG_HEAD.unpack_from(data)
    return width, height, bits, colour


def _rvl(payload: bytes) -> np.ndarray:
    from posepipe.recording.codecs.rvl import decode_rvl  # rarely needed, and Numba is slow to import

    if len(payload) < _CONFIG.size + _RVL_SIZE.size:
        raise ValueError(f"compressed depth rvl with {len(payload)} bytes")
    width, height = _RVL_SIZE.unpack_from(payload, _CONFIG.size)
    check_pixels(width, height)
    return decode_rvl(payload[_CONFIG.size + _RVL_SIZE.size :], height, width)


def _depth_of_inverse(grey: np.ndarray, a: float, b: float) -> np.ndarray:
    """Convert quantised inverse depth to metres."""
    if not (np.isfinite(a) and np.isfinite(b) and a > 0):
        raise ValueError(f"compressed depth with quantisation a = {a}, b = {b}")
    with np.errstate(divide="ignore"):
        depth_m = np.float32(a) / (grey - np.float32(b))
    return np.where(grey > 0, depth_m, np.float32(0))
