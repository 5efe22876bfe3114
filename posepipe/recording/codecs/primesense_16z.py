"""16zT, OpenNI's codec for depth: differences of indices into a table of depths that the frame brings along.

The stream is the number of depths in the table, the table, the first index (all 16-bit, little endian), then codes of
one byte: two differences of a half byte each, a run of pixels without change, or the mark of a larger step. A larger
step follows as one byte, a difference, or as two bytes, the index itself, the high one first.

References
----------
OpenNI: XnStreamCompression.cpp (``XnStreamUncompressDepth16ZWithEmbTable``), OpenNI 1.5.
Naive twin: tests/reference/recording/primesense_16z.py
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit

_FIRST_RUN, _LARGE = 0xE0, 0xFF  # codes from 0xe0 up are runs, the last marks a larger step
_NOTHING, _THEN_LARGE = 0x0D, 0x0F  # special second half bytes
_MIDDLE = 6  # a half byte of 6 is no difference
_MIDDLE_BYTE = 192  # and a byte of 192


@njit(cache=True)
def _decode(stream, table, depth):  # noqa: C901 - one code after another, in one loop
    """Decode a stream; return the number of pixels, or -1 for a damaged one.

    Parameters
    ----------
    stream : uint8 (N,), from the first index on
    table : uint16 (T,), depths
    depth : uint16 (M,), written in place
    """
    if stream.shape[0] < 2:
        return -1
    value = np.int64(stream[0]) | np.int64(stream[1]) << 8
    at, pixel, pending = 2, 0, np.int64(1)  # pixels to write with the present value
    while True:
        if value < 0 or value >= table.shape[0] or pixel + pending > depth.shape[0]:
            return -1
        for _ in range(pending):
            depth[pixel] = table[value]
            pixel += 1
        if at >= stream.shape[0]:
            return pixel
        code = np.int64(stream[at])
        at += 1
        pending = np.int64(1)
        large = code == _LARGE
        if code < _FIRST_RUN:
            value -= (code >> 4) - _MIDDLE
            second = code & 15
            if second != _NOTHING:
                if value < 0 or value >= table.shape[0] or pixel >= depth.shape[0]:
                    return -1
                depth[pixel] = table[value]
                pixel += 1
                large = second == _THEN_LARGE
                if not large:
                    value -= second - _MIDDLE
        elif not large:
            pending = 2 * (code - _FIRST_RUN)
        if large:
            if at >= stream.shape[0]:
                return -1
            step = np.int64(stream[at])
            at += 1
            if step & 0x80:
                value -= step - _MIDDLE_BYTE
            else:
                if at >= stream.shape[0]:
                    return -1
                value = step << 8 | np.int64(stream[at])
                at += 1


def decode_16z(data: bytes, height: int, width: int) -> np.ndarray:
    """Decode a frame to depth, uint16 (height, width).

    Raises
    ------
    ValueError
        When the stream is damaged, or has another number of pixels.
    """
    entries = int.from_bytes(data[:2], "little")
    table = np.frombuffer(data[2 : 2 + 2 * entries], "<u2") if len(data) >= 2 + 2 * entries else np.zeros(0, "<u2")
    stream = np.frombuffer(data[2 + 2 * entries :], np.uint8)
    depth = np.zeros(height * width, np.uint16)
    found = _decode(stream.copy(), table.astype(np.uint16), depth)
    if found != len(depth):
        problem = "is damaged" if found < 0 else f"has {found} pixels"
        raise ValueError(f"the 16zT stream {problem}; wanted {width}x{height} pixels")
    return depth.reshape(height, width)
