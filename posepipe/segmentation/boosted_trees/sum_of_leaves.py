"""Kernel: the sum of boosted trees for one row of numbers."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, njit

LEAF = -1
"""Number that a leaf asks for."""


@compiled_for("f4[::1]", "i4[::1]", "f4[::1]", "i4[::1]", "f4[::1]", "i4[::1]")
@njit(cache=True)
def _sum_of_leaves(evidence, number, threshold, child, value, roots):
    total = 0.0
    for root in roots:
        node = root
        while number[node] != LEAF:
            node = child[node] + (1 if evidence[number[node]] > threshold[node] else 0)
        total += value[node]
    return total


def sum_of_leaves(
    evidence: np.ndarray,
    number: np.ndarray,
    threshold: np.ndarray,
    child: np.ndarray,
    value: np.ndarray,
    roots: np.ndarray,
) -> float:
    """Sum over all trees of the value at the leaf that the evidence reaches.

    Parameters
    ----------
    evidence : float32 (E,)
    number, threshold, child, value, roots : as in `BoostedTrees`

    References
    ----------
    Friedman, Annals of Statistics 2001. Naive twin: tests/reference/segmentation/sum_of_leaves.py
    """
    return float(_sum_of_leaves(evidence, number, threshold, child, value, roots))
