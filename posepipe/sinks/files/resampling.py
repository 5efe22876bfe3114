"""Joint positions at a constant frame rate, for formats without timestamps.

Short gaps are interpolated linearly. In long gaps joints stay where they were last seen.
"""

from __future__ import annotations

import numpy as np

MAX_GAP_S = 0.5
"""Longest gap that is interpolated, seconds; at low frame rates, `MAX_GAP_STEPS` frames."""
MAX_GAP_STEPS = 1.5
"""More than one step, so that an uneven clock makes no gaps; less than two, so that a lost frame is one."""
DEFAULT_FRAME_S = 1 / 30
"""Frame time where the timestamps define none, seconds."""
MAX_FRAMES = 2_000_000
"""Eighteen hours at 30 frames a second; longer results have a damaged clock."""


def median_frame_s(times_s: np.ndarray) -> float:
    """Median time between frames, seconds; steps of zero or less do not count."""
    steps = np.diff(times_s)
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else DEFAULT_FRAME_S


def resample(times_s: np.ndarray, joints_m: np.ndarray, frame_s: float) -> np.ndarray:
    """Resample joint positions to one frame every ``frame_s``, from the first time to the last.

    Before a joint is first seen it takes its first position, after it is last seen its last position.

    Parameters
    ----------
    times_s : float (T,), T > 0, strictly increasing
    joints_m : float (T, J, 3), metres; NaN = absent
    frame_s : float, seconds, above 0

    Returns
    -------
    float64 (T', J, 3), metres; NaN for joints that are never seen

    Raises
    ------
    ValueError
        If the result would have more than MAX_FRAMES frames.
    """
    frames = (times_s[-1] - times_s[0]) / frame_s + 1.5
    if not frames < MAX_FRAMES:
        raise ValueError(
            f"from {times_s[0]:g} to {times_s[-1]:g} s there are more than {MAX_FRAMES} frames of {frame_s:g} s; "
            "are the timestamps right?"
        )
    even_s = times_s[0] + np.arange(int(frames)) * frame_s
    even_m = np.full((len(even_s), *joints_m.shape[1:]), np.nan)
    for joint in range(joints_m.shape[1]):
        seen = np.isfinite(joints_m[:, joint]).all(axis=-1)
        if seen.any():
            even_m[:, joint] = _interpolate(even_s, times_s[seen], joints_m[seen, joint], frame_s)
    return even_m


def in_long_gaps(times_s: np.ndarray, joints_m: np.ndarray, frame_s: float) -> np.ndarray:
    """Find the frames of `resample` in which a joint is unknown, for formats that can say so.

    Parameters
    ----------
    times_s, joints_m, frame_s : as for `resample`

    Returns
    -------
    bool (T', J), True before a joint is first seen, after it is last seen and in gaps above the longest that
    is interpolated
    """
    even_s = times_s[0] + np.arange(int((times_s[-1] - times_s[0]) / frame_s + 1.5)) * frame_s
    absent = np.ones((len(even_s), joints_m.shape[1]), bool)
    for joint in range(joints_m.shape[1]):
        own_s = times_s[np.isfinite(joints_m[:, joint]).all(axis=-1)]
        if len(own_s):
            after = np.searchsorted(own_s, even_s)
            before_s = even_s - own_s[np.maximum(after - 1, 0)]
            after_s = own_s[np.minimum(after, len(own_s) - 1)] - even_s
            near = np.minimum(np.abs(before_s), np.abs(after_s)) <= frame_s / 2  # a frame beside a measured one
            between = (before_s >= 0) & (after_s >= 0) & (before_s + after_s <= _max_gap_s(frame_s))
            absent[:, joint] = ~(near | between)
    return absent


def _max_gap_s(frame_s: float) -> float:
    """Longest gap that is interpolated at a frame time."""
    return max(MAX_GAP_S, MAX_GAP_STEPS * frame_s)


def _interpolate(even_s: np.ndarray, times_s: np.ndarray, positions_m: np.ndarray, frame_s: float) -> np.ndarray:
    before = np.clip(np.searchsorted(times_s, even_s, side="right") - 1, 0, len(times_s) - 1)
    after = np.minimum(before + 1, len(times_s) - 1)
    gap_s = times_s[after] - times_s[before]
    fraction = np.clip((even_s - times_s[before]) / np.where(gap_s > 0, gap_s, 1.0), 0, 1)
    is_back = times_s[after] - even_s < frame_s / 2  # after a long gap: the frame nearest to the joint's return
    fraction = np.where(gap_s > _max_gap_s(frame_s), is_back, fraction)
    return positions_m[before] + fraction[:, None] * (positions_m[after] - positions_m[before])
