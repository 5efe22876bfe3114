"""Metrics of tracks: identity switches, misses and false people over a sequence; jitter of joints at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from posepipe.results import Track

GATE_M = 0.5
"""Maximum mean distance between the joints of a track and those of the same person."""
REST_M_S = 0.05
"""Speed below which a joint is at rest."""
MIN_REST_S = 0.3
"""Minimum duration of a rest; shorter ones are reversals of motion."""


@dataclass(frozen=True, slots=True)
class TrackCounts:
    """Counts on some sequences; counts of several sequences are added.

    References
    ----------
    Bernardin and Stiefelhagen, Evaluating Multiple Object Tracking Performance, EURASIP J. Image and
    Video Processing 2008 (MOTA). Ristani et al., ECCV Workshops 2016 (IDF1).
    """

    people: int = 0  #: true people in view, summed over frames
    found: int = 0  #: tracks that are scored, summed over frames
    misses: int = 0  #: people in view without a track, summed over frames
    false_people: int = 0  #: tracks without a person, summed over frames
    switches: int = 0  #: number of times that the id of a person differs from their last one
    identified: int = 0  #: people found under their id in the best one-to-one assignment of ids, summed over frames

    def __add__(self, other: TrackCounts) -> TrackCounts:
        return TrackCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def mota(self) -> float:
        """1 - (misses + false people + switches) / people; NaN without people."""
        return 1 - (self.misses + self.false_people + self.switches) / self.people if self.people else float("nan")

    @property
    def idf1(self) -> float:
        """Harmonic mean of the identified shares of people and of tracks; NaN without either."""
        both = self.people + self.found
        return 2 * self.identified / both if both else float("nan")


@dataclass(slots=True, eq=False)
class TrackScores:
    """Matches the tracks of one sequence with the true people, frame by frame, and counts.

    A pair of the last frame stays matched while both are within the gate. The others are matched with the maximum
    number of pairs, and among these the minimum sum of distances. People out of view take what is left over: they are
    not missed, and a track near them is not scored.

    References
    ----------
    Bernardin and Stiefelhagen 2008, section 2.1.2.
    """

    joints: tuple[str, ...]  #: names of the rows of the true joints
    gate_m: float = GATE_M
    _matched: dict[int, int] = field(default_factory=dict, init=False)  #: person -> id in the last frame
    _last_id: dict[int, int] = field(default_factory=dict, init=False)
    _together: dict[tuple[int, int], int] = field(default_factory=dict, init=False)  #: (person, id) -> frames
    _counts: TrackCounts = field(default=TrackCounts(), init=False)

    def add(self, joints_m: np.ndarray, in_view: np.ndarray, tracks: Sequence[Track]) -> dict[int, Track]:
        """Count the next frame of the sequence.

        Parameters
        ----------
        joints_m : float (P, J, 3), true joints, metres; person p is row p in every frame; NaN = unknown
        in_view : bool (P,), people who must be found
        tracks : of the frame

        Returns
        -------
        Row of each person found -> track
        """
        distances_m = np.array(
            [[mean_distance(truth, joints_of(track, self.joints)) for track in tracks] for truth in joints_m]
        ).reshape(len(joints_m), len(tracks))
        pairs = match(distances_m, self._kept(tracks), self.gate_m, in_view)
        matched = {person: tracks[row] for person, row in pairs.items()}
        self._matched = {person: track.id for person, track in matched.items()}
        seen = {person: track for person, track in matched.items() if in_view[person]}
        switches = sum(self._last_id.get(person, track.id) != track.id for person, track in seen.items())
        self._last_id |= {person: track.id for person, track in seen.items()}
        scored = [row for row in range(len(tracks)) if row not in pairs.values()]
        scored += [row for person, row in pairs.items() if in_view[person]]
        for person in np.flatnonzero(in_view):
            for track, distance in ((tracks[row], distances_m[person, row]) for row in scored):
                if distance <= self.gate_m:
                    pair = int(person), track.id
                    self._together[pair] = self._together.get(pair, 0) + 1
        people, false = int(np.count_nonzero(in_view)), len(tracks) - len(matched)
        self._counts += TrackCounts(people, len(seen) + false, people - len(seen), false, switches)
        return matched

    def _kept(self, tracks: Sequence[Track]) -> dict[int, int]:
        """Pairs of the last frame whose id is present again: person -> row."""
        rows = {track.id: row for row, track in enumerate(tracks)}
        return {person: rows[id] for person, id in self._matched.items() if id in rows}

    def counts(self) -> TrackCounts:
        """Counts of all frames so far."""
        people = sorted({person for person, _ in self._together})
        ids = sorted({id for _, id in self._together})
        frames = np.array([[self._together.get((person, id), 0) for id in ids] for person in people])
        best = linear_sum_assignment(frames, maximize=True) if frames.size else ([], [])
        identified = int(frames[best].sum()) if frames.size else 0
        return self._counts + TrackCounts(identified=identified)


def match(
    distances_m: np.ndarray, kept: dict[int, int], gate_m: float, first: np.ndarray | None = None
) -> dict[int, int]:
    """Match rows with columns.

    Parameters
    ----------
    distances_m : float (P, T), metres; infinity = nothing to compare
    kept : row -> column, pairs that stay while they are within the gate
    gate_m : maximum distance of a pair
    first : bool (P,), rows that are matched first, whatever pairs the others keep; None = all

    Returns
    -------
    row -> column: the pairs kept, and the maximum number of others with the minimum sum of distances
    """
    first = np.ones(len(distances_m), bool) if first is None else np.asarray(first, bool)
    pairs: dict[int, int] = {}
    for turn in (first, ~first):
        pairs |= {
            row: col
            for row, col in kept.items()
            if turn[row] and distances_m[row, col] <= gate_m and col not in pairs.values()
        }
        rows = [row for row in np.flatnonzero(turn).tolist() if row not in pairs]
        cols = [col for col in range(distances_m.shape[1]) if col not in pairs.values()]
        rest = distances_m[np.ix_(rows, cols)]
        far = (min(rest.shape, default=0) + 1) * max(gate_m, 1e-9)  # more than any sum of pairs within the gate
        chosen = zip(*linear_sum_assignment(np.where(rest <= gate_m, rest, far)), strict=True)
        pairs |= {rows[i]: cols[k] for i, k in chosen if rest[i, k] <= gate_m}
    return pairs


def joints_of(track: Track | None, joints: Sequence[str]) -> np.ndarray:
    """Places of some joints of a track, float64 (J, 3), metres; NaN = not found."""
    found = track.pose.joints if track is not None else {}
    places = [found[joint].xyz_m if joint in found else (np.nan,) * 3 for joint in joints]
    return np.array(places, float).reshape(-1, 3)


def mean_distance(truth: np.ndarray, found: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean distance of the joints known to both, (J, 3) with NaN for unknown ones; infinity when there are none.

    ``weights``, float (J,), are those of the joints in the mean; None = all have the same.
    """
    gaps = np.linalg.norm(truth - found, axis=1)
    known = np.isfinite(gaps) & (True if weights is None else weights > 0)
    if not known.any():
        return float("inf")
    return float(np.average(gaps[known], weights=None if weights is None else weights[known]))


@dataclass(frozen=True, slots=True, eq=False)
class Jitter:
    """Jitter of joints at rest; that of several people is added."""

    squares_m2: float = 0.0  #: sum of squared distances from the mean of a rest
    freedom: int = 0  #: degrees of freedom of that sum
    steps_m: np.ndarray = field(default_factory=lambda: np.zeros(0))  #: distances from one frame to the next
    samples: int = 0  #: number of joints at rest, summed over frames

    def __add__(self, other: Jitter) -> Jitter:
        return Jitter(
            self.squares_m2 + other.squares_m2,
            self.freedom + other.freedom,
            np.concatenate([self.steps_m, other.steps_m]),
            self.samples + other.samples,
        )

    @property
    def spread_mm(self) -> float:
        """Root mean square distance from the mean of a rest, millimetres in space; NaN without rests."""
        return 1000 * float(np.sqrt(self.squares_m2 / self.freedom)) if self.freedom else float("nan")

    @property
    def step_mm(self) -> float:
        """Median distance from one frame to the next, millimetres in space; NaN without rests."""
        return 1000 * float(np.median(self.steps_m)) if len(self.steps_m) else float("nan")


def jitter_at_rest(found_m: np.ndarray, true_m: np.ndarray, times_s: np.ndarray) -> Jitter:
    """Measure the jitter of one person whose true joints are known.

    A joint rests between two frames when it was found in both, the truth moved slower than REST_M_S, and at most
    MIN_REST_S passed. A rest is an unbroken run of at least MIN_REST_S. Jitter is measured on found minus true places,
    which removes constant offsets and true motion.

    The spread is pooled over all rests of all joints: the root of the sum of squared distances from the mean of each
    rest, over the sum of (frames - 1). The step is the median over all rests.

    Parameters
    ----------
    found_m : float (T, J, 3), metres; NaN = not found
    true_m : float (T, J, 3), metres
    times_s : float (T,), seconds, increasing

    Returns
    -------
    Jitter
    """
    errors_m = found_m - true_m
    seconds = np.diff(times_s)[:, None]
    speed_m_s = np.linalg.norm(np.diff(true_m, axis=0), axis=2) / seconds
    resting = (speed_m_s < REST_M_S) & np.isfinite(np.diff(errors_m, axis=0)).all(axis=2) & (seconds <= MIN_REST_S)
    rests = [errors_m[first : last + 1, joint] for joint, first, last in _rests(resting, times_s)]
    squares = sum(float(((rest - rest.mean(axis=0)) ** 2).sum()) for rest in rests)
    freedom = sum(len(rest) - 1 for rest in rests)
    return Jitter(squares, freedom, _steps_m(rests), sum(map(len, rests)))


def jitter_without_truth(found_m: np.ndarray, times_s: np.ndarray) -> Jitter:
    """Estimate the jitter of one person whose true joints are unknown.

    A joint rests between two frames when the medians of its places over MIN_REST_S before and after differ by less than
    motion at REST_M_S: jitter hardly changes medians. Within a rest, each place is compared with the mean of its
    two neighbours in time. For independent noise of variance v along each axis, these differences have variance 3/2 v,
    so the spread is the root of 2/3 of their mean square. Noise that is correlated over frames, as after smoothing, is
    underestimated. The step is as in `jitter_at_rest`.

    Parameters are those of `jitter_at_rest`; frames are evenly spaced.
    """
    rests = [found_m[first : last + 1, joint] for joint, first, last in _rests(_still(found_m, times_s), times_s)]
    gaps = [rest[1:-1] - (rest[:-2] + rest[2:]) / 2 for rest in rests]
    squares = sum(float((gap**2).sum()) for gap in gaps) * 2 / 3
    return Jitter(squares, sum(map(len, gaps)), _steps_m(rests), sum(map(len, rests)))


def _still(found_m: np.ndarray, times_s: np.ndarray) -> np.ndarray:
    """Whether joints rest between adjacent frames, by the medians before and after: bool (T - 1, J)."""
    still = np.zeros((max(len(found_m) - 1, 0), found_m.shape[1]), bool)
    if len(found_m) < 2:
        return still
    window = max(1, round(MIN_REST_S / float(np.median(np.diff(times_s)))))
    if len(found_m) < 2 * window:
        return still
    medians_m = np.median(np.lib.stride_tricks.sliding_window_view(found_m, window, axis=0), axis=-1)
    moved_m = np.linalg.norm(medians_m[window:] - medians_m[:-window], axis=2)  # NaN where a place is missing
    seconds = times_s[window : len(found_m) - window + 1] - times_s[: len(found_m) - 2 * window + 1]
    still[window - 1 : len(found_m) - window] = moved_m < REST_M_S * seconds[:, None]
    return still


def _rests(resting: np.ndarray, times_s: np.ndarray) -> list[tuple[int, int, int]]:
    """Joint, first and last frame of each run of at least MIN_REST_S in ``resting``, bool (T - 1, J)."""
    edges = np.diff(np.pad(resting.astype(np.int8), ((1, 1), (0, 0))), axis=0)
    runs = [
        (joint, int(first), int(last))
        for joint in range(resting.shape[1])
        for first, last in zip(*(np.flatnonzero(edges[:, joint] == sign) for sign in (1, -1)), strict=True)
    ]
    return [(joint, first, last) for joint, first, last in runs if times_s[last] - times_s[first] >= MIN_REST_S - 1e-9]


def _steps_m(rests: Sequence[np.ndarray]) -> np.ndarray:
    steps = [np.linalg.norm(np.diff(rest, axis=0), axis=1) for rest in rests]
    return np.concatenate([np.zeros(0), *steps])
