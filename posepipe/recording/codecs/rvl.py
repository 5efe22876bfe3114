"""RVL, a fast lossless codec for depth: runs of zeros, and differences of readings.

The stream consists of 4-bit nibbles, eight per 32-bit little-endian word, the highest first. A number has three bits
per nibble, the lowest first; the fourth bit means that more follow. Pixels, row by row, alternate between two runs:
zeros (their number), and readings (their number, then the difference of each from the previous reading, with the sign
in the lowest bit).

References
----------
Wilson, Fast Lossless Depth Image Compression, ISS 2017. Naive twin: tests/reference/recording/rvl.py
"""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit

_NIBBLES_PER_WORD = 8
_MAX_BITS = 32  #: a longer number is invalid


@njit(inline="always")
def _number(words, at):
    """Decode the number at nibble ``at``: the number, or -1 for an invalid one, and the next nibble."""
    value = np.int64(0)
    for bit in range(0, _MAX_BITS, 3):
        if at >= words.shape[0] * _NIBBLES_PER_WORD:
            return np.int64(-1), at
        shift = 4 * (_NIBBLES_PER_WORD - 1 - at % _NIBBLES_PER_WORD)
        nibble = (np.int64(words[at // _NIBBLES_PER_WORD]) >> shift) & 15
        at += 1
        value |= (nibble & 7) << bit
        if nibble < 8:
            return value, at
    return np.int64(-1), at


@njit(cache=True)
def _decode(words, grey):
    """Decode a stream; return False when it does not fit the image.

    Parameters
    ----------
    words : uint32 (M,)
    grey : uint16 (N,), zeros, written in place
    """
    at, pixel, reading = 0, 0, np.int64(0)
    while pixel < grey.shape[0]:
        zeros, at = _number(words, at)
        readings, at = _number(words, at)
        if zeros < 0 or readings < 0 or zeros + readings > grey.shape[0] - pixel:
            return False
        pixel += zeros
        for _ in range(readings):
            code, at = _number(words, at)
            if code < 0:
                return False
            reading += (code >> 1) ^ -(code & 1)
            grey[pixel] = reading & 0xFFFF
            pixel += 1
    return True


def decode_rvl(stream: bytes, height: int, width: int) -> np.ndarray:
    """Decode an RVL stream to grey levels, uint16 (height, width).

    Raises
    ------
    ValueError
        When the stream does not contain this number of pixels.
    """
    words = np.frombuffer(stream + bytes(-len(stream) % 4), "<u4").astype(np.uint32)
    grey = np.zeros(height * width, np.uint16)
    if not _decode(words, grey):
        raise ValueError(f"the RVL stream holds no picture of {width}x{height} pixels")
    return grey.reshape(height, width)
