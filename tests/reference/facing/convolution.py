"""Naive twin of posepipe/facing/convolution.py: every output adds up its nine neighbours of all channels."""

from __future__ import annotations


def convolve(image, weight, bias, stride):
    """Layer (ceil(H / stride), ceil(W / stride), K) as nested lists."""
    rows, columns, channels = image.shape
    return [
        [[_unit(image, weight[..., k], bias[k], y, x, channels) for k in range(len(bias))]
         for x in range(0, columns, stride)]
        for y in range(0, rows, stride)
    ]  # fmt: skip


def _unit(image, weight, bias, y, x, channels):
    total = float(bias)
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            if 0 <= y + i < image.shape[0] and 0 <= x + j < image.shape[1]:
                for c in range(channels):
                    total += float(image[y + i, x + j, c]) * float(weight[i + 1, j + 1, c])
    return max(0.0, total)
