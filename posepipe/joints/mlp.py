"""Kernel: forward pass of a multilayer perceptron."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posepipe.compilation import compiled_for, njit, prange

ROWS_PER_PASS = 4
"""Rows of inputs that share one pass over the weights, which exceed the cache."""


def mlp_forward(inputs: np.ndarray, weights: Sequence[np.ndarray], biases: Sequence[np.ndarray]) -> np.ndarray:
    """Evaluate linear layers with rectifiers between them.

    A matrix product, which is faster for thousands of rows, would start the threads of the linear algebra library. They
    compete with Numba's for the cores.

    Parameters
    ----------
    inputs : float32 (P, N)
    weights : float32 (N, H), (H, K), ..., one a layer
    biases : float32 (H,), (K,), ...

    Returns
    -------
    float32 (P, M), outputs of the last layer

    References
    ----------
    Bishop 2006, eq. 5.9. Naive twin: tests/reference/joints/mlp.py
    """
    layer = inputs
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        out = np.empty((len(layer), len(bias)), inputs.dtype)
        _linear_layer(layer, weight, bias, number < len(weights) - 1, out)
        layer = out
    return layer


@compiled_for("f4[:,::1], f4[:,::1], f4[::1], b1, f4[:,::1]")
@njit(cache=True, parallel=True)
def _linear_layer(layer, weight, bias, rectified, out):
    for p in range(len(layer)):
        for k in range(out.shape[1]):
            out[p, k] = bias[k]
    for block in prange((len(layer) + ROWS_PER_PASS - 1) // ROWS_PER_PASS):  # a block owns its rows of out
        first = block * ROWS_PER_PASS
        for i in range(layer.shape[1]):
            for p in range(first, min(first + ROWS_PER_PASS, len(layer))):
                value = layer[p, i]
                if value != 0:  # the rectifier sets most units to 0
                    for k in range(out.shape[1]):
                        out[p, k] += value * weight[i, k]
    if rectified:
        for p in range(len(layer)):
            for k in range(out.shape[1]):
                out[p, k] = max(out[p, k], 0)
