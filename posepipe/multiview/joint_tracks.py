"""Joints of each person over time in one view, and pairs of two views at the same times."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.multiview.view_fusion import ViewedPerson
from posepipe.results import Track

MAX_GAP_S = 0.2
"""Longest gap of a track that is interpolated; at low frame rates, `MAX_GAP_STEPS` of its frames."""
MAX_GAP_STEPS = 1.5
GOLDEN_RATIO = (1 + math.sqrt(5)) / 2
"""Its multiples modulo 1 are evenly distributed, however many."""


@dataclass(frozen=True, slots=True, eq=False)
class JointTrack:
    """One person in one view."""

    times_s: np.ndarray  #: float64 (T,), rising
    joints_m: np.ndarray  #: float64 (T, J, 3), camera axes, metres; NaN = not found
    confidence: np.ndarray  #: float64 (T, J); 0 = not found

    def at(self, times_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Interpolate joints, float64 (N, J, 3), and confidence (N, J), 0 where the track has a gap."""
        last = len(self.times_s) - 1
        after = np.clip(np.searchsorted(self.times_s, times_s), 0, last)
        before = np.where(self.times_s[after] == times_s, after, np.maximum(after - 1, 0))
        gap_s = self.times_s[after] - self.times_s[before]
        share = np.where(gap_s > 0, (times_s - self.times_s[before]) / np.where(gap_s > 0, gap_s, 1.0), 0.0)
        max_gap_s = max(MAX_GAP_S, MAX_GAP_STEPS * float(np.median(np.diff(self.times_s))))
        inside = (times_s >= self.times_s[0]) & (times_s <= self.times_s[-1]) & (gap_s <= max_gap_s)
        joints_m = (1 - share)[:, None, None] * self.joints_m[before] + share[:, None, None] * self.joints_m[after]
        confidence = np.minimum(self.confidence[before], self.confidence[after]) * inside[:, None]
        return joints_m, np.where(np.isfinite(joints_m).all(axis=2), confidence, 0.0)


class TrackCollector:
    """Gathers the tracks of one view, frame by frame."""

    def __init__(self, body: BodyDefinition) -> None:
        self._body = body
        self._people: defaultdict[int, list[tuple[float, ViewedPerson]]] = defaultdict(list)

    def add(self, time_s: float, people: Sequence[Track]) -> None:
        """Keep the people of one frame."""
        for row, track in enumerate(people):
            person = ViewedPerson.of(0, row, track.pose, self._body)
            own = self._people[track.id]
            if not own or time_s > own[-1][0]:
                own.append((time_s, person))

    def tracks(self) -> list[JointTrack]:
        """Everybody who was seen twice or more."""
        return [
            JointTrack(
                np.array([time_s for time_s, _ in own]),
                np.stack([person.joints_m for _, person in own]),
                np.stack([person.confidence for _, person in own]),
            )
            for own in self._people.values()
            if len(own) > 1
        ]


@dataclass(frozen=True, slots=True, eq=False)
class JointPairs:
    """Two people, one of each view, who may be the same: N pairs of poses."""

    moments: np.ndarray  #: int (N,), number of the moment; several pairs share one where a view shows several people
    first_m: np.ndarray  #: float64 (N, J, 3), axes of the first camera, metres; 0 where the weight is 0
    second_m: np.ndarray  #: float64 (N, J, 3), axes of the second camera
    weight: np.ndarray  #: float64 (N, J), lower confidence of the two; 0 = not found in both


def pair_tracks(
    first: Sequence[JointTrack], second: Sequence[JointTrack], offset_s: float, max_moments: int, between: bool = False
) -> JointPairs:
    """Pair everybody in one view with everybody in another at the same time.

    Parameters
    ----------
    first, second : tracks of both views
    offset_s : added to the times of the second for those of the first
    max_moments : times of the first view that are used at most, evenly spaced
    between : True = moments lie anywhere between these times. Midway between two frames interpolation averages their
        noise, so at the times of frames themselves offsets half a frame from the true one would fit best
    """
    times_s = np.unique(np.concatenate([track.times_s for track in first])) if first else np.zeros(0)
    if between and len(times_s) > 1:
        times_s = times_s[:-1] + np.diff(times_s) * (GOLDEN_RATIO * np.arange(1, len(times_s)) % 1)
    times_s = times_s[:: max(1, -(-len(times_s) // max_moments))]
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    for one in first:
        one_m, one_confidence = one.at(times_s)
        for other in second:
            other_m, other_confidence = other.at(times_s - offset_s)
            weight = np.minimum(one_confidence, other_confidence)
            shared = np.flatnonzero(weight.any(axis=1))
            if len(shared):
                rows.append((shared, one_m[shared], other_m[shared], weight[shared]))
    if not rows:
        return JointPairs(np.zeros(0, int), *(np.zeros((0, 0, 3)),) * 2, np.zeros((0, 0)))
    moments, first_m, second_m, weight = (np.concatenate(column) for column in zip(*rows, strict=True))
    found = (weight > 0)[..., None]
    return JointPairs(moments, np.where(found, first_m, 0.0), np.where(found, second_m, 0.0), weight)
