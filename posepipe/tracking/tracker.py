"""Poses over time become tracks: ids that stay with their people through crossings and short losses.

What is predicted is where a person is, one place, and not each joint: two people who cross are told
apart by where they were heading, and bodies keep their course far better than hands do. And the middle
of all joints stays where it is when a pose mistakes left for right, while every joint of it leaps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from posepipe.body import BodyDefinition
from posepipe.results import Pose, Track
from posepipe.tracking.association import align_pose, growth, measure_bones

PLACE_SIGMA_M = 0.08
"""Standard deviation, along an axis, of the middle of a pose that is all there and certain."""
START_SPEED_M_S = 0.7
"""Standard deviation, along an axis, of the velocity of somebody who was seen once."""
WANDER_M2_S3 = 0.5
"""Spectral density, along an axis, of the accelerations by which people leave their course."""
POSTURE_SIGMA_M = 0.2
"""How far joints move about the middle of a person from one look to the next, root mean square."""
BUILD_SIGMA = 0.07
"""Standard deviation of the logarithm of a person's size from pose to pose; from person to person it is 0.1."""
WHOLE = 0.6
"""Mean confidence over all joints, 0 for those not found, below which a pose is a fragment and tells no build."""
MAX_MISMATCH = 6.0
"""No posture and no build is less like a person than this: left and right, or half a body, may be mistaken."""
NEWCOMER = 20.0
"""Surprise at somebody who was never seen. A place alone comes to it 4.5 sigma from the predicted one."""
MIN_SHARE = 0.1
"""However few of a person's joints are seen, they count for so much of him."""
BACKWARDS_S = 0.1
"""Frames that came in the wrong order step so far back in time; further back, a source has started over."""


@dataclass(slots=True, eq=False)
class Tracker:
    """Gives each pose the id of the person whose it is likeliest to be; forgets people who stay away.

    The surprise at a pose, were it a person's, is -2 log of a likelihood of three Gaussian factors: the
    middle of the joints, about the place predicted for it; the joints about their middle, as they were
    at the last look; and the size of the bones, about the mean of all looks. Poses are given to people
    so that the sum of surprises is least, and never to one whom a newcomer would surprise less.
    An id is given once. No joint is moved: smoothing is none of its business.

    References
    ----------
    Prediction: Bar-Shalom, Li, Kirubarajan, Estimation with Applications to Tracking and Navigation,
    2001, section 6.2. Likelihoods as costs of an optimal assignment: Blackman and Popoli, Design and
    Analysis of Modern Tracking Systems, 1999, chapter 6.
    """

    body: BodyDefinition | None = None  #: its bones tell builds apart; None = only places and postures do
    max_step_m: float = 1.0  #: further than this from the predicted place a pose is someone new
    forget_after_s: float = 2.0
    _people: list[_Person] = field(default_factory=list, init=False)
    _next_id: int = field(default=1, init=False)
    _now_s: float = field(default=-math.inf, init=False)
    _rows: dict[str, int] = field(default_factory=dict, init=False)  #: joint -> row; joints that turn up get the next
    _bones: np.ndarray = field(init=False, repr=False)  #: int (B, 2), rows of their ends

    def __post_init__(self) -> None:
        if self.body:
            self._rows = {joint: row for row, joint in enumerate(self.body.joints)}
        self._bones = np.array(self.body.bones() if self.body else [], int).reshape(-1, 2)

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        """Tracks of this frame's poses, in their order; frames may come at any pace."""
        if timestamp_s < self._now_s - BACKWARDS_S:
            self._people, self._now_s = [], timestamp_s
        self._now_s = max(self._now_s, timestamp_s)
        self._people = [p for p in self._people if self._now_s - p.seen_s <= self.forget_after_s]
        looks = self._look(poses)
        owners = self._assign(looks)
        for row, look in enumerate(looks):
            if row not in owners:
                owners[row] = _Person.first_seen(self._next_id, look, self._now_s)
                self._next_id += 1
                self._people.append(owners[row])
        return tuple(Track(owners[row].id, pose) for row, pose in enumerate(poses))

    def _look(self, poses: Sequence[Pose]) -> list[_Look]:
        """The poses as arrays of one width, and everybody remembered brought to it."""
        for pose in poses:
            for joint in pose.joints:
                self._rows.setdefault(joint, len(self._rows))
        for person in self._people:
            new_rows = len(self._rows) - len(person.offsets_m)
            if new_rows:
                person.offsets_m = np.pad(person.offsets_m, ((0, new_rows), (0, 0)), constant_values=np.nan)
        return [_Look.at(pose, self._rows, self._bones) for pose in poses]

    def _assign(self, looks: Sequence[_Look]) -> dict[int, _Person]:
        """Whose the poses are, row -> person, without the newcomers; those people have moved there."""
        if not looks or not self._people:
            return {}
        pairs = [[_Pairing.of(person, look, self._now_s) for person in self._people] for look in looks]
        surprise = np.array([[pair.surprise(self.max_step_m) for pair in row] for row in pairs])
        # strangers are all the same, so that one who is far away cannot push others to wrong people
        best = zip(*linear_sum_assignment(np.minimum(surprise, NEWCOMER)), strict=True)
        owners = {}
        for row, col in best:
            if surprise[row, col] < NEWCOMER:
                owners[int(row)] = self._people[col]
                pairs[row][col].accept(self._now_s)
        return owners


class NoTracker:
    """Tracking switched off: people are numbered from 1 in every frame, which knows nothing of the others."""

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        return tuple(Track(i, pose) for i, pose in enumerate(poses, start=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """A pose as arrays."""

    joints_m: np.ndarray  #: float64 (J, 3); NaN = not found
    confidence: np.ndarray  #: float64 (J,); 0 = not found
    certainty: float  #: sum of these
    lengths_m: np.ndarray  #: float64 (B,), of the bones; NaN = an end was not found, or the pose is a fragment

    @classmethod
    def at(cls, pose: Pose, rows: dict[str, int], bones: np.ndarray) -> _Look:
        joints_m, confidence = np.full((len(rows), 3), np.nan), np.zeros(len(rows))
        if pose.joints:
            found = np.array([rows[name] for name in pose.joints])
            values = np.array([(*joint.xyz_m, joint.confidence) for joint in pose.joints.values()])
            joints_m[found], confidence[found] = values[:, :3], values[:, 3]
        lengths_m, certainty = measure_bones(joints_m, bones), float(confidence.sum())
        if certainty < WHOLE * len(rows):
            lengths_m[:] = np.nan
        return cls(joints_m, confidence, certainty, lengths_m)


@dataclass(slots=True, eq=False)
class _Person:
    """What is remembered of somebody."""

    id: int
    seen_s: float
    place_m: np.ndarray  #: float64 (3,), estimated middle of all joints, when last seen
    velocity_m_s: np.ndarray  #: float64 (3,)
    covariance: tuple[float, float, float]  #: of place, of place and velocity, of velocity; the same along every axis
    offsets_m: np.ndarray  #: float64 (J, 3), joints from their middle, as last seen; NaN = never seen
    lengths_m: np.ndarray  #: float64 (B,), sums over looks
    looks: np.ndarray  #: int (B,), how many looks

    @classmethod
    def first_seen(cls, id: int, look: _Look, now_s: float) -> _Person:
        covariance = (_place_variance(look, look.joints_m), 0.0, START_SPEED_M_S**2)
        bones = len(look.lengths_m)
        known = np.isfinite(look.joints_m[:, 0])
        middle_m = look.joints_m[known].mean(axis=0) if known.any() else np.full(3, np.nan)
        person = cls(
            id,
            now_s,
            middle_m,
            np.zeros(3),
            covariance,
            look.joints_m - middle_m,
            np.zeros(bones),
            np.zeros(bones, int),
        )
        person.measure(look)
        return person

    def predict(self, now_s: float) -> tuple[np.ndarray, tuple[float, float, float]]:
        """Place (3,) and covariance now, had the person kept going: nearly constant velocity."""
        dt, (place, both, velocity) = now_s - self.seen_s, self.covariance
        covariance = (
            place + 2 * dt * both + dt**2 * velocity + WANDER_M2_S3 * dt**3 / 3,
            both + dt * velocity + WANDER_M2_S3 * dt**2 / 2,
            velocity + WANDER_M2_S3 * dt,
        )
        return self.place_m + dt * self.velocity_m_s, covariance

    def measure(self, look: _Look) -> None:
        """Take note of the bones' lengths."""
        known = np.isfinite(look.lengths_m)
        self.lengths_m[known] += look.lengths_m[known]
        self.looks += known


@dataclass(frozen=True, slots=True, eq=False)
class _Pairing:
    """A pose taken for somebody's."""

    person: _Person
    look: _Look
    joints_m: np.ndarray  #: float64 (J, 3), as `align_pose` has it, like the next two
    middle_m: np.ndarray  #: float64 (3,)
    misfit_m: float
    place_m: np.ndarray  #: float64 (3,), where the middle was predicted
    covariance: tuple[float, float, float]  #: of that prediction
    noise_m2: float  #: variance, along an axis, of the middle

    @classmethod
    def of(cls, person: _Person, look: _Look, now_s: float) -> _Pairing:
        joints_m, middle_m, misfit_m = align_pose(look.joints_m, look.confidence, person.offsets_m)
        noise_m2 = _place_variance(look, joints_m)
        return cls(person, look, joints_m, middle_m, misfit_m, *person.predict(now_s), noise_m2)

    def surprise(self, max_step_m: float) -> float:
        """-2 log likelihood of the pose, 0 for what was expected to the point; infinity out of reach."""
        step_m = math.dist(self.middle_m, self.place_m)
        if not (self.misfit_m < math.inf and step_m <= max_step_m):
            return math.inf
        variance = self.covariance[0] + self.noise_m2
        # without the logarithm those who were long unseen, and may be anywhere, would take everybody's place
        surprise = step_m**2 / variance + 3 * math.log(variance / self.noise_m2)
        surprise += min((self.misfit_m / POSTURE_SIGMA_M) ** 2, MAX_MISMATCH)
        grown = growth(self.look.lengths_m, self.person.lengths_m, self.person.looks)
        return surprise + min((grown / BUILD_SIGMA) ** 2, MAX_MISMATCH)

    def accept(self, now_s: float) -> None:
        """Move the person to where the pose is: one step of the Kalman filter."""
        person, (place, both, velocity) = self.person, self.covariance
        gains = place / (place + self.noise_m2), both / (place + self.noise_m2)
        step_m = self.middle_m - self.place_m
        person.place_m = self.place_m + gains[0] * step_m
        person.velocity_m_s = person.velocity_m_s + gains[1] * step_m
        person.covariance = (place - gains[0] * place, both - gains[0] * both, velocity - gains[1] * both)
        person.offsets_m = self.joints_m - self.middle_m
        person.seen_s = now_s
        person.measure(self.look)


def _place_variance(look: _Look, joints_m: np.ndarray) -> float:
    """Variance, along an axis, of the middle of joints (J, 3), NaN = not known: the less certain, the larger."""
    known = int(np.count_nonzero(np.isfinite(joints_m[:, 0])))
    share = look.certainty / max(known, 1)
    return float(PLACE_SIGMA_M / max(share, MIN_SHARE)) ** 2
