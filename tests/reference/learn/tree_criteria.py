"""Naive twin of the criteria in posepipe/learn/impurity.py: from the rows themselves, never from counts.

A node is three lists: what each row is to be predicted as, how much it weighs and, where a split is
looked at, which branch it takes.
"""

from __future__ import annotations

import math


def weight_by(keys, weights):
    """Key -> weight of its rows; keys without weight are left out."""
    found = {}
    for key, weight in zip(keys, weights, strict=True):
        if weight > 0:
            found[key] = found.get(key, 0) + weight
    return found


def entropy(labels, weights):
    """Bits needed on average to tell a row's label; 0 where there is no row."""
    bits = 0.0
    for weight in weight_by(labels, weights).values():
        share = weight / sum(weights)
        bits += share * math.log2(1 / share)
    return bits


def gini(labels, weights, costs=None):
    """Mean cost of calling a row by the label of another row, both drawn by weight.

    ``costs`` maps (true label, said label) to a cost; without it a wrong label costs 1.
    """
    total = sum(weights)
    if total == 0:
        return 0.0
    cost = 0.0
    for true, true_weight in zip(labels, weights, strict=True):
        for said, said_weight in zip(labels, weights, strict=True):
            each = (true != said) if costs is None else costs[true, said]
            cost += each * (true_weight / total) * (said_weight / total)
    return cost


def misclassification(labels, weights):
    """Share of the weight that is wrong when all rows get the one label that suits them best."""
    shares = []
    for said in set(labels):
        wrong = sum(weight for label, weight in zip(labels, weights, strict=True) if label != said)
        shares.append(wrong / sum(weights) if sum(weights) > 0 else 0.0)
    return min(shares, default=0.0)


def squared_error(values, weights):
    """Mean squared distance from the mean."""
    total = sum(weights)
    if total == 0:
        return 0.0
    mean = sum(value * weight for value, weight in zip(values, weights, strict=True)) / total
    return sum(weight * (value - mean) ** 2 for value, weight in zip(values, weights, strict=True)) / total


def conditional_entropy(branches, labels, weights):
    """Bits still needed once a row's branch is known."""
    bits = 0.0
    for branch, weight in weight_by(branches, weights).items():
        inside = [row for row, own in enumerate(branches) if own == branch]
        bits += weight / sum(weights) * entropy([labels[row] for row in inside], [weights[row] for row in inside])
    return bits


def information_gain(branches, labels, weights):
    """Bits that knowing the branch saves."""
    return entropy(labels, weights) - conditional_entropy(branches, labels, weights)


def intrinsic_value(branches, weights):
    """Bits needed to tell the branch."""
    return entropy(branches, weights)


def gain_ratio(branches, labels, weights):
    """Bits saved for each bit of the branch; 0 when all rows take one branch."""
    value = intrinsic_value(branches, weights)
    return information_gain(branches, labels, weights) / value if value > 0 else 0.0
