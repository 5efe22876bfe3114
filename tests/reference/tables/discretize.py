"""Naive twin of posepipe/learn/tables/discretize.py: every cut tried, rows counted one by one."""

from __future__ import annotations

import math
from itertools import pairwise

from tests.reference.learn.tree_criteria import entropy, information_gain

TIE_BITS = 1e-9  #: gains that differ by less are the same number


def midpoints(values):
    """Every place for a cut."""
    distinct = sorted(set(values))
    return [(low + high) / 2 for low, high in pairwise(distinct)]


def best_cut(values, classes):
    """The cut that saves most bits a row, the lowest of equals, and those bits; (None, 0) where none saves any."""
    best, most = None, TIE_BITS
    for cut in midpoints(values):
        bits = information_gain([value > cut for value in values], classes, [1] * len(values))
        if bits > most + (TIE_BITS if best is not None else 0):
            best, most = cut, bits
    return best, (most if best is not None else 0)


def paying_cuts(values, classes):
    """Fayyad and Irani's recursion: cut, if the cut pays for its description, and go on on either side."""
    cut, bits = best_cut(values, classes)
    if cut is None:
        return []
    sides = [[i for i, value in enumerate(values) if (value > cut) == above] for above in (False, True)]
    parts = [list(classes), *([classes[i] for i in side] for side in sides)]
    whole, low, high = (len(set(part)) * entropy(part, [1] * len(part)) for part in parts)
    delta = math.log2(3 ** len(set(classes)) - 2) - (whole - low - high)
    if bits <= (math.log2(len(values) - 1) + delta) / len(values):
        return []
    low_cuts, high_cuts = (paying_cuts([values[i] for i in side], [classes[i] for i in side]) for side in sides)
    return [*low_cuts, cut, *high_cuts]


def nearest_to_even_cuts(values, n_bins):
    """For every share b / n_bins of the rows the cut that leaves nearest to so many below, the lower of two."""
    found = set()
    for b in range(1, n_bins):
        distances = {
            cut: abs(sum(value <= cut for value in values) * n_bins - b * len(values)) for cut in midpoints(values)
        }
        if distances:
            found.add(min(distances, key=lambda cut: (distances[cut], cut)))
    return sorted(found)
