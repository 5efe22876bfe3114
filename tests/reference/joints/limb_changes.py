"""Naive twin of posepipe/joints/limb_changes.py."""

from __future__ import annotations

import numpy as np


def change_limbs(places_m, confidence, ranks, mirrored, apart, min_confidence):
    """For each start and landmark the column of the proposal that it changes to."""
    changed = []
    for others, away in zip(mirrored, apart, strict=True):
        best = list(ranks)
        for row, other in enumerate(others):
            known = [k for k in range(confidence.shape[1]) if confidence[row, k] > (min_confidence if away else 0)]
            if other < 0 or not known or confidence[other, ranks[other]] <= 0:
                continue
            there = places_m[other, ranks[other]]
            gaps = [np.linalg.norm(places_m[row, k] - there) for k in known]
            best[row] = known[gaps.index(max(gaps) if away else min(gaps))]
        changed.append(best)
    return np.array(changed)
