"""Kernel: a convolutional layer of 3 x 3 weights, with a rectifier."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, njit, prange

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
    _convolve(image, weight, bias, stride, out)
    return out


@compiled_for("f4[:,:,::1], f4[:,:,:,::1], f4[::1], i8, f4[:,:,::1]")
@njit(cache=True, parallel=True)
def _convolve(image, weight, bias, stride, out):
    for y in prange(out.shape[0]):  # a row of out has one owner
        sums = np.empty(out.shape[2], np.float32)
        for x in range(out.shape[1]):
            for k in range(len(sums)):
                sums[k] = bias[k]
            for i in range(TAPS):
                row = y * stride + i - 1
                if row < 0 or row >= image.shape[0]:
                    continue
                for j in range(TAPS):
                    column = x * stride + j - 1
                    if column < 0 or column >= image.shape[1]:
                        continue
                    for c in range(image.shape[2]):
                        value = image[row, column, c]
                        if value != 0:  # the rectifier sets many to 0
                            own = weight[i, j, c]
                            for k in range(len(sums)):
                                sums[k] += value * own[k]
            for k in range(len(sums)):
                out[y, x, k] = max(sums[k], np.float32(0))
