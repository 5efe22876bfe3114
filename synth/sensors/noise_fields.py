"""Random fields over an image, computed only in a window: where subjects are.

The value at a pixel is a hash of its position and of the field's key. It does not depend on the window, and nothing is
drawn for pixels outside it. Keys come from the frame's own generator.

References
----------
Salmon et al., SC 2011 (counters in place of a state); Steele et al., OOPSLA 2014 (SplitMix64, whose n-th number is
the hash below of n steps). Naive twin: tests/reference/synth/sensors/noise_fields.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from scipy.special import ndtri

from posepipe.compilation import njit

NORMAL_BITS = 12
"""A normal value is one of 2^12 equally likely ones; the largest is 3.7 sigma."""
_LANES = 4
"""Number of neighbours in a row that share a hash of 64 bits, 16 bits each."""


def normal_quantiles() -> np.ndarray:
    """Return the centres of 2^NORMAL_BITS equally likely slices of the unit normal distribution: float32."""
    count = 2**NORMAL_BITS
    middles = ndtri((np.arange(count) + 0.5) / count)
    return (middles / middles.std()).astype(np.float32)


_QUANTILES = normal_quantiles()


@lru_cache(maxsize=16)
def _patch_quantiles(patch_px: int) -> np.ndarray:
    """The quantiles, scaled up to undo the loss of variance by interpolation between patches."""
    weights = (np.arange(patch_px) + 0.5) / patch_px
    return _QUANTILES / np.float32(np.mean(weights**2 + (1 - weights) ** 2))


@njit(cache=True, inline="always")
def _hash(key, row, lane_group):
    """64 random bits of a position: SplitMix64's output function (variant 13 of Stafford's mixers)."""
    place = np.uint64(row) << np.uint64(32) | np.uint64(lane_group)
    bits = key + place * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@njit(cache=True)
def _fill_normal(key, top, first_group, quantiles, out):
    """Fill ``out`` with independent normal values.

    Parameters
    ----------
    key : uint64, of the field
    top : int, row of the field that is row 0 of ``out``; not negative, as all places
    first_group : int, column of the field that is column 0 of ``out``, in units of _LANES
    quantiles : float32 (2^NORMAL_BITS,)
    out : float32 (h, w), w a multiple of _LANES, written in place
    """
    for row in range(out.shape[0]):
        for group in range(out.shape[1] // _LANES):
            bits = _hash(key, top + row, first_group + group)
            for lane in range(_LANES):
                word = (bits >> np.uint64(16 * lane)) & np.uint64(2**NORMAL_BITS - 1)
                out[row, _LANES * group + lane] = quantiles[word]


@njit(cache=True)
def _fill_uniform(key, top, first_group, out):
    """Fill ``out`` with independent values in [0, 1), multiples of 2^-16; parameters as those of `_fill_normal`."""
    for row in range(out.shape[0]):
        for group in range(out.shape[1] // _LANES):
            bits = _hash(key, top + row, first_group + group)
            for lane in range(_LANES):
                word = np.int32((bits >> np.uint64(16 * lane)) & np.uint64(0xFFFF))
                out[row, _LANES * group + lane] = np.float32(word) * np.float32(2**-16)


@njit(cache=True)
def _fill_patchy(key, patch_px, top, left, quantiles, out):
    """Fill ``out`` with a coarse field of normal values, one a patch, interpolated between the centres of patches.

    Interpolation needs one more patch on every side, so the coarse field's first value is that of patch -1.

    Parameters
    ----------
    key : uint64, of the coarse field
    patch_px : int, pixels
    top, left : int, row and column of the field that are row 0 and column 0 of ``out``; not negative
    quantiles : float32 (2^NORMAL_BITS,)
    out : float32 (h, w), written in place

    References
    ----------
    Naive twin: tests/reference/synth/sensors/noise_fields.py
    """
    height, width = out.shape
    first_row, first_group = top // patch_px, left // patch_px // _LANES
    first_col = _LANES * first_group
    groups = ((left + width - 1) // patch_px + 2 - first_col) // _LANES + 1
    coarse = np.empty(((top + height - 1) // patch_px + 3 - first_row, _LANES * groups), np.float32)
    _fill_normal(key, first_row, first_group, quantiles, coarse)
    steps = 2 * patch_px  # from centre to centre, in half pixels
    cells, shares = np.empty(width, np.int32), np.empty(width, np.float32)
    for col in range(width):
        cell, rest = divmod(2 * (left + col) + 1 + patch_px, steps)
        cells[col], shares[col] = cell - first_col, np.float32(rest) / np.float32(steps)
    line = np.empty(coarse.shape[1], np.float32)
    for row in range(height):
        cell, rest = divmod(2 * (top + row) + 1 + patch_px, steps)
        cell, share = cell - first_row, np.float32(rest) / np.float32(steps)
        for k in range(len(line)):
            line[k] = coarse[cell, k] + share * (coarse[cell + 1, k] - coarse[cell, k])
        for col in range(width):
            k = cells[col]
            out[row, col] = line[k] + shares[col] * (line[k + 1] - line[k])


@dataclass(frozen=True, slots=True)
class Window:
    """Rows and columns of an image, ends not included."""

    top: int
    bottom: int
    left: int
    right: int

    @classmethod
    def around(cls, shown: np.ndarray, margin_px: int) -> Window:
        """Return the smallest window around what is shown, bool (H, W), with a margin; one pixel where nothing is."""
        left, top, wide, tall = cv2.boundingRect(shown.view(np.uint8))
        if wide == 0:
            return cls(0, 1, 0, 1)
        height, width = shown.shape
        return cls(
            top=max(top - margin_px, 0),
            bottom=min(top + tall + margin_px, height),
            left=max(left - margin_px, 0),
            right=min(left + wide + margin_px, width),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width, pixels."""
        return self.bottom - self.top, self.right - self.left

    def of(self, image: np.ndarray) -> np.ndarray:
        """Return the window's part of an image, as a new contiguous array."""
        return image[self.top : self.bottom, self.left : self.right].copy()

    def within(self, shape: tuple[int, int], part: np.ndarray) -> np.ndarray:
        """Return an image, (H, W), that holds this part and is 0 elsewhere."""
        out = np.zeros(shape, part.dtype)
        out[self.top : self.bottom, self.left : self.right] = part
        return out


@dataclass(frozen=True, slots=True, eq=False)
class NoiseFields:
    """Fields of one frame. Each call draws another field."""

    shape: tuple[int, int]  #: of the image, (H, W)
    window: Window
    rng: np.random.Generator

    def normal(self) -> np.ndarray:
        """Draw independent standard normal values: float32, of the window's shape."""
        return self._filled(self.window, _fill_normal, _QUANTILES)

    def uniform(self) -> np.ndarray:
        """Draw independent values in [0, 1): float32, of the window's shape."""
        return self._filled(self.window, _fill_uniform)

    def patchy(self, patch_px: int) -> np.ndarray:
        """Draw normal noise that neighbours share, as the error of a camera that measures over a window.

        Parameters
        ----------
        patch_px : int, pixels
            Between two independent values; 1 = white noise.

        Returns
        -------
        float32 (h, w)
            Of the window's shape; zero mean and unit variance over the image.
        """
        if patch_px == 1:
            return self.normal()
        out = np.empty(self.window.shape, np.float32)
        _fill_patchy(self._new_key(), patch_px, self.window.top, self.window.left, _patch_quantiles(patch_px), out)
        return out

    def smooth(self, sigma_px: float) -> np.ndarray:
        """Draw smooth normal noise: white noise filtered with a Gaussian.

        Parameters
        ----------
        sigma_px : float, pixels
            Of the Gaussian; two pixels 2 sigma_px apart are correlated by 1/e.

        Returns
        -------
        float32 (h, w)
            Of the window's shape; zero mean and unit variance.
        """
        radius = math.ceil(3 * sigma_px)
        weights = np.exp(-((np.arange(-radius, radius + 1) / sigma_px) ** 2) / 2)
        weights /= np.sqrt((weights**2).sum())  # of unit energy, to keep the variance
        w = self.window
        # value 0 of the white noise lies a radius beyond the image's corner
        white = self._filled(
            Window(w.top, w.bottom + 2 * radius, w.left, w.right + 2 * radius), _fill_normal, _QUANTILES
        )
        blurred = cv2.sepFilter2D(white, cv2.CV_32F, weights, weights)
        return np.ascontiguousarray(blurred[radius:-radius, radius:-radius])

    def _new_key(self) -> np.uint64:
        return self.rng.integers(2**64, dtype=np.uint64)

    def _filled(self, part: Window, fill: Callable[..., None], *tables: np.ndarray) -> np.ndarray:
        """Part of an unbounded field, under a new key: float32."""
        first_group, end_group = part.left // _LANES, -(-part.right // _LANES)
        out = np.empty((part.bottom - part.top, _LANES * (end_group - first_group)), np.float32)
        fill(self._new_key(), part.top, first_group, *tables, out)
        left = part.left - _LANES * first_group
        return np.ascontiguousarray(out[:, left : left + part.right - part.left])
