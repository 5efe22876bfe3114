"""Naive twin of posepipe/recording/codecs/rvl.py: nibble by nibble, after Wilson, ISS 2017."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def nibbles(stream: bytes) -> Iterator[int]:
    """Of each little-endian word of 32 bits the highest nibble first."""
    for i in range(0, len(stream), 4):
        for digit in f"{int.from_bytes(stream[i : i + 4], 'little'):08x}":
            yield int(digit, 16)


def number(source: Iterator[int]) -> int:
    """Three bits a nibble, the lowest first, up to the first nibble below 8."""
    digits = []
    while not digits or digits[-1] >= 8:
        digits.append(next(source))
    return sum((digit % 8) * 8**place for place, digit in enumerate(digits))


def decode_rvl(stream: bytes, height: int, width: int) -> np.ndarray:
    """Grey levels uint16 (height, width)."""
    source, pixels, reading = nibbles(stream), [], 0
    while len(pixels) < height * width:
        pixels += [0] * number(source)
        for _ in range(number(source)):
            code = number(source)
            reading += -(code + 1) // 2 if code % 2 else code // 2
            pixels.append(reading)
    return np.array(pixels, np.uint16).reshape(height, width)
