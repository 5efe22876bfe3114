"""Optional smoothing of tracks: less jitter at rest, for a delay that is known.

The pipeline has none of it unless asked: whoever measures wants joints where they were found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from posepipe.results import JointProposal, Pose, Track


@dataclass(slots=True, eq=False)
class OneEuroSmoother:
    """A low-pass filter for each joint of each track, which opens as the joint gets faster.

    The cutoff is ``min_cutoff_hz + beta * speed``: low at rest, where jitter is seen and delay is not;
    high in motion, where it is the other way round. To tune it, set ``beta`` to 0 and lower
    ``min_cutoff_hz`` until joints at rest keep still, then raise ``beta`` until quick ones do not lag.
    Speed is that of the joint in space, so that no axis is preferred, and is taken between places as they
    were found: from the last smoothed place, as in the paper's listing, it would depend on the frame rate.
    Confidence is handed on as it is. Frames may come at any pace; where time stands still or goes back,
    nothing is smoothed.

    Raises ValueError for cutoffs that are not above 0 or a negative ``beta``.

    References
    ----------
    Casiez, Roussel, Vogel, 1 Euro Filter, CHI 2012. Naive twin: tests/tracking/test_one_euro.py
    """

    min_cutoff_hz: float = 1.0  #: cutoff at rest
    beta: float = 10.0  #: Hz by which each m/s of speed raises the cutoff
    speed_cutoff_hz: float = 1.0  #: cutoff of the filter that the speed itself goes through
    forget_after_s: float = 0.5  #: a joint that was away for longer starts anew
    _known: dict[tuple[int, str], _Filtered] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if min(self.min_cutoff_hz, self.speed_cutoff_hz) <= 0:
            raise ValueError(f"wanted cutoffs above 0 Hz, got {self.min_cutoff_hz} and {self.speed_cutoff_hz}")
        if self.beta < 0:
            raise ValueError(f"wanted a beta of at least 0, got {self.beta}")

    def update(self, tracks: Sequence[Track], timestamp_s: float) -> tuple[Track, ...]:
        """The same tracks, their joints smoothed."""
        self._known = {
            key: last for key, last in self._known.items() if 0 <= timestamp_s - last.time_s <= self.forget_after_s
        }
        return tuple(replace(track, pose=self._smoothed(track, timestamp_s)) for track in tracks)

    def lag_s(self, speed_m_s: float) -> float:
        """Delay, seconds, behind a joint that keeps this speed on a straight line; times the speed, it is metres.

        A first-order filter follows a ramp by its time constant, 1 / (2 pi cutoff), at whatever frame rate.
        """
        return _time_constant_s(self.min_cutoff_hz + self.beta * speed_m_s)

    def _smoothed(self, track: Track, now_s: float) -> Pose:
        joints = {name: self._filter(track.id, joint, now_s) for name, joint in track.pose.joints.items()}
        return replace(track.pose, joints=joints)

    def _filter(self, id: int, joint: JointProposal, now_s: float) -> JointProposal:
        found_m = np.array(joint.xyz_m)
        last = self._known.get((id, joint.joint))
        if last is None or now_s == last.time_s:
            self._known[id, joint.joint] = _Filtered(found_m, found_m, np.zeros(3), now_s)
            return joint
        dt = now_s - last.time_s
        velocity = _towards(last.velocity_m_s, (found_m - last.found_m) / dt, self.speed_cutoff_hz, dt)
        cutoff_hz = self.min_cutoff_hz + self.beta * float(np.linalg.norm(velocity))
        place_m = _towards(last.place_m, found_m, cutoff_hz, dt)
        self._known[id, joint.joint] = _Filtered(found_m, place_m, velocity, now_s)
        x, y, z = place_m.tolist()
        return replace(joint, xyz_m=(x, y, z))


@dataclass(frozen=True, slots=True, eq=False)
class _Filtered:
    """What is remembered of one joint."""

    found_m: np.ndarray  #: float64 (3,), as it came
    place_m: np.ndarray  #: float64 (3,), smoothed
    velocity_m_s: np.ndarray  #: float64 (3,), smoothed
    time_s: float


def _towards(last: np.ndarray, new: np.ndarray, cutoff_hz: float, dt: float) -> np.ndarray:
    """One step of a first-order low-pass filter."""
    return last + (new - last) / (1 + _time_constant_s(cutoff_hz) / dt)


def _time_constant_s(cutoff_hz: float) -> float:
    return 1 / (2 * math.pi * cutoff_hz)
