"""Pictures in colour, as JPEG or PNG."""

from __future__ import annotations

import struct
import zlib

import cv2
import numpy as np
import pytest

from posepipe.io.colour_picture import decode_picture
from tests.support.recordings.png_chunks import SIGNATURE, chunk


def png(width: int, height: int, bits: int, colour: int, rows: bytes, more: bytes = b"") -> bytes:
    size = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
    return SIGNATURE + size + more + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def decode(data: bytes) -> np.ndarray:
    return decode_picture(np.frombuffer(data, np.uint8))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (48, 64)])
def test_png_keeps_red_green_and_blue(dtype, channels, shape, capfd):
    picture = np.random.default_rng(0).integers(0, 256, (*shape, channels)).astype(dtype)
    picture *= 1 if dtype == np.uint8 else 257
    data = cv2.imencode(".png", picture)[1].tobytes()
    expected = picture[..., 2::-1] if dtype == np.uint8 else picture[..., 2::-1] // 257
    np.testing.assert_array_equal(decode(data), expected)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_a_palette_gives_its_colours_and_black_beyond_it(bits, capfd):
    colours = np.array([[250, 20, 30], [40, 240, 60], [70, 80, 230]], np.uint8)[: (1 << bits) - (bits > 1)]
    values = np.arange(8) % min(1 << bits, 4)
    packed = np.packbits(np.unpackbits(values[:, None].astype(np.uint8), axis=1)[:, 8 - bits :]).tobytes()
    found = decode(png(8, 1, bits, 3, b"\0" + packed, chunk(b"PLTE", colours.tobytes())))
    filled = np.vstack([colours, np.zeros((4, 3), np.uint8)])
    np.testing.assert_array_equal(found[0], filled[values])
    assert capfd.readouterr() == ("", "")


def test_jpeg_is_read():
    picture = np.full((16, 24, 3), (200, 120, 40), np.uint8)  # blue first
    found = decode(cv2.imencode(".jpg", picture)[1].tobytes())
    assert np.abs(found.astype(int) - [40, 120, 200]).max() <= 4


RGB = b"\0" + bytes(6)
REFUSED = {
    "a chunk of gigabytes": png(2, 1, 8, 2, RGB, chunk(b"PLTE", b"", 3 << 29)),
    "a text of gigabytes": png(2, 1, 8, 2, RGB, chunk(b"tEXt", b"", 3 << 29)),
    "too few pixels": png(2, 2, 8, 2, RGB),
    "too many pixels": png(2, 1, 8, 2, RGB + RGB),
    "an unknown filter": png(2, 1, 8, 2, b"\7" + bytes(6)),
    "a palette that is missing": png(2, 1, 8, 3, bytes(3)),
    "a palette of half colours": png(2, 1, 8, 3, bytes(3), chunk(b"PLTE", bytes(4))),
    "more colours than values": png(2, 1, 1, 3, bytes(2), chunk(b"PLTE", bytes(9))),
    "3 bits a value": png(2, 1, 3, 2, bytes(4)),
    "grey": png(2, 1, 8, 0, bytes(3)),
    "17 million columns": png((1 << 24) + 1, 1, 8, 2, RGB),
    "no picture": b"hello",
    "nothing": b"",
}


@pytest.mark.parametrize("name", REFUSED)
def test_damaged_pictures_are_refused_and_nothing_is_printed(name, capfd):
    with pytest.raises(ValueError, match=r"PNG|colour|pixels"):
        decode(REFUSED[name])
    assert capfd.readouterr() == ("", "")
