"""Responses of training samples to depth-difference features.

`Responses` is the interface that `BinnedSplits` uses: it draws candidate features for a level, bins the responses of
samples, and assigns samples to the children of a split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from posepipe.compilation import njit, prange
from posepipe.learn.depth.splitting.depth_features import probe_index

READ_PIXELS = 1 << 25
"""Pixels of images on disk that are in memory at once, 67 MB."""
MAX_PIXELS = 1 << 24
"""Limit of one image, its border included: float32 counts so far."""
CHUNK_SAMPLES = 512
"""Samples that a thread bins in one go."""

ImagePool = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Images one after the other, the first element of each, and their shapes; as in `PixelSamples`."""


class Responses(Protocol):
    """Responses of N training samples to features drawn level by level."""

    n_bins: int

    def __len__(self) -> int: ...

    def draw_features(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw ``count`` candidate features, one per row."""

    def fill_bins(
        self, samples: np.ndarray, features: np.ndarray, out: np.ndarray, rows: np.ndarray | None = None
    ) -> None:
        """Write the bin of every response: samples int32 (N,), out uint8 (N, F).

        With ``rows``, int (N,), sample n is written to row ``rows[n]`` of ``out``.
        """

    def threshold(self, threshold_bin: np.ndarray) -> np.ndarray:
        """Upper bound of the responses of a bin: float32, metres."""

    def go_right(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Whether the response of sample n to feature n exceeds threshold n: bool (N,)."""


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Distribution of candidate offsets and thresholds.

    Lengths are log-uniform: many short offsets for detail, few long ones for context. Half of the candidates have one
    probe on the pixel itself. Thresholds are denser near zero.

    Raises
    ------
    ValueError
        For numbers outside their range.
    """

    shortest_m: float = 0.012  #: minimum length of an offset
    longest_m: float = 0.8  #: maximum length of an offset
    share_on_pixel: float = 0.5  #: share of candidates whose second probe is the pixel itself
    n_thresholds: int = 41
    threshold_range_m: float = 0.6  #: maximum absolute threshold
    threshold_bend: float = 3.0  #: of the sinh spacing; larger = denser near zero

    def __post_init__(self) -> None:
        if not 1 <= self.n_thresholds <= 255:
            raise ValueError(f"between 1 and 255 thresholds fit a uint8 bin, got {self.n_thresholds}")
        if not 0 < self.shortest_m <= self.longest_m or not 0 <= self.share_on_pixel <= 1:
            raise ValueError(
                "offsets need 0 < shortest <= longest and a share between 0 and 1,"
                f" got {self.shortest_m}, {self.longest_m} m and {self.share_on_pixel}"
            )

    def draw_offsets(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw float32 (count, 2, 2) offset pairs, metres, axes (feature, u or v, row or column)."""
        length = np.exp(rng.uniform(np.log(self.shortest_m), np.log(self.longest_m), (count, 2)))
        angle = rng.uniform(0, 2 * np.pi, (count, 2))
        offsets = np.stack([np.sin(angle), np.cos(angle)], axis=-1) * length[..., None]
        offsets[: round(count * self.share_on_pixel), 1] = 0  # contiguous, for branch prediction in the kernel
        return offsets.astype(np.float32)

    def thresholds_mm(self) -> np.ndarray:
        """Ascending thresholds, float64, without duplicates; at half millimetres, so that no response equals one."""
        x = np.linspace(-1, 1, self.n_thresholds)
        reach = self.threshold_range_m * 1000
        return np.unique(np.floor(reach * np.sinh(self.threshold_bend * x) / np.sinh(self.threshold_bend)) + 0.5)


class StoredImages(Protocol):
    """Images that are not in memory but read in runs, as from a `posepipe.io.scratch_array.ScratchArray`."""

    def read(self, first: int, end: int) -> np.ndarray:
        """Read elements ``first`` up to ``end``: int16 (end - first,)."""


@dataclass(frozen=True, slots=True, eq=False)
class PixelSamples:
    """Labelled pixels of many segments, with the depth around them.

    Images are cropped to the segment, bordered by background and concatenated.
    """

    images: np.ndarray | StoredImages  #: int16 (sum of H x W,), millimetres
    start: np.ndarray  #: int64 (I,), first element of every image
    shape: np.ndarray  #: int32 (I, 2), rows and columns, border included
    image: np.ndarray  #: int32 (N,), image of every sample
    pixel: np.ndarray  #: int16 (N, 2), row and column in the bordered image
    scale: np.ndarray  #: float32 (N, 2), focal length / depth along rows and columns, pixels per metre
    label: np.ndarray  #: uint8 (N,), class
    frame: np.ndarray  #: int32 (I,), frame of the dataset of each image

    def every(self, step: int, first: int) -> PixelSamples:
        """Of each image the samples ``first``, ``first + step`` and so on; the images are shared."""
        before = np.searchsorted(self.image, np.arange(len(self.start)))  # samples come image by image
        chosen = (np.arange(len(self.image)) - before[self.image]) % step == first
        own = {name: getattr(self, name)[chosen] for name in ("image", "pixel", "scale", "label")}
        return replace(self, **own)


class DepthResponses:
    """`Responses` of a depth forest: depth-difference features at labelled pixels.

    Parameters
    ----------
    samples : PixelSamples
    offset_range : OffsetRange

    Raises
    ------
    ValueError
        When an image is larger than MAX_PIXELS.
    """

    def __init__(self, samples: PixelSamples, offset_range: OffsetRange) -> None:
        largest = samples.shape.prod(axis=1, dtype=np.int64).max(initial=0)
        if largest > MAX_PIXELS:
            raise ValueError(f"training takes images of at most {MAX_PIXELS} pixels, got {largest}; make them smaller")
        self._samples = samples
        self._range = offset_range
        self._thresholds_mm = offset_range.thresholds_mm()
        limit = int(np.ceil(offset_range.threshold_range_m * 1000)) + 1
        response_mm = np.arange(-limit, limit + 1)
        self._bin_of = np.searchsorted(self._thresholds_mm, response_mm).astype(np.uint8)
        self.n_bins = len(self._thresholds_mm) + 1

    def __len__(self) -> int:
        return len(self._samples.label)

    def draw_features(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw candidate offsets: float32 (count, 2, 2), metres."""
        return self._range.draw_offsets(rng, count)

    def fill_bins(
        self, samples: np.ndarray, features: np.ndarray, out: np.ndarray, rows: np.ndarray | None = None
    ) -> None:
        """Write the bin of every response: samples int32 (N,), out uint8 (N, F).

        With ``rows``, int (N,), sample n is written to row ``rows[n]`` of ``out``. Ascending samples are fastest: those
        of one image are then adjacent, and the image stays in cache.
        """
        s = self._samples
        places = np.arange(len(samples), dtype=np.int32) if rows is None else rows.astype(np.int32, copy=False)
        offsets = np.ascontiguousarray(_rows(features).T)
        two_probes = np.flatnonzero(offsets[2:].any(axis=0))
        n_single = int(two_probes[0]) if len(two_probes) else len(features)
        for part, pool in self._parts(samples):
            chosen = samples[part], places[part]
            _fill_bins(pool, s.image, s.pixel, s.scale, chosen, offsets, n_single, self._bin_of, out)

    def threshold(self, threshold_bin: np.ndarray) -> np.ndarray:
        """Upper bound of the responses of a bin: float32, metres."""
        return (self._thresholds_mm[threshold_bin] / 1000).astype(np.float32)

    def go_right(self, samples: np.ndarray, features: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Whether the response of sample n to feature n exceeds threshold n: bool (N,)."""
        right = np.empty(len(samples), np.bool_)
        s, offsets = self._samples, _rows(features)
        for part, pool in self._parts(samples):
            out = right[part]
            _go_right(pool, s.image, s.pixel, s.scale, (samples[part], offsets[part], thresholds[part]), out)
            right[part] = out
        return right

    def _parts(self, samples: np.ndarray) -> Iterator[tuple[slice | np.ndarray, ImagePool]]:
        """Yield all samples with the images in memory; or some after others, with those of the images on disk."""
        s = self._samples
        if isinstance(s.images, np.ndarray):
            yield slice(None), (s.images, s.start, s.shape)
            return
        order = np.argsort(samples, kind="stable")  # reads every image once
        image = s.image[samples[order]]
        ends = s.start + s.shape.prod(axis=1, dtype=np.int64)
        first = 0
        while first < len(order):
            start = s.start[image[first]]
            beyond = max(np.searchsorted(ends, start + READ_PIXELS, side="right"), image[first] + 1)
            stop = int(np.searchsorted(image, beyond))
            yield order[first:stop], (s.images.read(start, ends[image[stop - 1]]), s.start - start, s.shape)
            first = stop


def _rows(features: np.ndarray) -> np.ndarray:
    """Offsets as rows of four: u row, u column, v row, v column."""
    return features.reshape(-1, 4)


@njit(cache=True, inline="always")
def _response_mm(images, start, row, col, height, width, row_scale, col_scale, offsets, f):
    """Response of feature ``f``: offsets float32 (F, 4), u row, u column, v row, v column."""
    u = probe_index(row, col, offsets[f, 0], offsets[f, 1], row_scale, col_scale, height, width)
    if offsets[f, 2] == 0 and offsets[f, 3] == 0:  # half of the candidates have no second probe
        v = np.uint32(row * width + col)
    else:
        v = probe_index(row, col, offsets[f, 2], offsets[f, 3], row_scale, col_scale, height, width)
    return np.int32(images[start + u]) - np.int32(images[start + v])


@njit(cache=True, inline="always")
def _probe(row, col, row_offset_m, col_offset_m, row_scale, col_scale, last_row, last_col, width):
    """Probe as `probe_index` does, all in float32, which is exact below MAX_PIXELS and vectorises best."""
    r = row + np.floor(row_offset_m * row_scale + np.float32(0.5))
    c = col + np.floor(col_offset_m * col_scale + np.float32(0.5))
    r = min(max(r, np.float32(0)), last_row)
    c = min(max(c, np.float32(0)), last_col)
    return np.int32(r * width + c)


@njit(cache=True, parallel=True)
def _fill_bins(pool, image, pixel, scale, chosen, offsets, n_single, bin_of, out):
    """Bins of samples for features (4, F), of which the first ``n_single`` have their second probe on the pixel."""
    images, image_start, image_shape = pool
    samples, places = chosen
    n_features = offsets.shape[1]
    limit = np.int32(len(bin_of) // 2)
    for chunk in prange((len(samples) + CHUNK_SAMPLES - 1) // CHUNK_SAMPLES):
        u, v = np.empty(n_features, np.int32), np.empty(n_features, np.int32)
        for n in range(chunk * CHUNK_SAMPLES, min((chunk + 1) * CHUNK_SAMPLES, len(samples))):
            s, to = samples[n], places[n]
            i = image[s]
            start, width = np.uint64(image_start[i]), np.float32(image_shape[i, 1])
            last_row, last_col = np.float32(image_shape[i, 0] - 1), np.float32(image_shape[i, 1] - 1)
            row, col = np.float32(pixel[s, 0]), np.float32(pixel[s, 1])
            row_scale, col_scale = scale[s, 0], scale[s, 1]
            for f in range(n_features):  # these two loops have no branches, and vectorise
                u[f] = _probe(row, col, offsets[0, f], offsets[1, f], row_scale, col_scale, last_row, last_col, width)
            for f in range(n_single, n_features):
                v[f] = _probe(row, col, offsets[2, f], offsets[3, f], row_scale, col_scale, last_row, last_col, width)
            centre = np.int32(images[start + np.uint64(row * width + col)])
            for f in range(n_single):
                response = np.int32(images[start + np.uint64(u[f])]) - centre
                out[to, f] = bin_of[np.uint64(min(max(response, -limit), limit) + limit)]
            for f in range(n_single, n_features):
                response = np.int32(images[start + np.uint64(u[f])]) - np.int32(images[start + np.uint64(v[f])])
                out[to, f] = bin_of[np.uint64(min(max(response, -limit), limit) + limit)]


@njit(cache=True, parallel=True)
def _go_right(pool, image, pixel, scale, chosen, out):
    images, image_start, image_shape = pool
    samples, offsets, thresholds_m = chosen
    for n in prange(len(samples)):
        s = samples[n]
        i = image[s]
        start, height, width = np.uint64(image_start[i]), image_shape[i, 0], image_shape[i, 1]
        row, col = np.int32(pixel[s, 0]), np.int32(pixel[s, 1])
        response = _response_mm(images, start, row, col, height, width, scale[s, 0], scale[s, 1], offsets, n)
        out[n] = response > thresholds_m[n] * 1000  # thresholds are half millimetres, responses whole ones
