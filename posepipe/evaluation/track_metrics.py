"""How good tracks are: identity switches, misses and false people over a sequence; jitter of joints at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from posepipe.results import Track

GATE_M = 0.5
"""Whose joints lie on average further from a person's than this is not that person."""
REST_M_S = 0.05
"""A joint that moves slower rests."""
LEAST_REST_S = 0.3
"""Shorter rests are turning points."""


@dataclass(frozen=True, slots=True)
class TrackCounts:
    """What was counted on some sequences; counts of several are added.

    References
    ----------
    Bernardin and Stiefelhagen, Evaluating Multiple Object Tracking Performance, EURASIP J. Image and
    Video Processing 2008 (MOTA). Ristani et al., ECCV Workshops 2016 (IDF1).
    """

    people: int = 0  #: true people in view, summed over frames
    found: int = 0  #: tracks that had to be somebody's, summed over frames
    misses: int = 0  #: people in view whom no track is near
    false_people: int = 0  #: tracks that are near nobody
    switches: int = 0  #: times that a person had another id than when last found
    identified: int = 0  #: people found under the one id that is theirs, each person one id, so that most are

    def __add__(self, other: TrackCounts) -> TrackCounts:
        return TrackCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def mota(self) -> float:
        """1 - (misses + false people + switches) / people; NaN where nobody is."""
        return 1 - (self.misses + self.false_people + self.switches) / self.people if self.people else float("nan")

    @property
    def idf1(self) -> float:
        """Harmonic mean of the shares of people, and of tracks, that are identified; NaN where neither is."""
        both = self.people + self.found
        return 2 * self.identified / both if both else float("nan")


@dataclass(slots=True, eq=False)
class TrackScores:
    """Matches the tracks of one sequence with the true people, frame by frame, and counts.

    In a frame, whoever was found under an id in the frame before stays with it while the two are within
    the gate; the others are matched so that as many as can be are, and then so that the sum of distances
    is least (Bernardin and Stiefelhagen 2008, section 2.1.2). A person out of view is not missed, and
    a track near him is no false one.
    """

    joints: tuple[str, ...]  #: names of the rows of the true joints
    gate_m: float = GATE_M
    _matched: dict[int, int] = field(default_factory=dict, init=False)  #: person -> id, in the frame before
    _last_id: dict[int, int] = field(default_factory=dict, init=False)
    _together: dict[tuple[int, int], int] = field(default_factory=dict, init=False)  #: (person, id) -> frames
    _counts: TrackCounts = field(default=TrackCounts(), init=False)

    def add(self, joints_m: np.ndarray, in_view: np.ndarray, tracks: Sequence[Track]) -> dict[int, Track]:
        """Count one frame; the frames of a sequence come in order.

        Parameters
        ----------
        joints_m : float (P, J, 3), true joints, metres; person p is row p in every frame; NaN = unknown
        in_view : bool (P,), who ought to be found
        tracks : found

        Returns
        -------
        The track of every person who was found, by row
        """
        distances_m = np.array(
            [[mean_distance(truth, joints_of(track, self.joints)) for track in tracks] for truth in joints_m]
        ).reshape(len(joints_m), len(tracks))
        pairs = match(distances_m, self._kept(tracks), self.gate_m)
        matched = {person: tracks[row] for person, row in pairs.items()}
        self._matched = {person: track.id for person, track in matched.items()}
        seen = {person: track for person, track in matched.items() if in_view[person]}
        switches = sum(self._last_id.get(person, track.id) != track.id for person, track in seen.items())
        self._last_id |= {person: track.id for person, track in seen.items()}
        for person in np.flatnonzero(in_view):
            for track, distance in zip(tracks, distances_m[person], strict=True):
                if distance <= self.gate_m:
                    pair = int(person), track.id
                    self._together[pair] = self._together.get(pair, 0) + 1
        people, false = int(np.count_nonzero(in_view)), len(tracks) - len(matched)
        self._counts += TrackCounts(people, len(seen) + false, people - len(seen), false, switches)
        return matched

    def _kept(self, tracks: Sequence[Track]) -> dict[int, int]:
        """Pairs of the frame before whose id is here again: person -> row."""
        rows = {track.id: row for row, track in enumerate(tracks)}
        return {person: rows[id] for person, id in self._matched.items() if id in rows}

    def counts(self) -> TrackCounts:
        """What was counted so far."""
        people = sorted({person for person, _ in self._together})
        ids = sorted({id for _, id in self._together})
        frames = np.array([[self._together.get((person, id), 0) for id in ids] for person in people])
        best = linear_sum_assignment(frames, maximize=True) if frames.size else ([], [])
        identified = int(frames[best].sum()) if frames.size else 0
        return self._counts + TrackCounts(identified=identified)


def match(distances_m: np.ndarray, kept: dict[int, int], gate_m: float) -> dict[int, int]:
    """Match rows with columns.

    Parameters
    ----------
    distances_m : float (P, T), metres; infinity = nothing to compare
    kept : pairs that stay together while they are within the gate
    gate_m : no pair is further apart

    Returns
    -------
    row -> column: the pairs kept, and among the others as many as can be, with the least sum of distances
    """
    pairs = {row: col for row, col in kept.items() if distances_m[row, col] <= gate_m}
    rows = [row for row in range(distances_m.shape[0]) if row not in pairs]
    cols = [col for col in range(distances_m.shape[1]) if col not in pairs.values()]
    rest = distances_m[np.ix_(rows, cols)]
    far = (min(rest.shape, default=0) + 1) * max(gate_m, 1e-9)  # worse than any number of pairs within the gate
    chosen = zip(*linear_sum_assignment(np.where(rest <= gate_m, rest, far)), strict=True)
    return pairs | {rows[i]: cols[k] for i, k in chosen if rest[i, k] <= gate_m}


def joints_of(track: Track | None, joints: Sequence[str]) -> np.ndarray:
    """Places of some joints, float64 (J, 3), metres; NaN for those that were not found."""
    found = track.pose.joints if track is not None else {}
    places = [found[joint].xyz_m if joint in found else (np.nan,) * 3 for joint in joints]
    return np.array(places, float).reshape(-1, 3)


def mean_distance(truth: np.ndarray, found: np.ndarray) -> float:
    """Mean distance of the joints that both know, (J, 3) with NaN for the others; infinity when they share none."""
    gaps = np.linalg.norm(truth - found, axis=1)
    known = np.isfinite(gaps)
    return float(gaps[known].mean()) if known.any() else float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class Jitter:
    """How much joints tremble that should keep still; that of several people is added."""

    squares_m2: float = 0.0  #: sum of squared distances that the spread is made of
    freedom: int = 0  #: how many independent distances
    steps_m: np.ndarray = field(default_factory=lambda: np.zeros(0))  #: from one frame to the next
    samples: int = 0  #: joints in frames

    def __add__(self, other: Jitter) -> Jitter:
        return Jitter(
            self.squares_m2 + other.squares_m2,
            self.freedom + other.freedom,
            np.concatenate([self.steps_m, other.steps_m]),
            self.samples + other.samples,
        )

    @property
    def spread_mm(self) -> float:
        """Root mean square distance from the mean of a rest, millimetres in space; NaN where none rests."""
        return 1000 * float(np.sqrt(self.squares_m2 / self.freedom)) if self.freedom else float("nan")

    @property
    def step_mm(self) -> float:
        """Median distance from one frame to the next, millimetres in space; NaN where none rests."""
        return 1000 * float(np.median(self.steps_m)) if len(self.steps_m) else float("nan")


def jitter_at_rest(found_m: np.ndarray, true_m: np.ndarray, times_s: np.ndarray, rest_m_s: float = REST_M_S) -> Jitter:
    """Measure the jitter of one person where the true joints are known.

    A joint rests from one frame to the next when it was found in both, the truth moved slower than
    ``rest_m_s`` and no more than LEAST_REST_S went by; a rest is an unbroken run of LEAST_REST_S or more.
    What is looked at is found minus true, so that neither a constant offset nor the true motion counts.
    The spread is pooled over all rests of all joints: the root of the sum of squared distances from each
    rest's mean, over the sum of (frames - 1). The step is the median over all rests.

    Parameters
    ----------
    found_m : float (T, J, 3), metres; NaN = not found
    true_m : float (T, J, 3), metres
    times_s : float (T,), rising
    rest_m_s : metres a second
    """
    errors_m = found_m - true_m
    seconds = np.diff(times_s)[:, None]
    speed_m_s = np.linalg.norm(np.diff(true_m, axis=0), axis=2) / seconds
    resting = (speed_m_s < rest_m_s) & np.isfinite(np.diff(errors_m, axis=0)).all(axis=2) & (seconds <= LEAST_REST_S)
    rests = [errors_m[first : last + 1, joint] for joint, first, last in _rests(resting, times_s)]
    squares = sum(float(((rest - rest.mean(axis=0)) ** 2).sum()) for rest in rests)
    freedom = sum(len(rest) - 1 for rest in rests)
    return Jitter(squares, freedom, _steps_m(rests), sum(map(len, rests)))


def jitter_without_truth(found_m: np.ndarray, times_s: np.ndarray, rest_m_s: float = REST_M_S) -> Jitter:
    """Estimate the jitter of one person of whom only the found joints are known.

    A joint rests from one frame to the next when the median of its places over LEAST_REST_S before lies
    no further from that over LEAST_REST_S after than ``rest_m_s`` would carry it: jitter hardly moves
    medians. Within a rest each place is compared with the middle of its two neighbours in time, where
    even motion would take it. Independent noise of variance v along each axis gives these gaps 3/2 v,
    so the spread is the root of 2/3 of their mean square. Noise that lasts for several frames, such as
    smoothing leaves, is underestimated: compare nothing smoothed by it. The step is as in `jitter_at_rest`.

    Parameters are those of `jitter_at_rest`; frames are evenly spaced.
    """
    rests = [
        found_m[first : last + 1, joint] for joint, first, last in _rests(_still(found_m, times_s, rest_m_s), times_s)
    ]
    gaps = [rest[1:-1] - (rest[:-2] + rest[2:]) / 2 for rest in rests]
    squares = sum(float((gap**2).sum()) for gap in gaps) * 2 / 3
    return Jitter(squares, sum(map(len, gaps)), _steps_m(rests), sum(map(len, rests)))


def _still(found_m: np.ndarray, times_s: np.ndarray, rest_m_s: float) -> np.ndarray:
    """Whether joints rest from each frame to the next, by the medians before and after: bool (T - 1, J)."""
    still = np.zeros((max(len(found_m) - 1, 0), found_m.shape[1]), bool)
    if len(found_m) < 2:
        return still
    window = max(1, round(LEAST_REST_S / float(np.median(np.diff(times_s)))))
    if len(found_m) < 2 * window:
        return still
    medians_m = np.median(np.lib.stride_tricks.sliding_window_view(found_m, window, axis=0), axis=-1)
    moved_m = np.linalg.norm(medians_m[window:] - medians_m[:-window], axis=2)  # NaN where a place is missing
    seconds = times_s[window : len(found_m) - window + 1] - times_s[: len(found_m) - 2 * window + 1]
    still[window - 1 : len(found_m) - window] = moved_m < rest_m_s * seconds[:, None]
    return still


def _rests(resting: np.ndarray, times_s: np.ndarray) -> list[tuple[int, int, int]]:
    """Joint, first and last frame of every unbroken run of LEAST_REST_S or more in ``resting``, bool (T - 1, J)."""
    edges = np.diff(np.pad(resting.astype(np.int8), ((1, 1), (0, 0))), axis=0)
    runs = [
        (joint, int(first), int(last))
        for joint in range(resting.shape[1])
        for first, last in zip(*(np.flatnonzero(edges[:, joint] == sign) for sign in (1, -1)), strict=True)
    ]
    return [
        (joint, first, last) for joint, first, last in runs if times_s[last] - times_s[first] >= LEAST_REST_S - 1e-9
    ]


def _steps_m(rests: Sequence[np.ndarray]) -> np.ndarray:
    steps = [np.linalg.norm(np.diff(rest, axis=0), axis=1) for rest in rests]
    return np.concatenate([np.zeros(0), *steps])
