"""Kernel: rows of inputs through a multilayer mlp_forward."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

TOGETHER = 4
"""Rows that share one pass over the weights, which are larger than the cache."""


def mlp_forward(inputs: np.ndarray, weights: Sequence[np.ndarray], biases: Sequence[np.ndarray]) -> np.ndarray:
    """Linear layers, with rectifiers between them.

    A matrix product would do the same, and wake the threads of the linear algebra library, which then
    fight with Numba's for the cores. For some people at a time; for thousands the product is quicker.

    Parameters
    ----------
    inputs : float32 (P, N)
    weights : float32 (N, H), (H, K), ..., one a layer
    biases : float32 (H,), (K,), ...

    Returns
    -------
    float32 (P, M), of the last layer's M units

    References
    ----------
    Bishop 2006, eq. 5.9. Naive twin: tests/reference/joints/mlp.py
    """
    layer = inputs
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        out = np.empty((len(layer), len(bias)), inputs.dtype)
        _add_up(layer, weight, bias, number < len(weights) - 1, out)
        layer = out
    return layer


@njit(cache=True)
def _add_up(layer, weight, bias, rectified, out):
    out[:] = bias
    for first in range(0, len(layer), TOGETHER):
        for i in range(layer.shape[1]):
            for p in range(first, min(first + TOGETHER, len(layer))):
                value = layer[p, i]
                if value != 0:  # most units are closed
                    for k in range(out.shape[1]):
                        out[p, k] += value * weight[i, k]
    if rectified:
        for p in range(len(layer)):
            for k in range(out.shape[1]):
                out[p, k] = max(out[p, k], 0)
