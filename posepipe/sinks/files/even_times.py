"""Joints at even times: what formats without timestamps need.

Short gaps are crossed in a straight line, long ones held: nobody slides through the room while nobody saw him.
"""

from __future__ import annotations

import numpy as np

LONGEST_GAP_S = 0.5
"""A joint that is away for longer stays where it was last seen."""
USUAL_FRAME_S = 1 / 30
"""Where the times do not tell."""
MOST_FRAMES = 2_000_000
"""Eighteen hours at 30 frames a second; more than that is a damaged clock."""


def usual_frame_s(times_s: np.ndarray) -> float:
    """Median time from frame to frame, seconds; steps back and standstills do not count."""
    steps = np.diff(times_s)
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else USUAL_FRAME_S


def at_even_times(times_s: np.ndarray, joints_m: np.ndarray, frame_s: float) -> np.ndarray:
    """Joints every ``frame_s`` from the first time to the last.

    Before a joint was first seen it is where it was seen first, and after the last time where it was last.

    Parameters
    ----------
    times_s : float (T,), T > 0, strictly rising
    joints_m : float (T, J, 3); NaN = absent
    frame_s : seconds, above 0

    Returns
    -------
    float64 (T', J, 3); NaN for joints that were never seen

    Raises
    ------
    ValueError
        When that makes more than MOST_FRAMES frames.
    """
    frames = (times_s[-1] - times_s[0]) / frame_s + 1.5
    if not frames < MOST_FRAMES:
        raise ValueError(
            f"from {times_s[0]:g} to {times_s[-1]:g} s there are more than {MOST_FRAMES} frames of {frame_s:g} s; "
            "are the timestamps right?"
        )
    even_s = times_s[0] + np.arange(int(frames)) * frame_s
    even_m = np.full((len(even_s), *joints_m.shape[1:]), np.nan)
    for joint in range(joints_m.shape[1]):
        seen = np.isfinite(joints_m[:, joint]).all(axis=-1)
        if seen.any():
            even_m[:, joint] = _across(even_s, times_s[seen], joints_m[seen, joint], frame_s)
    return even_m


def _across(even_s: np.ndarray, times_s: np.ndarray, places_m: np.ndarray, frame_s: float) -> np.ndarray:
    before = np.clip(np.searchsorted(times_s, even_s, side="right") - 1, 0, len(times_s) - 1)
    after = np.minimum(before + 1, len(times_s) - 1)
    gap_s = times_s[after] - times_s[before]
    share = np.clip((even_s - times_s[before]) / np.where(gap_s > 0, gap_s, 1.0), 0, 1)
    back = times_s[after] - even_s < frame_s / 2  # in the frame nearest to its return a joint is there again
    share = np.where(gap_s > LONGEST_GAP_S, back, share)
    return places_m[before] + share[:, None] * (places_m[after] - places_m[before])
