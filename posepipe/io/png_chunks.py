"""Chunks of a PNG, checked before a decoder sees them.

OpenCV allocates and fills what a chunk declares, and libpng prints its complaints to standard error.
"""

from __future__ import annotations

import struct
import zlib

_SIGNATURE_BYTES = 8
_HEAD = struct.Struct(">I4s")  #: length of the content, kind
_CHECKSUM = struct.Struct(">I")  #: of kind and content
_DECODED = (b"IHDR", b"IDAT", b"IEND")


def decoded_chunks(data: bytes) -> bytes:
    """Return a PNG of the chunks that hold the size and the pixels; texts, profiles and animations are left out.

    Raises ValueError for a chunk that is longer than the data or has a wrong checksum, and unless the size comes first,
    and once.
    """
    pieces, at, kind = [data[:_SIGNATURE_BYTES]], _SIGNATURE_BYTES, b""
    while kind != b"IEND":
        if at + _HEAD.size > len(data):
            raise ValueError("the PNG is cut: its end is missing")
        length, kind = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + length + _CHECKSUM.size
        if end > len(data):
            raise ValueError(f"the PNG is damaged or cut: a chunk of {length} bytes, {len(data) - at} are left")
        if (kind == b"IHDR") != (len(pieces) == 1):
            raise ValueError("the PNG is damaged: wanted one chunk IHDR, the first")
        if kind in _DECODED:
            _check_sum(data, at + 4, end - _CHECKSUM.size)
            pieces.append(data[at:end])
        at = end
    return b"".join(pieces)


def _check_sum(data: bytes, begin: int, end: int) -> None:
    (wanted,) = _CHECKSUM.unpack_from(data, end)
    if zlib.crc32(memoryview(data)[begin:end]) != wanted:
        raise ValueError(f"the PNG is damaged: a wrong checksum at byte {end}")
