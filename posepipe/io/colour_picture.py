"""Pictures in colour as JPEG or PNG, whose declared sizes are checked before a decoder allocates them."""

from __future__ import annotations

import struct

import cv2
import numpy as np

from posepipe.io.limits import check_pixels
from posepipe.io.png_chunks import COLOUR, checked_png

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_PNG_HEAD = struct.Struct(">8sI4sIIBB")  #: signature, length and name of the first chunk, width, height, bits, kind
_JPEG_HEAD = struct.Struct(">BHHB")  #: bits, height, width, components
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG before its size (ITU-T T.81, table B.1)."""
_WITHOUT_LENGTH = frozenset({0x00, 0x01, 0xFF, *range(0xD0, 0xDA)})
"""Markers without a segment, among them the ends of the image and of its head."""


def decode_picture(data: np.ndarray) -> np.ndarray:
    """Decode the bytes of a file, uint8 (N,): uint8 (H, W, 3), RGB. Raises ValueError for none, or a damaged one."""
    width, height, channels = declared_size(data.tobytes())
    check_pixels(width, height)
    if channels < 3:
        raise ValueError("wanted colour, got a grey picture")
    if data[: len(_PNG)].tobytes() == _PNG:
        data = np.frombuffer(checked_png(data.tobytes(), COLOUR), np.uint8)
    try:
        found = cv2.imdecode(data, cv2.IMREAD_COLOR)
    except cv2.error as error:
        raise ValueError("the JPEG or PNG is damaged") from error
    if found is None or found.shape[:2] not in ((height, width), (width, height)):  # a JPEG may say that it is turned
        raise ValueError("the JPEG or PNG is damaged")
    return np.ascontiguousarray(found[:, :, ::-1])


def declared_size(data: bytes) -> tuple[int, int, int]:
    """Width, height and channels that a PNG or JPEG declares; OpenCV allocates them before it reads a pixel.

    Raises ValueError for other data, and for a JPEG with anything between its first segments: decoders pass over that
    in ways of their own, and would find another size.
    """
    if data.startswith(_PNG):
        if len(data) < _PNG_HEAD.size:
            raise ValueError("the PNG is cut")
        width, height, _, kind = _PNG_HEAD.unpack_from(data)[3:]
        return width, height, {2: 3, 3: 3, 6: 4}.get(kind, 1)
    at = 2
    while data.startswith(_JPEG) and at + 4 + _JPEG_HEAD.size <= len(data):
        if data[at] != 0xFF:
            break
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in _JPEG_FRAMES:
            _, height, width, channels = _JPEG_HEAD.unpack_from(data, at + 4)
            return width, height, channels
        if marker in _WITHOUT_LENGTH or length < 2:
            break
        at += 2 + length
    raise ValueError("wanted a JPEG or a PNG of colour")
