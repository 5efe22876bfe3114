"""The facing network while it is trained: normalised layers, and their gradients by backpropagation.

Without normalised layers it takes several times as many steps to tell fronts from backs at all. In use there is nothing
to normalise: a trained layer is one of other weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from posepipe.facing.convolution import TAPS
from posepipe.facing.facing_network import STRIDES, FacingNetwork, softmax
from posepipe.training.networks.adam import he_weights

DROPOUT = 0.2
"""Share of units dropped before each linear layer in each step (Srivastava et al. 2014)."""
MIN_VARIANCE = 1e-3
"""Added to variances: a unit that hardly varies is not blown up."""
MEMORY = 0.95
"""Share of the running means and variances that a step keeps."""


@dataclass(slots=True, eq=False)
class FacingLayers:
    """Layers of a facing network: convolutional ones, normalised over each batch, and linear ones.

    References
    ----------
    Batch normalisation: Ioffe and Szegedy 2015, algorithm 1.
    """

    weights: list[np.ndarray]  #: (3, 3, C, K) of the convolutional layers, (N, M) of the linear ones
    shifts: list[np.ndarray]  #: added to each output
    scales: list[np.ndarray] = field(init=False)  #: of the normalised outputs of the convolutional layers
    means: list[np.ndarray] = field(init=False)  #: of these layers before they are normalised, over many batches
    variances: list[np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        normalised = self.shifts[: len(STRIDES)]
        self.scales = [np.ones_like(own) for own in normalised]
        self.means = [np.zeros_like(own) for own in normalised]
        self.variances = [np.ones_like(own) for own in normalised]

    @classmethod
    def draw(cls, shapes: Sequence[tuple[int, ...]], rng: np.random.Generator) -> FacingLayers:
        """Draw first weights of these shapes; every direction is about as probable at first."""
        weights = [he_weights(shape, rng) for shape in shapes]
        weights[-1] *= 0.1
        return cls(weights, [np.zeros(shape[-1], np.float32) for shape in shapes])

    @property
    def parameters(self) -> list[np.ndarray]:
        """All that is learned by gradients."""
        return [*self.weights, *self.shifts, *self.scales]

    def network(self) -> FacingNetwork:
        """The network in use, with weights that half precision holds exactly, as a model file does."""
        weights, biases = list(self.weights), list(self.shifts)
        for k, scale in enumerate(self.scales):
            factor = scale / np.sqrt(self.variances[k] + MIN_VARIANCE)
            weights[k], biases[k] = weights[k] * factor, biases[k] - self.means[k] * factor
        stored = [weight.astype(np.float16).astype(np.float32) for weight in weights]
        biases = [bias.astype(np.float32) for bias in biases]
        n = len(STRIDES)
        return FacingNetwork(tuple(zip(stored[:n], biases[:n], strict=True)), tuple(stored[n:]), tuple(biases[n:]))


@dataclass(slots=True, eq=False)
class _Passed:
    """What the way forward through a layer leaves for the way back."""

    inputs: np.ndarray  #: (N, M), rows of the matrix product
    shape: tuple[int, ...]  #: of the layer's input
    outputs: np.ndarray  #: after rectifier and dropout
    normalised: np.ndarray | None  #: (N, K) before scale and shift; None = a linear layer
    factor: np.ndarray | None  #: (K,), 1 / standard deviation


def facing_gradients(
    layers: FacingLayers,
    pictures: np.ndarray,
    targets: np.ndarray,
    importance: np.ndarray,
    rng: np.random.Generator | None = None,
) -> tuple[float, list[np.ndarray]]:
    """Loss of a batch, and its gradients for all parameters; running means and variances are updated.

    Parameters
    ----------
    layers : FacingLayers
    pictures : float (P, SIDE, SIDE, CHANNELS)
    targets : float (P, DIRECTIONS), probabilities
    importance : float (P,), weight of each picture in the mean
    rng : draws the dropped units; None = no dropout

    Returns
    -------
    loss : mean cross-entropy
    gradients : in the order of `FacingLayers.parameters`

    References
    ----------
    Rumelhart, Hinton and Williams 1986; LeCun et al. 1998; Ioffe and Szegedy 2015.
    """
    passed, outputs = _forward(layers, pictures, rng)
    probabilities = softmax(outputs)
    loss = float(-(importance * (targets * np.log(np.maximum(probabilities, 1e-12))).sum(axis=1)).mean())
    gradient = (probabilities - targets) * (importance / len(pictures))[:, None]
    of_weights, of_shifts, of_scales = [], [], []
    for number in reversed(range(len(passed))):
        own, weight = passed[number], layers.weights[number]
        rows = gradient.reshape(len(own.inputs), -1)
        of_shifts.append(rows.sum(axis=0))
        if own.normalised is not None and own.factor is not None:
            of_scales.append((rows * own.normalised).sum(axis=0))
            rows = rows * layers.scales[number]
            rows = own.factor * (rows - rows.mean(axis=0) - own.normalised * (rows * own.normalised).mean(axis=0))
        of_weights.append((own.inputs.T @ rows).reshape(weight.shape))
        if number > 0:
            back = rows @ weight.reshape(-1, weight.shape[-1]).T
            gradient = _before_rectifier(back, own, passed[number - 1], number, rng is not None)
    return loss, of_weights[::-1] + of_shifts[::-1] + of_scales[::-1]


def _forward(
    layers: FacingLayers, pictures: np.ndarray, rng: np.random.Generator | None
) -> tuple[list[_Passed], np.ndarray]:
    passed: list[_Passed] = []
    values = pictures
    for number, (weight, shift) in enumerate(zip(layers.weights, layers.shifts, strict=True)):
        shape, normalised, factor = values.shape, None, None
        if number < len(STRIDES):
            windows = _windows(values, STRIDES[number])
            inputs, places = windows.reshape(-1, weight[..., 0].size), windows.shape[:3]
            normalised, factor = _normalise(layers, number, inputs @ weight.reshape(-1, weight.shape[-1]))
            values = (normalised * layers.scales[number] + shift).reshape(*places, -1)
        else:
            inputs = values.reshape(len(pictures), -1)
            values = inputs @ weight + shift
        if number < len(layers.weights) - 1:
            values = np.maximum(values, 0)
            if rng is not None and _is_dropped(number):
                kept = rng.random(values.shape, np.float32) >= DROPOUT
                values = values * (kept / np.float32(1 - DROPOUT))
        passed.append(_Passed(inputs, shape, values, normalised, factor))
    return passed, values


def _normalise(layers: FacingLayers, number: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows (N, K) of a batch with mean 0 and variance 1, and 1 / standard deviation (K,)."""
    mean, variance = rows.mean(axis=0), rows.var(axis=0)
    for running, own in ((layers.means[number], mean), (layers.variances[number], variance)):
        running += (1 - MEMORY) * (own - running)
    factor = 1 / np.sqrt(variance + MIN_VARIANCE)
    return (rows - mean) * factor, factor


def _before_rectifier(back: np.ndarray, own: _Passed, before: _Passed, number: int, dropout: bool) -> np.ndarray:
    """Gradient of the outputs before a layer, before their rectifier, from that of the rows of the layer's product."""
    gradient = _add_windows(back, own.shape, STRIDES[number]) if own.normalised is not None else back
    gradient = gradient.reshape(before.outputs.shape) * (before.outputs > 0)
    if dropout and _is_dropped(number - 1):
        gradient /= np.float32(1 - DROPOUT)  # a dropped unit is 0, and so is its gradient
    return gradient


def _is_dropped(number: int) -> bool:
    """Whether units of a layer are dropped: those that linear layers read."""
    return number >= len(STRIDES) - 1


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
