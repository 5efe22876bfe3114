"""A decoder of PNGs sees whole chunks alone, and only those that hold the size and the pixels."""

from __future__ import annotations

import struct
import zlib

import cv2
import numpy as np
import pytest

from posepipe.io.png_chunks import decoded_chunks

GREY = np.arange(6, dtype=np.uint16).reshape(2, 3) * 9000


def chunk(kind: bytes, content: bytes, length: int | None = None) -> bytes:
    size = len(content) if length is None else length
    return struct.pack(">I", size) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def pieces() -> tuple[bytes, bytes, bytes]:
    """Signature, size, and the chunks after them."""
    data = cv2.imencode(".png", GREY)[1].tobytes()
    return data[:8], data[8:33], data[33:]


def test_a_depth_png_is_not_changed():
    data = b"".join(pieces())
    assert decoded_chunks(data) == data


def test_texts_and_animations_are_left_out():
    signature, size, rest = pieces()
    more = chunk(b"zTXt", b"note\0\0" + zlib.compress(bytes(1000))) + chunk(b"acTL", struct.pack(">II", 9, 0))
    assert decoded_chunks(signature + size + more + rest + b"after the end") == signature + size + rest


DAMAGED = {
    "huge chunk": lambda signature, size, rest: signature + size + chunk(b"IDAT", b"", 3 << 30) + rest,
    "huge text": lambda signature, size, rest: signature + size + chunk(b"tEXt", b"", (1 << 32) - 1) + rest,
    "no end": lambda signature, size, rest: signature + size + rest[:-12],
    "no size": lambda signature, size, rest: signature + rest,
    "a size after a text": lambda signature, size, rest: signature + chunk(b"tEXt", bytes(13)) + size + rest,
    "two sizes": lambda signature, size, rest: signature + size + size + rest,
    "a wrong checksum": lambda signature, size, rest: signature + size + rest[:10] + b"xxxx" + rest[14:],
    "nothing": lambda signature, size, rest: b"",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_chunks_are_refused(name):
    with pytest.raises(ValueError, match=r"the PNG is (cut|damaged)"):
        decoded_chunks(DAMAGED[name](*pieces()))
