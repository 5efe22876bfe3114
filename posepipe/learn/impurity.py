"""Impurity of class counts, for the fast kernels.

Entropy is computed from a table of n log2 n in whole millionths of a bit, so that a sum does not
depend on its order: any number of threads and any way of counting finds the same best split.
"""

from __future__ import annotations

import numpy as np

BIT = 1 << 20
"""Fixed-point unit: one bit."""


def n_log_n_table(largest: int) -> np.ndarray:
    """Return int64 (largest + 1,): round(n log2 n * BIT), with 0 log 0 = 0."""
    n = np.arange(largest + 1, dtype=np.float64)
    n[0] = 1  # 1 log 1 = 0 stands in for 0 log 0
    return np.rint(n * np.log2(n) * BIT).astype(np.int64)


def entropy(counts: np.ndarray) -> np.ndarray:
    """Entropy in bits of class counts or weights.

    Parameters
    ----------
    counts : (..., C), not negative

    Returns
    -------
    float64 (...), bits; 0 where the counts sum to 0

    References
    ----------
    Shannon 1948; Quinlan 1986.
    """
    counts = np.asarray(counts, dtype=np.float64)
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.where(total > 0, total, 1)
    return -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=-1) + 0.0


def information_gain(parent: np.ndarray, children: np.ndarray) -> np.ndarray:
    """Bits that a split saves.

    Parameters
    ----------
    parent : (..., C), class counts before the split
    children : (..., K, C), class counts of the K branches

    Returns
    -------
    float64 (...), bits

    References
    ----------
    Quinlan 1986, the gain criterion of ID3.
    """
    children = np.asarray(children, dtype=np.float64)
    sizes = children.sum(axis=-1)
    share = sizes / np.maximum(sizes.sum(axis=-1, keepdims=True), 1e-300)
    return entropy(parent) - (share * entropy(children)).sum(axis=-1)
