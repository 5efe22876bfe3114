"""Kernel: comparison of a pose with a known person: centre, misfit and size."""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import compiled_for, njit

MIN_CONFIDENCE = 1e-3
"""Minimum weight of a joint that was found."""


@compiled_for("f8[:,::1], i8[:,::1], f8[::1]")
@njit(cache=True)
def _measure_bones(joints, bones, lengths):
    for b in range(len(bones)):
        squared = 0.0
        for axis in range(3):
            squared += (joints[bones[b, 0], axis] - joints[bones[b, 1], axis]) ** 2
        lengths[b] = math.sqrt(squared)


def measure_bones(joints_m: np.ndarray, bones: np.ndarray) -> np.ndarray:
    """Measure the lengths of bones.

    Parameters
    ----------
    joints_m : float64 (J, 3), metres; NaN = not found
    bones : int (B, 2), rows of their ends

    Returns
    -------
    float64 (B,), metres; NaN where an end was not found

    References
    ----------
    Naive twin: tests/reference/tracking/association.py
    """
    lengths_m = np.empty(len(bones))
    _measure_bones(joints_m, bones, lengths_m)
    return lengths_m


@compiled_for("f8[:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[::1]")
@njit(cache=True)
def _align_pose(joints, confidence, offsets, completed, centre):
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
        found = not math.isnan(joints[j, 0])
        for axis in range(3):
            completed[j, axis] = joints[j, axis] if found else shift[axis] + offsets[j, axis]
            if found and not math.isnan(offsets[j, 0]):
                weight = max(confidence[j], MIN_CONFIDENCE) / total
                squared += weight * (joints[j, axis] - offsets[j, axis] - shift[axis]) ** 2
        if not math.isnan(completed[j, 0]):
            known += 1
            for axis in range(3):
                centre[axis] += completed[j, axis]
    for axis in range(3):
        centre[axis] = centre[axis] / known if known else math.nan
    return math.sqrt(squared) if total > 0 else math.inf


def align_pose(
    joints_m: np.ndarray, confidence: np.ndarray, offsets_m: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Align a pose with the last posture of a person.

    Parameters
    ----------
    joints_m : float64 (J, 3), metres, the pose; NaN = not found
    confidence : float64 (J,)
    offsets_m : float64 (J, 3), metres, last joints of the person relative to their centre; NaN = never found

    Returns
    -------
    joints_m : float64 (J, 3), the pose, completed by the last joints; NaN where neither is known
    centre_m : float64 (3,), mean of these joints, so that a partial pose has the centre of the whole person
    misfit_m : float, root mean square distance of the common joints after alignment, weighted by confidence; infinite
        when there are none

    References
    ----------
    Naive twin: tests/reference/tracking/association.py
    """
    completed_m, centre_m = np.empty(joints_m.shape), np.zeros(3)
    misfit_m = _align_pose(joints_m, confidence, offsets_m, completed_m, centre_m)
    return completed_m, centre_m, misfit_m


@compiled_for("f8[::1], f8[::1], i8[::1]")
@njit(cache=True)
def _log_size_ratio(lengths, sums, counts):
    now, usual = 0.0, 0.0
    for b in range(len(lengths)):
        if counts[b] > 0 and math.isfinite(lengths[b]):
            now += lengths[b]
            usual += sums[b] / counts[b]
    return math.log(now / usual) if min(now, usual) > 0 else 0.0


def log_size_ratio(lengths_m: np.ndarray, sums_m: np.ndarray, counts: np.ndarray) -> float:
    """Logarithm of the ratio of a pose's size to a person's mean size, by the bones known of both.

    Parameters
    ----------
    lengths_m : float64 (B,), metres, of the bones of the pose; NaN = unknown
    sums_m : float64 (B,), metres, sum of the lengths of each bone over all detections
    counts : int (B,), number of detections of each bone

    Returns
    -------
    float, 0 when no bone is known of both

    References
    ----------
    Naive twin: tests/reference/tracking/association.py
    """
    return float(_log_size_ratio(lengths_m, sums_m, counts))
