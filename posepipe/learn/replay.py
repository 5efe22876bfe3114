"""Samples sent down the levels of a partly grown tree: a growth whose samples were elsewhere goes on."""

from __future__ import annotations

import numpy as np

from posepipe.learn.growing import Growth, SplitFinder, Splits, partition_samples, start_growth
from posepipe.learn.tree import LEAF


def replay(growth: Growth, finder: SplitFinder) -> None:
    """Send all samples down the levels grown so far, for a growth whose samples are not known here.

    Parameters
    ----------
    growth : Growth
        Grown on these samples without weights; ``order``, ``starts`` and ``ends`` are set in place.
    finder : SplitFinder
    """
    root = start_growth(len(finder))
    growth.order, growth.starts, growth.ends = root.order, root.starts, root.ends
    for level in range(growth.level):
        split, chosen = splits_of_level(growth, level)
        partition_samples(growth, split, chosen, finder)


def splits_of_level(growth: Growth, level: int) -> tuple[np.ndarray, Splits]:
    """Return what a grown level did.

    Returns
    -------
    split : bool (M,), which nodes were split
    chosen : Splits of these nodes; their gain is unknown, NaN
    """
    split = growth.feature[level] != LEAF
    first = sum(map(len, growth.features[:level]))
    feature = growth.feature[level][split] - first
    gain = np.full(len(feature), np.nan)
    n_children = growth.n_children[level][split]
    return split, Splits(gain, feature, growth.threshold[level][split], n_children, growth.features[level])
