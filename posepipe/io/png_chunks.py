"""PNGs, checked down to their filters before a decoder sees them.

libpng prints its complaints to standard error, and OpenCV allocates what a chunk declares. What passes here gives
neither a cause.

References
----------
PNG (Third Edition), W3C Recommendation 2025: chunks in section 5, interlacing in 8, filters in 9.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np

from posepipe.io.limits import check_pixels

_SIGNATURE_BYTES = 8
_HEAD = struct.Struct(">I4s")  #: length of the content, kind
_CHECKSUM = struct.Struct(">I")  #: of kind and content
_SIZE = struct.Struct(">IIBBBBB")  #: width, height, bits, colour, compression, filter method, interlacing
_DECODED = (b"IHDR", b"PLTE", b"IDAT", b"IEND")
_PALETTE = 3
_CHANNELS = {0: 1, 2: 3, _PALETTE: 1, 6: 4}  #: values a pixel, by kind of colour
GREY = frozenset({(16, 0)})
"""Bits of a value and kind of colour of depth images."""
COLOUR = frozenset({(8, 2), (16, 2), (8, 6), (16, 6), *((bits, _PALETTE) for bits in (1, 2, 4, 8))})
"""The same of pictures in colour: red, green and blue, with an alpha, or from a palette."""
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""First column, first row, and steps between columns and rows, of each pass of an interlaced image."""
_MAX_FILTER = 4


def checked_png(data: bytes, formats: frozenset[tuple[int, int]] = GREY) -> bytes:
    """Return a PNG with the same pixels, which a decoder reads without complaint.

    Its pixels are not compressed: they are unpacked here, to be checked, and not once more by the decoder. Texts,
    profiles and animations are left out; a palette is filled up with black.

    Parameters
    ----------
    data : the file
    formats : what its pixels may be, GREY or COLOUR

    Raises
    ------
    ValueError
        For chunks that are cut, have a wrong checksum or come in another order; for pixels that are of no such format,
        are more or fewer than the size says, or have an unknown filter; for an image of more than MAX_PIXELS.
    """
    chunks = list(_decoded_chunks(data))
    packed = [content for kind, content in chunks if kind == b"IDAT"]
    palettes = [content for kind, content in chunks[1:2] if kind == b"PLTE"]
    wanted = [b"IHDR", *[b"PLTE"] * len(palettes), *[b"IDAT"] * len(packed), b"IEND"]
    if [kind for kind, _ in chunks] != wanted or chunks[-1][1]:
        raise ValueError("the PNG is damaged: wanted its size, then pixels, then an empty end")
    size = chunks[0][1]
    pixels = _unpacked(b"".join(packed), list(_passes(size, formats)))
    palette = _whole_palette(size, b"".join(palettes))
    stored = (b"IHDR", size), *palette, (b"IDAT", zlib.compress(pixels, level=0)), (b"IEND", b"")
    return data[:_SIGNATURE_BYTES] + b"".join(_chunk(kind, content) for kind, content in stored)


def _decoded_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of the chunks of size, palette and pixels, to the end of the image."""
    at, kind = _SIGNATURE_BYTES, b""
    while kind != b"IEND":
        if at + _HEAD.size > len(data):
            raise ValueError("the PNG is cut: its end is missing")
        length, kind = _HEAD.unpack_from(data, at)
        begin = at + _HEAD.size
        end = begin + length + _CHECKSUM.size
        if end > len(data):
            raise ValueError(f"the PNG is damaged or cut: a chunk of {length} bytes, {len(data) - at} are left")
        if at == _SIGNATURE_BYTES and kind != b"IHDR":
            raise ValueError("the PNG is damaged: wanted its size first")
        if kind in _DECODED:
            content = data[begin : begin + length]
            if zlib.crc32(content, zlib.crc32(kind)) != _CHECKSUM.unpack_from(data, begin + length)[0]:
                raise ValueError(f"the PNG is damaged: a wrong checksum at byte {begin + length}")
            yield kind, content
        at = end


def _whole_palette(size: bytes, palette: bytes) -> list[tuple[bytes, bytes]]:
    """The chunk of a palette with a colour for every value of a pixel, or no chunk where pixels need none."""
    _, _, bits, colour, *_ = _SIZE.unpack(size)
    if colour != _PALETTE:
        return []
    if not palette or len(palette) % 3 or len(palette) > 3 << bits:
        raise ValueError(f"the PNG is damaged: a palette of {len(palette)} bytes for pixels of {bits} bits")
    return [(b"PLTE", palette.ljust(3 << bits, b"\0"))]


def _passes(size: bytes, formats: frozenset[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Rows, and bytes of a row with its filter, of each pass over the image; passes without pixels are left out."""
    if len(size) != _SIZE.size:
        raise ValueError(f"the PNG is damaged: its size takes {len(size)} bytes, wanted {_SIZE.size}")
    width, height, bits, colour, *methods, interlacing = _SIZE.unpack(size)
    if (bits, colour) not in formats or any(methods) or interlacing > 1:
        wanted = "16-bit grey" if formats == GREY else "colour"
        raise ValueError(
            f"the PNG is damaged: wanted {wanted}, got a header of {(bits, colour, *methods, interlacing)}"
        )
    check_pixels(width, height)
    pixel_bits = bits * _CHANNELS[colour]
    for column, row, across, down in _ADAM7 if interlacing else ((0, 0, 1, 1),):
        columns, rows = -(-(width - column) // across), -(-(height - row) // down)
        if columns > 0 and rows > 0:
            yield rows, 1 + -(-columns * pixel_bits // 8)


def _unpacked(packed: bytes, passes: list[tuple[int, int]]) -> bytes:
    """Decompress pixels with the filter of each row, and check both."""
    wanted = sum(rows * row_bytes for rows, row_bytes in passes)
    unpacker = zlib.decompressobj()
    try:
        pixels = unpacker.decompress(packed, wanted)
        rest = b"" if unpacker.eof else unpacker.decompress(unpacker.unconsumed_tail, 1)
    except zlib.error as error:
        raise ValueError(f"the PNG is damaged ({error})") from error
    if len(pixels) != wanted or rest or not unpacker.eof:
        got = "more or an end without checksum" if len(pixels) == wanted else f"{len(pixels)}"
        raise ValueError(f"the PNG is damaged: wanted {wanted} bytes of pixels, got {got}")
    at = 0
    for rows, row_bytes in passes:
        filters = np.frombuffer(pixels, np.uint8, rows * row_bytes, at)[::row_bytes]
        if filters.max() > _MAX_FILTER:
            raise ValueError(f"the PNG is damaged: a row of filter {filters.max()}; known are 0 to {_MAX_FILTER}")
        at += rows * row_bytes
    return pixels


def _chunk(kind: bytes, content: bytes) -> bytes:
    return _HEAD.pack(len(content), kind) + content + _CHECKSUM.pack(zlib.crc32(content, zlib.crc32(kind)))
