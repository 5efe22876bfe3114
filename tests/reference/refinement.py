"""Naive twin of the network in posepipe/refinement.py: every unit adds up what reaches it."""

from __future__ import annotations


def forward(inputs, mean, deviation, weights, biases):
    """Answers of one person, a list of floats, from a list of inputs."""
    layer = [(value - m) / d for value, m, d in zip(inputs, mean, deviation, strict=True)]
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        sums = []
        for unit in range(weight.shape[1]):
            total = float(bias[unit])
            for k, value in enumerate(layer):
                total += value * float(weight[k, unit])
            sums.append(total)
        last = number == len(weights) - 1
        layer = sums if last else [max(0.0, total) for total in sums]
    return layer
