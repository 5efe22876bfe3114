"""A decoder of PNGs sees whole chunks, sizes and pixels alone, and prints nothing about them."""

from __future__ import annotations

import struct
import zlib

import cv2
import numpy as np
import pytest

from posepipe.io.png_chunks import checked_png
from posepipe.recording.codecs.compressed_depth import decode_png
from tests.support.recordings.png_chunks import chunk

GREY = np.arange(6, dtype=np.uint16).reshape(2, 3) * 9000


def pieces() -> tuple[bytes, bytes, bytes]:
    """Signature, size, and the chunks after them."""
    data = cv2.imencode(".png", GREY)[1].tobytes()
    return data[:8], data[8:33], data[33:]


def packed_png(packed: bytes, size: bytes = struct.pack(">IIBBBBB", 3, 2, 16, 0, 0, 0, 0)) -> bytes:
    """A PNG of right checksums around any size and packed pixels."""
    return pieces()[0] + chunk(b"IHDR", size) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def rows(grey: np.ndarray, filter: int = 0) -> bytes:
    return b"".join(bytes([filter]) + row.astype(">u2").tobytes() for row in grey)


def decode(data: bytes) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)


def grey_of(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    return (2000 + np.arange(width) + rng.integers(0, 9, (height, width))).astype(np.uint16)


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (240, 320), (1, 4000), (4000, 1)])
def test_a_checked_png_has_the_same_pixels(shape, level, capfd):
    grey = grey_of(np.random.default_rng(0), *shape)
    data = cv2.imencode(".png", grey, (cv2.IMWRITE_PNG_COMPRESSION, level))[1].tobytes()
    np.testing.assert_array_equal(decode(checked_png(data)), grey)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (9, 13), (240, 321)])
def test_an_interlaced_png_has_the_same_pixels(shape, capfd):
    grey = grey_of(np.random.default_rng(0), *shape)
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    content = b"".join(rows(part) for x, y, dx, dy in passes if (part := grey[y::dy, x::dx]).size)
    size = struct.pack(">IIBBBBB", shape[1], shape[0], 16, 0, 0, 0, 1)
    np.testing.assert_array_equal(decode(checked_png(packed_png(zlib.compress(content), size))), grey)
    assert capfd.readouterr() == ("", "")


def test_pixels_may_come_in_several_chunks():
    packed = zlib.compress(rows(GREY))
    signature, size, _ = pieces()
    parts = b"".join(chunk(b"IDAT", packed[i : i + 5]) for i in range(0, len(packed), 5))
    data = signature + size + parts + chunk(b"IEND", b"")
    np.testing.assert_array_equal(decode(checked_png(data)), GREY)


def test_texts_and_animations_are_left_out():
    signature, size, rest = pieces()
    more = chunk(b"zTXt", b"note\0\0" + zlib.compress(bytes(1000))) + chunk(b"acTL", struct.pack(">II", 9, 0))
    plain = checked_png(signature + size + rest)
    assert checked_png(signature + size + more + rest + b"after the end") == plain


DAMAGED = {
    "huge chunk": lambda signature, size, rest: signature + size + chunk(b"IDAT", b"", 3 << 30) + rest,
    "huge text": lambda signature, size, rest: signature + size + chunk(b"tEXt", b"", (1 << 32) - 1) + rest,
    "no end": lambda signature, size, rest: signature + size + rest[:-12],
    "an end with content": lambda signature, size, rest: signature + size + rest[:-12] + chunk(b"IEND", b"x"),
    "no size": lambda signature, size, rest: signature + rest,
    "no pixels": lambda signature, size, rest: signature + size + chunk(b"IEND", b""),
    "a size after a text": lambda signature, size, rest: signature + chunk(b"tEXt", bytes(13)) + size + rest,
    "two sizes": lambda signature, size, rest: signature + size + size + rest,
    "a wrong checksum": lambda signature, size, rest: signature + size + rest[:10] + b"xxxx" + rest[14:],
    "nothing": lambda signature, size, rest: b"",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_chunks_are_refused(name):
    with pytest.raises(ValueError, match=r"the PNG is (cut|damaged)"):
        checked_png(DAMAGED[name](*pieces()))


WHOLE = zlib.compress(rows(GREY))
DAMAGED_CONTENT = {
    "unknown filter": (zlib.compress(rows(GREY, filter=7)),),
    "unknown filter of the last row": (zlib.compress(rows(GREY)[:7] + b"\x05" + rows(GREY)[8:]),),
    "too few pixels": (zlib.compress(rows(GREY)[:-1]),),
    "too many pixels": (zlib.compress(rows(GREY) + b"\0"),),
    "cut": (WHOLE[:-6],),
    "without its checksum": (WHOLE[:-4],),
    "wrong checksum": (WHOLE[:-4] + bytes(4),),
    "not compressed": (rows(GREY),),
    "preset dictionary": (b"\x78\x20" + WHOLE[2:],),
    "empty": (b"",),
    "no width": (WHOLE, struct.pack(">IIBBBBB", 0, 2, 16, 0, 0, 0, 0)),
    "16.8 million columns": (WHOLE, struct.pack(">IIBBBBB", (1 << 24) + 1, 1, 16, 0, 0, 0, 0)),
    "another method of filters": (WHOLE, struct.pack(">IIBBBBB", 3, 2, 16, 0, 0, 1, 0)),
    "another compression": (WHOLE, struct.pack(">IIBBBBB", 3, 2, 16, 0, 1, 0, 0)),
    "unknown interlacing": (WHOLE, struct.pack(">IIBBBBB", 3, 2, 16, 0, 0, 0, 2)),
    "size of 12 bytes": (WHOLE, struct.pack(">IIBBBB", 3, 2, 16, 0, 0, 0)),
}


@pytest.mark.parametrize("name", DAMAGED_CONTENT)
def test_damaged_content_is_refused_and_nothing_is_printed(name, capfd):
    with pytest.raises(ValueError, match=r"PNG|pixels"):
        decode_png(packed_png(*DAMAGED_CONTENT[name]))
    assert capfd.readouterr() == ("", "")
