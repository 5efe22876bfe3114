"""Quantiles of several samples at once, of different sizes."""

from __future__ import annotations

import numpy as np


def quantiles(samples: np.ndarray, shares: tuple[float, ...], counts: np.ndarray | None = None) -> np.ndarray:
    """Quantiles by linear interpolation, as `numpy.quantile` has them; that function costs more than the sorting.

    Parameters
    ----------
    samples : float (K, N), one sample a row; numbers that do not count are +inf
    shares : each in [0, 1]
    counts : int (K,), numbers of each row that count, at least 1; None = all

    Returns
    -------
    float64 (K, len(shares))
    """
    ordered = np.sort(samples, axis=1)
    row = np.arange(len(samples))[:, None]
    last = np.full_like(row, samples.shape[1] - 1) if counts is None else counts[:, None] - 1
    place = last * np.array(shares)
    below = place.astype(np.int64)
    low, high = ordered[row, below].astype(np.float64), ordered[row, np.minimum(below + 1, last)]
    return low + (high - low) * (place - below)
