"""Kernel: the mean answer of trees on one row of numbers."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit

LEAF = -1
"""Number that a leaf asks for."""


@njit(cache=True)
def _mean_share(evidence, number, threshold, child, share, roots):
    total = 0.0
    for root in roots:
        node = root
        while number[node] != LEAF:
            node = child[node] + (1 if evidence[number[node]] > threshold[node] else 0)
        total += share[node]
    return total / len(roots)


def mean_share(
    evidence: np.ndarray,
    number: np.ndarray,
    threshold: np.ndarray,
    child: np.ndarray,
    share: np.ndarray,
    roots: np.ndarray,
) -> float:
    """Mean over all trees of the share at the leaf that the evidence reaches.

    Parameters
    ----------
    evidence : float32 (E,)
    number, threshold, child, share, roots : as in `PersonClassifier`

    References
    ----------
    Naive twin: tests/reference/segmentation/mean_share.py
    """
    return float(_mean_share(evidence, number, threshold, child, share, roots))
