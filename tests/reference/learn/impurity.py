"""Naive twin of posepipe/learn/impurity.py: Shannon's entropy and Quinlan's gain, term by term."""

from __future__ import annotations

import math


def entropy(counts):
    """Bits of one list of counts: - sum p log2 p; 0 where there is nothing to count."""
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c > 0) if total > 0 else 0.0


def information_gain(parent, children):
    """Bits that a split of one node saves."""
    total = sum(parent)
    rest = sum(sum(child) / total * entropy(child) for child in children) if total > 0 else 0.0
    return entropy(parent) - rest
