"""The facing network as arrays of a model file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posepipe.facing.facing_network import STRIDES, FacingNetwork


def facing_to_arrays(network: FacingNetwork | None) -> dict[str, np.ndarray]:
    """Convert the network to arrays, with weights in half precision; None becomes no arrays."""
    if network is None:
        return {}
    layers = [*network.convolutions, *zip(network.weights, network.biases, strict=True)]
    arrays = {f"weight_{k}": weight.astype(np.float16) for k, (weight, _) in enumerate(layers)}
    return arrays | {f"bias_{k}": bias for k, (_, bias) in enumerate(layers)}


def facing_from_arrays(arrays: Mapping[str, np.ndarray]) -> FacingNetwork | None:
    """Inverse of `facing_to_arrays`. Raises KeyError for a missing array, ValueError where shapes do not match."""
    if not arrays:
        return None
    numbers = range(sum(name.startswith("weight_") for name in arrays))
    layers = [(arrays[f"weight_{k}"].astype(np.float32), arrays[f"bias_{k}"]) for k in numbers]
    linear = layers[len(STRIDES) :]
    return FacingNetwork(
        tuple(layers[: len(STRIDES)]), tuple(weight for weight, _ in linear), tuple(bias for _, bias in linear)
    )
