"""Gradient descent of small networks: first weights, Adam, and its learning rate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def he_weights(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw the first weights of a layer before a rectifier, float32; the last axis of its shape are its outputs.

    References
    ----------
    He et al. 2015, eq. 10.
    """
    return rng.normal(0, np.sqrt(2 / np.prod(shape[:-1])), shape).astype(np.float32)


def cosine_schedule(done: float) -> float:
    """Learning rate as a share of the first, after a share of the training is done.

    References
    ----------
    Loshchilov and Hutter 2017, eq. 5.
    """
    return float(1 + np.cos(np.pi * done)) / 2


class Adam:
    """Adam optimiser (Kingma and Ba 2015, algorithm 1) with decoupled weight decay.

    References
    ----------
    Weight decay: Loshchilov and Hutter 2019, algorithm 2.
    """

    def __init__(self, parameters: Sequence[np.ndarray], weight_decay: float) -> None:
        self.parameters, self.weight_decay = parameters, weight_decay
        self.means = [np.zeros_like(p) for p in parameters]
        self.squares = [np.zeros_like(p) for p in parameters]
        self.steps = 0

    def step(self, all_gradients: Sequence[np.ndarray], rate: float) -> None:
        """Change the parameters in place, by gradients of the same shapes."""
        self.steps += 1
        unbiased, unbiased_square = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for parameter, gradient, mean, square in zip(
            self.parameters, all_gradients, self.means, self.squares, strict=True
        ):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            step = mean / unbiased / (np.sqrt(square / unbiased_square) + 1e-8)
            if parameter.ndim > 1:  # biases do not decay
                step += self.weight_decay * parameter
            parameter -= np.float32(rate) * step
