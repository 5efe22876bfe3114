"""Naive twin of posepipe/learn/tables/discretize.py: tries every cut and counts row by row."""

from __future__ import annotations

import math
from itertools import pairwise

from tests.reference.learn.tree_criteria import entropy, information_gain

TIE_BITS = 1e-9  #: maximum difference of gains that count as equal


def midpoints(values):
    """All candidate cuts."""
    distinct = sorted(set(values))
    return [(low + high) / 2 for low, high in pairwise(distinct)]


def best_cut(values, classes):
    """The cut of maximum gain, the lowest one of a tie, and its gain in bits per row; (None, 0) without a gain."""
    best, max_bits = None, TIE_BITS
    for cut in midpoints(values):
        bits = information_gain([value > cut for value in values], classes, [1] * len(values))
        if bits > max_bits + (TIE_BITS if best is not None else 0):
            best, max_bits = cut, bits
    return best, (max_bits if best is not None else 0)


def paying_cuts(values, classes):
    """Fayyad and Irani's recursion: cut if the gain exceeds the description length, then continue on both sides."""
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
    """The cut nearest to each share b / n_bins of the rows, the lower one of a tie."""
    found = set()
    for b in range(1, n_bins):
        distances = {
            cut: abs(sum(value <= cut for value in values) * n_bins - b * len(values)) for cut in midpoints(values)
        }
        if distances:
            found.add(min(distances, key=lambda cut: (distances[cut], cut)))
    return sorted(found)
