"""Kernel: choices of proposals in which limbs are changed as a whole, as starts of a search for a better pose."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, njit

MIN_CONFIDENCE = 0.05
"""Minimum confidence of a proposal that is chosen for being away from the other limb."""
STAYS = -1
"""Mirror image of a landmark that does not change."""


@compiled_for("f8[:,:,::1], f8[:,::1], i8[::1], i8[:,::1], b1[::1], f8, i8[:,::1]")
@njit(cache=True)
def _change_limbs(places, confidence, ranks, mirrored, apart, min_confidence, out):
    for g in range(len(out)):
        sign, above = (-1.0, min_confidence) if apart[g] else (1.0, 0.0)
        for row in range(len(ranks)):
            image, least = mirrored[g, row], np.inf
            out[g, row] = ranks[row]
            if image < 0 or confidence[image, ranks[image]] <= 0:
                continue
            for k in range(confidence.shape[1]):
                if confidence[row, k] <= above:
                    continue
                squared = 0.0
                for axis in range(3):
                    squared += (places[row, k, axis] - places[image, ranks[image], axis]) ** 2
                if sign * squared < least:
                    out[g, row], least = k, sign * squared


def change_limbs(
    places_m: np.ndarray, confidence: np.ndarray, ranks: np.ndarray, mirrored: np.ndarray, apart: np.ndarray
) -> np.ndarray:
    """Change a choice of proposals, limb by limb, in G ways.

    Parameters
    ----------
    places_m : float64 (L, M, 3), metres, the proposals of each landmark
    confidence : float64 (L, M), 0 = none
    ranks : int64 (L,), column of the proposal that is chosen
    mirrored : int64 (G, L), mirror image of each landmark that changes; STAYS for the others
    apart : bool (G,), True = changed to be far from the mirror image, False = to take its place

    Returns
    -------
    int64 (G, L): for landmarks that change, the proposal nearest to the place chosen for their mirror image, or
    farthest from it; the chosen one where there is none, or nothing to compare with

    References
    ----------
    Naive twin: tests/reference/joints/limb_changes.py
    """
    out = np.empty(mirrored.shape, np.int64)
    _change_limbs(places_m, confidence, np.ascontiguousarray(ranks), mirrored, apart, MIN_CONFIDENCE, out)
    return out
