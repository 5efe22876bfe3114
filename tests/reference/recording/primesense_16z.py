"""Naive twin of posepipe/recording/codecs/primesense_16z.py: code by code, and an encoder for tests."""

from __future__ import annotations

import numpy as np


def decode_16z(data: bytes, height: int, width: int) -> np.ndarray:
    words = iter(data)

    def two(high_first=False):
        one, other = next(words), next(words)
        return one * 256 + other if high_first else other * 256 + one

    table = [two() for _ in range(two())]
    indices = [two()]

    def large():
        step = next(words)
        indices.append(step % 128 * 256 + next(words) if step < 128 else indices[-1] - (step - 192))

    for code in words:
        first, second = divmod(code, 16)
        if code == 0xFF:
            large()
        elif first == 14 or first == 15:
            indices += [indices[-1]] * 2 * (code - 0xE0)
        else:
            indices.append(indices[-1] - (first - 6))
            if second == 15:
                large()
            elif second != 13:
                indices.append(indices[-1] - (second - 6))
    return np.array([table[index] for index in indices], np.uint16).reshape(height, width)


def encode_16z(depth: np.ndarray) -> bytes:
    """Encode depth, uint16 (H, W), with every kind of code where it fits."""
    table, indices = np.unique(depth, return_inverse=True)
    indices = indices.ravel().tolist()
    out = bytearray(len(table).to_bytes(2, "little") + table.astype("<u2").tobytes() + indices[0].to_bytes(2, "little"))

    def large(old, new):
        difference = old - new
        return bytes([192 + difference]) if -64 <= difference <= 63 else new.to_bytes(2, "big")

    at, last = 1, indices[0]
    while at < len(indices):
        run = 0
        while run < 15 * 2 and at + run + 1 < len(indices) and indices[at + run] == indices[at + run + 1] == last:
            run += 2
        first = last - indices[at]
        if run:
            out.append(0xE0 + run // 2)
            at += run
        elif -6 <= first <= 7:
            last, at = indices[at], at + 1
            if at == len(indices):
                out.append((first + 6) << 4 | 13)
                break
            second = last - indices[at]
            if -6 <= second <= 6:
                out.append((first + 6) << 4 | (second + 6))
            else:
                out.append((first + 6) << 4 | 15)
                out += large(last, indices[at])
            last, at = indices[at], at + 1
        else:
            out.append(0xFF)
            out += large(last, indices[at])
            last, at = indices[at], at + 1
    return bytes(out)
