"""Joint positions at a constant frame rate, for formats without timestamps.

All people of a run have frames at the same times: multiples of the frame time after its start. Short gaps are
interpolated linearly. In long gaps joints stay where they were last seen.
"""

from __future__ import annotations

import numpy as np

MAX_GAP_S = 0.5
"""Longest gap that is interpolated, seconds; at low frame rates, `MAX_GAP_STEPS` frames."""
MAX_GAP_STEPS = 1.5
"""More than one step, so that an uneven clock makes no gaps; less than two, so that a lost frame is one."""
DEFAULT_FRAME_S = 1 / 30
"""Frame time where the timestamps define none, seconds."""
ROUNDING_S = 1e-6
"""Unit of the times of results."""
MAX_FRAMES = 2_000_000
"""Eighteen hours at 30 frames a second; longer results have a damaged clock."""
_MAX_FIRST = 2**53  # frames from the start of the run


def frame_interval_s(times_s: np.ndarray) -> float:
    """Time between frames, seconds: the median, without what rounding of the times adds to it.

    Steps of zero or less do not count. Where most steps differ from the median by no more than results are rounded,
    the clock is even, and the interval is their mean; or 1 / n s, where that lies within the rounding of n steps.
    """
    steps = np.diff(times_s)
    steps = steps[steps > 0]
    if not len(steps):
        return DEFAULT_FRAME_S
    median = float(np.median(steps))
    even = steps[np.abs(steps - median) <= 1.5 * ROUNDING_S]
    if 2 * len(even) <= len(steps) or median < 10 * ROUNDING_S:
        return median
    mean = float(even.mean())
    exact = 1 / max(round(1 / mean), 1)
    return exact if abs(exact - mean) <= 1.5 * ROUNDING_S / len(even) else mean


def first_frame(times_s: np.ndarray, frame_s: float, start_s: float) -> int:
    """Frame from the start of the run that is nearest to the first time. Raises ValueError for one beyond 2^53."""
    frames = (float(times_s[0]) - start_s) / frame_s
    if not abs(frames) < _MAX_FIRST:
        raise ValueError(f"{times_s[0]:g} s is too far from the run's start, {start_s:g} s; are the timestamps right?")
    return round(frames)


def resample(times_s: np.ndarray, joints_m: np.ndarray, frame_s: float, start_s: float) -> np.ndarray:
    """Resample joint positions to one frame every ``frame_s``, from the first time to the last.

    Before a joint is first seen it takes its first position, after it is last seen its last position.

    Parameters
    ----------
    times_s : float (T,), T > 0, strictly increasing
    joints_m : float (T, J, 3), metres; NaN = absent
    frame_s : float, seconds, above 0
    start_s : float, start of the run, seconds: frames are multiples of ``frame_s`` after it, the first and the last one
        nearest to the first and last time

    Returns
    -------
    float64 (T', J, 3), metres; NaN for joints that are never seen

    Raises
    ------
    ValueError
        If the result would have more than MAX_FRAMES frames, or the run started too long before.
    """
    even_s = _even_times(times_s, frame_s, start_s)
    even_m = np.full((len(even_s), *joints_m.shape[1:]), np.nan)
    for joint in range(joints_m.shape[1]):
        seen = np.isfinite(joints_m[:, joint]).all(axis=-1)
        if seen.any():
            even_m[:, joint] = _interpolate(even_s, times_s[seen], joints_m[seen, joint], frame_s)
    return even_m


def in_long_gaps(times_s: np.ndarray, joints_m: np.ndarray, frame_s: float, start_s: float) -> np.ndarray:
    """Find the frames of `resample` in which a joint is unknown, for formats that can say so.

    Parameters
    ----------
    times_s, joints_m, frame_s, start_s : as for `resample`

    Returns
    -------
    bool (T', J), True before a joint is first seen, after it is last seen and in gaps above the longest that
    is interpolated
    """
    even_s = _even_times(times_s, frame_s, start_s)
    absent = np.ones((len(even_s), joints_m.shape[1]), bool)
    for joint in range(joints_m.shape[1]):
        own_s = times_s[np.isfinite(joints_m[:, joint]).all(axis=-1)]
        if len(own_s):
            after = np.searchsorted(own_s, even_s)
            before_s = even_s - own_s[np.maximum(after - 1, 0)]
            after_s = own_s[np.minimum(after, len(own_s) - 1)] - even_s
            near = np.minimum(np.abs(before_s), np.abs(after_s)) <= _half(frame_s)  # a frame beside a measured one
            between = (before_s >= 0) & (after_s >= 0) & (before_s + after_s <= _max_gap_s(frame_s))
            absent[:, joint] = ~(near | between)
    return absent


def _even_times(times_s: np.ndarray, frame_s: float, start_s: float) -> np.ndarray:
    """Times of the frames of `resample`, seconds. Raises ValueError for too many."""
    frames = (times_s[-1] - times_s[0]) / frame_s + 1.5
    if not frames < MAX_FRAMES:
        raise ValueError(
            f"from {times_s[0]:g} to {times_s[-1]:g} s there are more than {MAX_FRAMES} frames of {frame_s:g} s; "
            "are the timestamps right?"
        )
    first, last = (first_frame(times_s[row:], frame_s, start_s) for row in (0, -1))
    return start_s + np.arange(first, last + 1) * frame_s


def _half(frame_s: float) -> float:
    """Half a frame time, and what rounding adds to it."""
    return frame_s / 2 * (1 + 1e-6)


def _max_gap_s(frame_s: float) -> float:
    """Longest gap that is interpolated at a frame time."""
    return max(MAX_GAP_S, MAX_GAP_STEPS * frame_s)


def _interpolate(even_s: np.ndarray, times_s: np.ndarray, positions_m: np.ndarray, frame_s: float) -> np.ndarray:
    before = np.clip(np.searchsorted(times_s, even_s, side="right") - 1, 0, len(times_s) - 1)
    after = np.minimum(before + 1, len(times_s) - 1)
    gap_s = times_s[after] - times_s[before]
    fraction = np.clip((even_s - times_s[before]) / np.where(gap_s > 0, gap_s, 1.0), 0, 1)
    is_back = times_s[after] - even_s <= _half(frame_s)  # after a long gap: the frame nearest to the joint's return
    fraction = np.where(gap_s > _max_gap_s(frame_s), is_back, fraction)
    return positions_m[before] + fraction[:, None] * (positions_m[after] - positions_m[before])
