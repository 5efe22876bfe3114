"""Kernel: a convolutional layer of 3 x 3 weights, with a rectifier."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, njit

TAPS = 3
"""Rows and columns of the weights of a layer."""


def convolve(image: np.ndarray, weight: np.ndarray, bias: np.ndarray, stride: int) -> np.ndarray:
    """Evaluate one layer: around every ``stride``-th pixel, 3 x 3 weights and a rectifier; outside the image is 0.

    Parameters
    ----------
    image : float32 (H, W, C)
    weight : float32 (3, 3, C, K)
    bias : float32 (K,)
    stride : 1 and up

    Returns
    -------
    float32 (ceil(H / stride), ceil(W / stride), K)

    References
    ----------
    LeCun et al., Proc. IEEE 1998. Naive twin: tests/reference/facing/convolution.py
    """
    height, width = (-(-size // stride) for size in image.shape[:2])
    out = np.empty((height, width, len(bias)), np.float32)
    _convolve(np.pad(image, ((1, 1), (1, 1), (0, 0))), weight, bias, stride, out)
    return out


@compiled_for("f4[:,:,::1], f4[:,:,:,::1], f4[::1], i8, f4[:,:,::1]")
@njit(cache=True)  # a layer takes a tenth of a millisecond: threads would take as long to start
def _convolve(padded, weight, bias, stride, out):
    outputs = out.shape[2]
    for y in range(out.shape[0]):
        sums = out[y]
        for x in range(out.shape[1]):
            for k in range(outputs):
                sums[x, k] = bias[k]
        for i in range(TAPS):
            row = padded[y * stride + i]
            for c in range(padded.shape[2]):
                for x in range(out.shape[1]):
                    # the three weights of a row at once: sums are read and written a third as often
                    left, middle, right = row[x * stride, c], row[x * stride + 1, c], row[x * stride + 2, c]
                    for k in range(outputs):
                        sums[x, k] += (
                            left * weight[i, 0, c, k] + middle * weight[i, 1, c, k] + right * weight[i, 2, c, k]
                        )
        for x in range(out.shape[1]):
            for k in range(outputs):
                sums[x, k] = max(sums[x, k], np.float32(0))
