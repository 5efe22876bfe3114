"""Kernel: branch that a row takes at a split, for every kind of split."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import helper, njit
from posepipe.learn.growing import MISSING
from posepipe.learn.tables.splitting.column_scan import project
from posepipe.learn.tables.splitting.split_gain import MULTIWAY, NUMERIC, SUBSET
from posepipe.learn.tables.splitting.threads import run_tasks

UNKNOWN = -2
"""Branch of a row with a category that training did not have."""
ANY_CATEGORY = 1 << 30
"""Limit above all category codes, because every category of a training row is known."""


@helper(cache=True)
def branch_of(feature, threshold, n_children, kinds, combinations, subsets, columns, row):
    """Branch of one row, MISSING, or UNKNOWN for a code below 0; a code above those of the node counts as missing.

    ``columns`` is float64 (F, N); ``feature`` is a column, or F + a row of ``combinations``. The threshold of a split
    by a set of categories is a row of ``subsets``, int8 (S, K); a category that no row of the node has is missing.
    """
    if feature >= len(kinds):
        value = project(combinations[feature - len(kinds)], columns, row)
        kind = NUMERIC
    else:
        value = columns[feature, row]
        kind = kinds[feature]
    if np.isnan(value):
        return MISSING
    if kind != NUMERIC and value < 0:
        return UNKNOWN
    if kind == NUMERIC:
        return 0 if value <= threshold else 1
    if kind == MULTIWAY:
        return int(value) if value < n_children else MISSING
    if kind == SUBSET:
        return int(subsets[int(threshold), int(value)]) if value < subsets.shape[1] else MISSING
    return 0 if value == threshold else 1


@njit(cache=True, nogil=True)
def _branches(first, last, columns, splits, samples, features, thresholds, out):
    kinds, combinations, subsets = splits
    for n in range(first, last):
        out[n] = branch_of(features[n], thresholds[n], ANY_CATEGORY, kinds, combinations, subsets, columns, samples[n])


def find_branches(
    columns: np.ndarray,
    splits: tuple[np.ndarray, np.ndarray, np.ndarray],
    samples: np.ndarray,
    features: np.ndarray,
    thresholds: np.ndarray,
) -> np.ndarray:
    """Find the branch of each sample at its own feature and threshold.

    Parameters
    ----------
    columns : float64 (F, N)
    splits : kinds uint8 (F,), combinations float64 (D, F), subsets int8 (S, K)
    samples, features, thresholds : (M,)

    Returns
    -------
    int32 (M,), MISSING for an unknown branch
    """
    out = np.empty(len(samples), np.int32)
    run_tasks(_branches, len(samples), len(samples), columns, splits, samples, features, thresholds, out)
    return out
