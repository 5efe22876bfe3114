"""The facing network: from a person's picture to the probability of every direction in which they may face.

Parts and joints say which way a person faces only by where left and right lie, and both come from the same labels: near
the camera, where the border cuts people off, a back may be labelled as a front throughout. The network sees the shape
of the surface instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from posepipe.facing.convolution import TAPS, convolve
from posepipe.facing.person_picture import CHANNELS, SIDE
from posepipe.joints.mlp import mlp_forward

DIRECTIONS = 16
"""Directions around the vertical that the network tells apart."""
STRIDES = (2, 2, 1, 2, 1, 2)
"""Of the convolutional layers: the picture shrinks to 3 x 3 places."""
UNITS = (24, 48, 48, 96, 96, 96)
"""Outputs of the convolutional layers that are trained."""
HIDDEN_UNITS = 128
"""Units of the layer between these and the directions."""


def direction_vectors() -> np.ndarray:
    """From right to left of people who face each direction: float64 (DIRECTIONS, 2), unit vectors x, z of the camera.

    Their angles are symmetric about 0: the mirror image of a direction is the one in the opposite place.
    """
    yaw_rad = (np.arange(DIRECTIONS) + 0.5) * (2 * np.pi / DIRECTIONS) - np.pi
    return np.column_stack([np.cos(yaw_rad), np.sin(yaw_rad)])


class Facing(NamedTuple):
    """Which way somebody faces, as the direction from their right to their left."""

    probabilities: np.ndarray  #: float32 (DIRECTIONS,), of the directions of `direction_vectors`

    def agreement(self, across: np.ndarray) -> float:
        """Probability that the direction lies within a quarter turn of a vector (2,), x and z of the camera."""
        return float(self.probabilities[direction_vectors() @ across > 0].sum())

    @property
    def across(self) -> np.ndarray:
        """Mean direction from right to left: float64 (2,), x and z of the camera, at most 1 long."""
        return self.probabilities @ direction_vectors()


@dataclass(frozen=True, slots=True, eq=False)
class FacingNetwork:
    """Convolutional layers, then linear ones, with rectifiers between them.

    Raises
    ------
    ValueError
        For weights whose shapes do not follow from each other, or that are not finite float32.
    """

    convolutions: tuple[tuple[np.ndarray, np.ndarray], ...]  #: of each stride, weights (3, 3, C, K) and biases (K,)
    weights: tuple[np.ndarray, ...]  #: (N, M), of the linear layers
    biases: tuple[np.ndarray, ...]  #: (M,)

    def __post_init__(self) -> None:
        if len(self.convolutions) != len(STRIDES) or len(self.weights) != len(self.biases):
            raise ValueError(f"a facing network has {len(STRIDES)} convolutional layers, and a bias for every layer")
        channels = [CHANNELS, *(len(bias) for _, bias in self.convolutions)]
        wanted: list[tuple[int, ...]] = [(TAPS, TAPS, *pair) for pair in pairwise(channels)]
        sizes = [channels[-1] * _places_left() ** 2, *(len(bias) for bias in self.biases)]
        wanted += list(pairwise(sizes))
        layers = [*self.convolutions, *zip(self.weights, self.biases, strict=True)]
        for number, ((weight, bias), shape) in enumerate(zip(layers, wanted, strict=True)):
            for array, own in ((weight, shape), (bias, shape[-1:])):
                if array.shape != own or array.dtype != np.float32 or not np.isfinite(array).all():
                    raise ValueError(
                        f"layer {number} of the facing network must be finite float32 {own}, got {array.dtype}"
                        f" {array.shape}"
                    )
        if sizes[-1] != DIRECTIONS:
            raise ValueError(f"a facing network has {DIRECTIONS} outputs, got {sizes[-1]}")

    def predict(self, picture: np.ndarray) -> Facing:
        """Probabilities of the directions of a picture, float32 (SIDE, SIDE, CHANNELS) of `person_picture`.

        Those of the picture and of its mirror image are averaged: mirroring the picture mirrors the answer exactly.
        """
        features = np.stack([self._convolved(picture), self._convolved(np.ascontiguousarray(picture[:, ::-1]))])
        own, mirrored = softmax(mlp_forward(features, self.weights, self.biases))
        return Facing((own + mirrored[::-1]) / 2)

    def _convolved(self, image: np.ndarray) -> np.ndarray:
        for (weight, bias), stride in zip(self.convolutions, STRIDES, strict=True):
            image = convolve(image, weight, bias, stride)
        return image.reshape(-1)


def softmax(outputs: np.ndarray) -> np.ndarray:
    """Probabilities of outputs, both (P, DIRECTIONS)."""
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def layer_shapes(units: Sequence[int] = UNITS, hidden: int = HIDDEN_UNITS) -> list[tuple[int, ...]]:
    """Shapes of the weights of a network: of its convolutional layers, then of its linear ones."""
    channels = (CHANNELS, *units)
    sizes = (units[-1] * _places_left() ** 2, hidden, DIRECTIONS)
    return [(TAPS, TAPS, *pair) for pair in pairwise(channels)] + list(pairwise(sizes))


def _places_left() -> int:
    """Rows and columns that the convolutional layers leave of a picture."""
    side = SIDE
    for stride in STRIDES:
        side = -(-side // stride)
    return side
