"""Naive twin of posepipe/learn/depth/splitting/responses.py: the bin of a sample's response, one probe at a time."""

from __future__ import annotations

import math

import numpy as np

BACKGROUND_MM = 10_000


def response_mm(samples, n, pair):
    """Response of sample ``n`` to one offset pair: probes outside its image read background."""
    image = samples.image[n]
    height, width = (int(side) for side in samples.shape[image])
    start = int(samples.start[image])
    pixels = samples.images[start : start + height * width].reshape(height, width)
    read = []
    for offset in pair:
        row, col = (
            math.floor(int(samples.pixel[n, axis]) + float(offset[axis]) * float(samples.scale[n, axis]) + 0.5)
            for axis in (0, 1)
        )
        inside = 0 <= row < height and 0 <= col < width
        read.append(int(pixels[row, col]) if inside else BACKGROUND_MM)
    return read[0] - read[1]


def fill_bins(samples, chosen, offsets, thresholds_mm):
    """Bins (N, F): how many thresholds lie below the response."""
    out = np.zeros((len(chosen), len(offsets)), np.uint8)
    for row, n in enumerate(chosen):
        for f, pair in enumerate(offsets):
            response = response_mm(samples, n, pair)
            out[row, f] = sum(response > threshold for threshold in thresholds_mm)
    return out


def go_right(samples, chosen, offsets, thresholds_mm, threshold_bins):
    """Whether each sample's response to its own pair lies beyond its own threshold."""
    return np.array(
        [response_mm(samples, n, offsets[row]) > thresholds_mm[threshold_bins[row]] for row, n in enumerate(chosen)],
        bool,
    )
