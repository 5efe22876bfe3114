"""Naive twin of posepipe/joints/mlp.py: every unit adds up what reaches it."""

from __future__ import annotations


def mlp_forward(inputs, weights, biases):
    """Answers (P, M) as lists of floats."""
    return [_answer(row, weights, biases) for row in inputs]


def _answer(layer, weights, biases):
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        sums = []
        for unit in range(weight.shape[1]):
            total = float(bias[unit])
            for k, value in enumerate(layer):
                total += float(value) * float(weight[k, unit])
            sums.append(total)
        last = number == len(weights) - 1
        layer = sums if last else [max(0.0, total) for total in sums]
    return layer
