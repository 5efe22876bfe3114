"""Optional smoothing of tracks: less jitter at rest, at the cost of a known delay.

It is off by default, because measurements need unsmoothed joints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from posepipe.results import Pose, Track


@dataclass(slots=True, eq=False)
class OneEuroSmoother:
    """Low-pass filter of each joint of each track, with a cutoff that rises with the speed of the joint.

    The cutoff is ``min_cutoff_hz + beta * speed``: low at rest, to reduce jitter, and high in motion, to reduce delay.
    To tune it, set ``beta`` to 0 and lower ``min_cutoff_hz`` until joints at rest are still; then raise ``beta`` until
    fast joints do not lag.

    Speed is computed in space between unsmoothed places. With the last smoothed place, as in the paper, it would depend
    on the frame rate. Confidences stay the same. Frames may come at any rate. A frame of the time of the one before, as
    drivers double them, has the joints of that one; a joint is not smoothed where time goes on standing still, or goes
    back.

    Raises
    ------
    ValueError
        For a cutoff that is not above 0, or a ``beta`` that is not at least 0.

    References
    ----------
    Casiez, Roussel, Vogel, 1 Euro Filter, CHI 2012. Naive twin: tests/tracking/test_one_euro.py
    """

    min_cutoff_hz: float = 1.0  #: cutoff at rest
    beta: float = 10.0  #: Hz by which each m/s of speed raises the cutoff
    speed_cutoff_hz: float = 1.0  #: cutoff of the filter of the speed
    forget_after_s: float = 0.5  #: a joint that is absent for longer restarts, where a frame came meanwhile
    _known: dict[tuple[int, str], _Filtered] = field(default_factory=dict, init=False)
    _frame_s: float = field(default=-math.inf, init=False)  #: time of the last frame

    def __post_init__(self) -> None:
        if not (self.min_cutoff_hz > 0 and self.speed_cutoff_hz > 0):  # NaN is refused, too
            raise ValueError(f"wanted cutoffs above 0 Hz, got {self.min_cutoff_hz} and {self.speed_cutoff_hz}")
        if not self.beta >= 0:
            raise ValueError(f"wanted a beta of at least 0, got {self.beta}")

    def update(self, tracks: Sequence[Track], timestamp_s: float) -> tuple[Track, ...]:
        """Smooth the joints of this frame's tracks."""
        # at low frame rates a joint of the last frame is not absent, however long ago that was
        since_s = min(timestamp_s - self.forget_after_s, self._frame_s)
        self._known = {key: last for key, last in self._known.items() if since_s <= last.time_s <= timestamp_s}
        self._frame_s = timestamp_s
        return tuple(replace(track, pose=self._smoothed(track, timestamp_s)) for track in tracks)

    def lag_s(self, speed_m_s: float) -> float:
        """Return the delay, seconds, behind a joint of constant velocity.

        A first-order filter lags a ramp by its time constant, 1 / (2 pi cutoff), at any frame rate.
        """
        return _time_constant_s(self.min_cutoff_hz + self.beta * speed_m_s)

    def _smoothed(self, track: Track, now_s: float) -> Pose:
        pose = track.pose
        joints_m = pose.joints_m.copy()  # the caller holds the others
        places = [
            self._filter(track.id, name, place_m, now_s) for name, place_m in zip(pose.names, joints_m, strict=True)
        ]
        return replace(pose, joints_m=np.array(places, float).reshape(-1, 3))

    def _filter(self, id: int, joint: str, found_m: np.ndarray, now_s: float) -> np.ndarray:
        last = self._known.get((id, joint))
        if last is None or (now_s == last.time_s and not last.advanced):
            self._known[id, joint] = _Filtered(found_m, found_m, np.zeros(3), now_s, advanced=False)
            return found_m
        if now_s == last.time_s:
            self._known[id, joint] = replace(last, advanced=False)
            return last.place_m
        dt = now_s - last.time_s
        velocity = _towards(last.velocity_m_s, (found_m - last.found_m) / dt, self.speed_cutoff_hz, dt)
        cutoff_hz = self.min_cutoff_hz + self.beta * float(np.linalg.norm(velocity))
        place_m = _towards(last.place_m, found_m, cutoff_hz, dt)
        self._known[id, joint] = _Filtered(found_m, place_m, velocity, now_s, advanced=True)
        return place_m

    def reset(self) -> None:
        """Forget earlier frames: every joint restarts."""
        self._known, self._frame_s = {}, -math.inf


@dataclass(frozen=True, slots=True, eq=False)
class _Filtered:
    """State of the filter of one joint."""

    found_m: np.ndarray  #: float64 (3,), unsmoothed
    place_m: np.ndarray  #: float64 (3,), smoothed
    velocity_m_s: np.ndarray  #: float64 (3,), smoothed
    time_s: float
    advanced: bool  #: whether the time of the frame was after that of the one before


def _towards(last: np.ndarray, new: np.ndarray, cutoff_hz: float, dt: float) -> np.ndarray:
    """One step of a first-order low-pass filter."""
    return last + (new - last) / (1 + _time_constant_s(cutoff_hz) / dt)


def _time_constant_s(cutoff_hz: float) -> float:
    return 1 / (2 * math.pi * cutoff_hz)
