"""Gradients of the facing network, many pictures at once, by backpropagation through matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.facing.convolution import TAPS
from posepipe.facing.facing_network import STRIDES, softmax

DROPOUT = 0.2
"""Share of units dropped before each linear layer in each step (Srivastava et al. 2014)."""


@dataclass(slots=True, eq=False)
class _Layer:
    """What the way forward leaves for the way back."""

    inputs: np.ndarray  #: float32 (N, M), rows of the matrix product
    shape: tuple[int, ...]  #: of the layer's input
    outputs: np.ndarray  #: after rectifier and dropout


def facing_gradients(
    weights: Sequence[np.ndarray],
    biases: Sequence[np.ndarray],
    pictures: np.ndarray,
    targets: np.ndarray,
    importance: np.ndarray,
    rng: np.random.Generator | None = None,
) -> tuple[float, list[np.ndarray]]:
    """Loss of a batch, and its gradients for all weights, then all biases.

    Parameters
    ----------
    weights : of the convolutional layers, float (3, 3, C, K), then of the linear ones, (N, M)
    biases : of the same layers
    pictures : float (P, SIDE, SIDE, CHANNELS)
    targets : float (P, DIRECTIONS), probabilities
    importance : float (P,), weight of each picture in the mean
    rng : draws the dropped units; None = no dropout

    Returns
    -------
    loss : mean cross-entropy
    gradients : of the shapes of weights and biases

    References
    ----------
    Rumelhart, Hinton and Williams 1986; LeCun et al. 1998.
    """
    layers, outputs = _forward(weights, biases, pictures, rng)
    probabilities = softmax(outputs)
    loss = float(-(importance * (targets * np.log(np.maximum(probabilities, 1e-12))).sum(axis=1)).mean())
    gradient = (probabilities - targets) * (importance / len(pictures))[:, None]
    of_weights, of_biases = [], []
    for number in reversed(range(len(weights))):
        layer, weight = layers[number], weights[number]
        rows = gradient.reshape(len(layer.inputs), -1)
        of_weights.append((layer.inputs.T @ rows).reshape(weight.shape))
        of_biases.append(rows.sum(axis=0))
        if number == 0:
            break
        back = rows @ weight.reshape(-1, weight.shape[-1]).T
        gradient = _add_windows(back, layer.shape, STRIDES[number]) if number < len(STRIDES) else back
        before = layers[number - 1].outputs
        gradient = gradient.reshape(before.shape) * (before > 0)
        if rng is not None and number >= len(STRIDES):
            gradient /= np.float32(1 - DROPOUT)  # a dropped unit is 0, and so is its gradient
    return loss, of_weights[::-1] + of_biases[::-1]


def _forward(
    weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], pictures: np.ndarray, rng: np.random.Generator | None
) -> tuple[list[_Layer], np.ndarray]:
    layers: list[_Layer] = []
    values = pictures
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        shape = values.shape
        if number < len(STRIDES):
            windows = _windows(values, STRIDES[number])
            inputs, places = windows.reshape(-1, weight[..., 0].size), windows.shape[:3]
        else:
            inputs, places = values.reshape(len(pictures), -1), (len(pictures),)
        values = (inputs @ weight.reshape(-1, weight.shape[-1]) + bias).reshape(*places, -1)
        if number < len(weights) - 1:
            np.maximum(values, 0, out=values)
            if rng is not None and number >= len(STRIDES) - 1:
                kept = rng.random(values.shape, np.float32) >= DROPOUT
                values *= kept / np.float32(1 - DROPOUT)
        layers.append(_Layer(inputs, shape, values))
    return layers, values


def _windows(images: np.ndarray, stride: int) -> np.ndarray:
    """What the weights of every place see of images (P, H, W, C): (P, ceil(H / stride), ceil(W / stride), 9 C)."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (TAPS, TAPS), axis=(1, 2))[:, ::stride, ::stride]
    people, rows, columns, channels = windows.shape[:4]
    return windows.transpose(0, 1, 2, 4, 5, 3).reshape(people, rows, columns, TAPS * TAPS * channels)


def _add_windows(values: np.ndarray, shape: tuple[int, ...], stride: int) -> np.ndarray:
    """Inverse of `_windows` as to gradients: every pixel of images of a shape gets the sum over its windows."""
    people, height, width, channels = shape
    rows, columns = -(-height // stride), -(-width // stride)
    windows = values.reshape(people, rows, columns, TAPS, TAPS, channels)
    padded = np.zeros((people, height + 2, width + 2, channels), values.dtype)
    for i in range(TAPS):
        for j in range(TAPS):
            padded[:, i : i + stride * rows : stride, j : j + stride * columns : stride] += windows[:, :, :, i, j]
    return padded[:, 1:-1, 1:-1]
