"""Kernel: a pose laid over what is remembered of somebody: where it puts him, and how unlike him it is."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MIN_CONFIDENCE = 1e-3
"""What a joint that was found counts for at least."""


@njit(cache=True)
def _measure_bones(joints, bones, lengths):
    for b in range(len(bones)):
        squared = 0.0
        for axis in range(3):
            squared += (joints[bones[b, 0], axis] - joints[bones[b, 1], axis]) ** 2
        lengths[b] = math.sqrt(squared)


def measure_bones(joints_m: np.ndarray, bones: np.ndarray) -> np.ndarray:
    """Lengths of bones.

    Parameters
    ----------
    joints_m : float64 (J, 3), metres; NaN = not found
    bones : int (B, 2), rows of their ends

    Returns
    -------
    float64 (B,), metres; NaN where an end was not found. Naive twin: tests/reference/tracking/association.py
    """
    lengths_m = np.empty(len(bones))
    _measure_bones(joints_m, bones, lengths_m)
    return lengths_m


@njit(cache=True)
def _align_pose(joints, confidence, offsets, laid, middle):
    shift, total = np.zeros(3), 0.0
    for j in range(len(joints)):
        if not math.isnan(joints[j, 0]) and not math.isnan(offsets[j, 0]):
            weight = max(confidence[j], MIN_CONFIDENCE)
            total += weight
            for axis in range(3):
                shift[axis] += weight * (joints[j, axis] - offsets[j, axis])
    squared, known = 0.0, 0
    for axis in range(3):
        shift[axis] = shift[axis] / total if total > 0 else math.nan
    for j in range(len(joints)):
        seen = not math.isnan(joints[j, 0])
        for axis in range(3):
            laid[j, axis] = joints[j, axis] if seen else shift[axis] + offsets[j, axis]
            if seen and not math.isnan(offsets[j, 0]):
                weight = max(confidence[j], MIN_CONFIDENCE) / total
                squared += weight * (joints[j, axis] - offsets[j, axis] - shift[axis]) ** 2
        if not math.isnan(laid[j, 0]):
            known += 1
            for axis in range(3):
                middle[axis] += laid[j, axis]
    for axis in range(3):
        middle[axis] = middle[axis] / known if known else math.nan
    return math.sqrt(squared) if total > 0 else math.inf


def align_pose(
    joints_m: np.ndarray, confidence: np.ndarray, offsets_m: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Lay a pose over what is remembered of somebody.

    Parameters
    ----------
    joints_m : float64 (J, 3), metres, the pose; NaN = not found
    confidence : float64 (J,)
    offsets_m : float64 (J, 3), metres, the remembered joints from their middle; NaN = never seen

    Returns
    -------
    joints_m : float64 (J, 3), the pose, and what it lacks where that was about the joints it has; NaN for what neither
        knows
    middle_m : float64 (3,), mean of these: the middle of half a person is the middle of the person; NaN of none
    misfit_m : root mean square, weighted by confidence, of how else the joints lie that both have, about their own
        middle; infinite when there are none

    References
    ----------
    Naive twin: tests/reference/tracking/association.py
    """
    laid_m, middle_m = np.empty(joints_m.shape), np.zeros(3)
    misfit_m = _align_pose(joints_m, confidence, offsets_m, laid_m, middle_m)
    return laid_m, middle_m, misfit_m


@njit(cache=True)
def _growth(lengths, sums, looks):
    now, usual = 0.0, 0.0
    for b in range(len(lengths)):
        if looks[b] > 0 and math.isfinite(lengths[b]):
            now += lengths[b]
            usual += sums[b] / looks[b]
    return math.log(now / usual) if min(now, usual) > 0 else 0.0


def growth(lengths_m: np.ndarray, sums_m: np.ndarray, looks: np.ndarray) -> float:
    """Logarithm of the size of a pose over somebody's usual size, by the bones that are known of both.

    Parameters
    ----------
    lengths_m : float64 (B,), of the pose's bones; NaN = not known
    sums_m : float64 (B,), of his bones' lengths over all looks at them
    looks : int (B,), how many these were

    Returns
    -------
    float, 0 when no bone is known of both. Naive twin: tests/reference/tracking/association.py
    """
    return float(_growth(lengths_m, sums_m, looks))
