"""Naive twin of synth/sensors/noise_fields.py: SplitMix64 in Python's whole numbers, place by place.

Steele, Lea and Flood, OOPSLA 2014; the mixer is variant 13 of Stafford's.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm


def words(key, rows, cols):
    """Random numbers below 2^16, as a field under this key has them at some rows and columns."""
    out = np.zeros((len(rows), len(cols)), np.int64)
    for i, row in enumerate(rows):
        for j, col in enumerate(cols):
            group, lane = divmod(col, 4)
            state = key + (row * 2**32 + group) * 0x9E3779B97F4A7C15
            out[i, j] = split_mix(state % 2**64) // 2 ** (16 * lane) % 2**16
    return out


def split_mix(bits):
    """The number that SplitMix64 yields in a state."""
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
    return bits ^ bits >> 31


def normal(numbers, count):
    """Normal values of even numbers below ``count``: middles of slices of the law, of unit variance together."""
    middles = norm.ppf((np.arange(count) + 0.5) / count)
    return (middles / np.sqrt((middles**2).mean()))[numbers]


def patchy(key, patch_px, rows, cols, quantiles):
    """A field of one value a patch, interpolated between their middles; the first word is that of patch -1."""
    coarse = quantiles[words(key, range(max(rows) // patch_px + 3), range(max(cols) // patch_px + 3)) % len(quantiles)]
    out = np.zeros((len(rows), len(cols)))
    for i, row in enumerate(rows):
        for j, col in enumerate(cols):
            places = [(place + 0.5) / patch_px - 0.5 + 1 for place in (row, col)]
            (r, c), (down, across) = np.floor(places).astype(int), np.mod(places, 1)
            above = coarse[r, c] * (1 - across) + coarse[r, c + 1] * across
            below = coarse[r + 1, c] * (1 - across) + coarse[r + 1, c + 1] * across
            out[i, j] = above * (1 - down) + below * down
    return out
