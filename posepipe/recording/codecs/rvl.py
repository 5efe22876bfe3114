"""RVL: depth as runs of zeros and small differences, the quickest of the lossless codecs for it.

The stream is made of 4-bit nibbles, eight in a 32-bit little-endian word, the highest first. A number is written three
bits a nibble, the lowest first; the fourth bit says that more follow. Pixels, row by row, alternate between a run of
zeros (its length) and a run of readings (its length, then for each the difference from the reading before, with the
sign in the lowest bit).

References
----------
Wilson, Fast Lossless Depth Image Compression, ISS 2017. Naive twin: tests/reference/recording/rvl.py
"""

from __future__ import annotations

import numpy as np
from numba import njit

_NIBBLES_A_WORD = 8
_MOST_BITS = 32  #: a number that goes on beyond these is no number


@njit(inline="always")
def _number(words, at):
    """The number at nibble ``at``, and the nibble behind it; -1 where there is none."""
    value = np.int64(0)
    for bit in range(0, _MOST_BITS, 3):
        if at >= words.shape[0] * _NIBBLES_A_WORD:
            return np.int64(-1), at
        shift = 4 * (_NIBBLES_A_WORD - 1 - at % _NIBBLES_A_WORD)
        nibble = (np.int64(words[at // _NIBBLES_A_WORD]) >> shift) & 15
        at += 1
        value |= (nibble & 7) << bit
        if nibble < 8:
            return value, at
    return np.int64(-1), at


@njit(cache=True)
def _decode(words, grey):
    """Fill ``grey`` uint16 (N,), zeros at first, from ``words`` uint32 (M,); False where they do not fit."""
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
    """Grey levels uint16 (height, width) of an RVL stream.

    Raises
    ------
    ValueError
        Where the stream does not hold as many pixels.
    """
    words = np.frombuffer(stream + bytes(-len(stream) % 4), "<u4").astype(np.uint32)
    grey = np.zeros(height * width, np.uint16)
    if not _decode(words, grey):
        raise ValueError(f"the RVL stream holds no picture of {width}x{height} pixels")
    return grey.reshape(height, width)
