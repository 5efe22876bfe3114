"""Tracking: assigns persistent ids to poses, through crossings and short losses.

The tracker predicts one place for a person, the centre of all joints, and not each joint. Crossing people are
distinguished by their direction, and the motion of a body is smoother than that of its hands. The centre also stays in
place when a pose swaps left and right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from posepipe.body import BodyDefinition
from posepipe.results import BACKWARDS_S, Pose, Track
from posepipe.stage import Stateless
from posepipe.tracking.association import align_pose, log_size_ratio, measure_bones

PLACE_SIGMA_M = 0.08
"""Standard deviation, along an axis, of the centre of a complete pose of full confidence."""
START_SPEED_M_S = 0.7
"""Standard deviation, along an axis, of the velocity of a person after one detection."""
ACCELERATION_M2_S3 = 0.5
"""Spectral density of the acceleration noise, along an axis."""
POSTURE_SIGMA_M = 0.2
"""Root mean square motion of joints relative to the centre from one detection to the next."""
BUILD_SIGMA = 0.07
"""Standard deviation of the logarithm of a person's size from pose to pose; from person to person it is 0.1."""
COMPLETE = 0.6
"""Mean confidence over all joints, 0 for missing ones, below which a pose is a fragment and its bones are not used."""
MAX_MISMATCH = 6.0
"""Upper bound of the cost of posture and of build: left and right may be swapped, or half of a body missing."""
NEW_PERSON_COST = 20.0
"""Cost of a new person. A place alone reaches it at 4.5 sigma from the predicted one."""
MAX_PREDICTION_S = 2.0
"""Time after which a lost person is expected to have stopped: later, the place alone would cost more than a new one."""
MIN_SHARE = 0.1
"""Lower bound of the mean confidence that scales the noise of a person's place."""


@dataclass(slots=True, eq=False)
class Tracker:
    """Assigns each pose the id of the most likely person, and forgets people who are lost for too long.

    The cost of assigning a pose to a person is -2 log of a likelihood of three Gaussian factors: the centre of the
    joints, given its predicted place; the joints relative to their centre, given the last detection; and the size of
    the bones, given the mean of all detections. The assignment minimises the sum of costs. A pose that would cost more
    than a new person gets a new id. Ids are not reused. Joints are not moved: smoothing is another stage.

    References
    ----------
    Prediction: Bar-Shalom, Li, Kirubarajan, Estimation with Applications to Tracking and Navigation,
    2001, section 6.2. Likelihoods as costs of an optimal assignment: Blackman and Popoli, Design and
    Analysis of Modern Tracking Systems, 1999, chapter 6.
    """

    body: BodyDefinition | None = None  #: its bones distinguish builds; None = only places and postures are used
    max_step_m: float = 1.0  #: maximum distance of a pose from the predicted place
    forget_after_s: float = 2.0  #: whoever is lost for longer is new
    _people: list[_Person] = field(default_factory=list, init=False)
    _next_id: int = field(default=1, init=False)
    _now_s: float = field(default=-math.inf, init=False)
    _rows: dict[str, int] = field(default_factory=dict, init=False)  #: joint -> row; a new joint gets the next row
    _bones: np.ndarray = field(init=False, repr=False)  #: int (B, 2), rows of the ends of each bone

    def __post_init__(self) -> None:
        self._bones = np.array(self.body.bones() if self.body else [], int).reshape(-1, 2)
        self.reset()

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        """Assign ids to the poses of a frame, in their order; frames may come at any rate."""
        if timestamp_s < self._now_s - BACKWARDS_S:
            self._people, self._now_s = [], timestamp_s
        self._now_s = max(self._now_s, timestamp_s)
        self._people = [p for p in self._people if self._now_s - p.seen_s <= self.forget_after_s]
        detections = self._detections(poses)
        owners = self._assign(detections)
        for row, detection in enumerate(detections):
            if row not in owners:
                owners[row] = _Person.first_seen(self._next_id, detection, self._now_s)
                self._next_id += 1
                self._people.append(owners[row])
        return tuple(Track(owners[row].id, pose) for row, pose in enumerate(poses))

    def reset(self) -> None:
        """Forget all people; ids start from 1 again."""
        self._people, self._next_id, self._now_s = [], 1, -math.inf
        self._rows = {joint: row for row, joint in enumerate(self.body.joints if self.body else ())}

    def _detections(self, poses: Sequence[Pose]) -> list[_Detection]:
        """Convert poses to arrays of one width; known people are padded to it."""
        for pose in poses:
            for joint in pose.names:
                self._rows.setdefault(joint, len(self._rows))
        for person in self._people:
            new_rows = len(self._rows) - len(person.offsets_m)
            if new_rows:
                person.offsets_m = np.pad(person.offsets_m, ((0, new_rows), (0, 0)), constant_values=np.nan)
        return [_Detection.at(pose, tuple(self._rows), self._bones) for pose in poses]

    def _assign(self, detections: Sequence[_Detection]) -> dict[int, _Person]:
        """Assign poses to known people and update these; row of each assigned pose -> person."""
        if not detections or not self._people:
            return {}
        pairs = [[_Pairing.of(person, found, self._now_s) for person in self._people] for found in detections]
        cost = np.array([[pair.cost(self.max_step_m) for pair in row] for row in pairs])
        # capped, so that a distant new person does not change other assignments
        best = zip(*linear_sum_assignment(np.minimum(cost, NEW_PERSON_COST)), strict=True)
        owners = {}
        for row, col in best:
            if cost[row, col] < NEW_PERSON_COST:
                owners[int(row)] = self._people[col]
                pairs[row][col].accept(self._now_s)
        return owners


class NoTracker(Stateless):
    """No tracking: people are numbered from 1 in every frame."""

    def update(self, poses: Sequence[Pose], timestamp_s: float) -> tuple[Track, ...]:
        """Number the poses of a frame."""
        return tuple(Track(i, pose) for i, pose in enumerate(poses, start=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Detection:
    """A pose as arrays."""

    joints_m: np.ndarray  #: float64 (J, 3); NaN = not found
    confidence: np.ndarray  #: float64 (J,); 0 = not found
    total: float  #: sum of the confidences
    lengths_m: np.ndarray  #: float64 (B,), of the bones; NaN = an end was not found, or the pose is a fragment

    @classmethod
    def at(cls, pose: Pose, joints: Sequence[str], bones: np.ndarray) -> _Detection:
        joints_m, confidence = pose.in_rows_of(joints)
        lengths_m, total = measure_bones(joints_m, bones), float(confidence.sum())
        if total < COMPLETE * len(joints):
            lengths_m[:] = np.nan
        return cls(joints_m, confidence, total, lengths_m)


@dataclass(slots=True, eq=False)
class _Person:
    """State of one person."""

    id: int
    seen_s: float
    place_m: np.ndarray  #: float64 (3,), estimated centre of all joints at the last detection
    velocity_m_s: np.ndarray  #: float64 (3,)
    covariance: tuple[float, float, float]  #: of place, of place and velocity, of velocity; equal along all axes
    offsets_m: np.ndarray  #: float64 (J, 3), joints relative to their centre at the last detection; NaN = never found
    lengths_m: np.ndarray  #: float64 (B,), sums over detections
    counts: np.ndarray  #: int (B,), number of detections

    @classmethod
    def first_seen(cls, id: int, found: _Detection, now_s: float) -> _Person:
        covariance = (_place_variance(found, found.joints_m), 0.0, START_SPEED_M_S**2)
        bones = len(found.lengths_m)
        known = np.isfinite(found.joints_m[:, 0])
        centre_m = found.joints_m[known].mean(axis=0) if known.any() else np.full(3, np.nan)
        person = cls(
            id,
            now_s,
            centre_m,
            np.zeros(3),
            covariance,
            found.joints_m - centre_m,
            np.zeros(bones),
            np.zeros(bones, int),
        )
        person.measure(found)
        return person

    def predict(self, now_s: float) -> tuple[np.ndarray, tuple[float, float, float]]:
        """Predicted place (3,) and covariance, with nearly constant velocity until MAX_PREDICTION_S."""
        dt, (place, both, velocity) = min(now_s - self.seen_s, MAX_PREDICTION_S), self.covariance
        covariance = (
            place + 2 * dt * both + dt**2 * velocity + ACCELERATION_M2_S3 * dt**3 / 3,
            both + dt * velocity + ACCELERATION_M2_S3 * dt**2 / 2,
            velocity + ACCELERATION_M2_S3 * dt,
        )
        return self.place_m + dt * self.velocity_m_s, covariance

    def measure(self, found: _Detection) -> None:
        """Add the lengths of the bones."""
        known = np.isfinite(found.lengths_m)
        self.lengths_m[known] += found.lengths_m[known]
        self.counts += known


@dataclass(frozen=True, slots=True, eq=False)
class _Pairing:
    """A pose and a person that it may belong to."""

    person: _Person
    found: _Detection
    joints_m: np.ndarray  #: float64 (J, 3), from `align_pose`, like the next two
    centre_m: np.ndarray  #: float64 (3,)
    misfit_m: float
    place_m: np.ndarray  #: float64 (3,), predicted centre
    covariance: tuple[float, float, float]  #: of that prediction
    noise_m2: float  #: variance, along an axis, of the centre

    @classmethod
    def of(cls, person: _Person, found: _Detection, now_s: float) -> _Pairing:
        joints_m, centre_m, misfit_m = align_pose(found.joints_m, found.confidence, person.offsets_m)
        noise_m2 = _place_variance(found, joints_m)
        return cls(person, found, joints_m, centre_m, misfit_m, *person.predict(now_s), noise_m2)

    def cost(self, max_step_m: float) -> float:
        """-2 log likelihood of the pose, 0 for an exact prediction; infinity out of range."""
        step_m = math.dist(self.centre_m, self.place_m)
        if not (self.misfit_m < math.inf and step_m <= max_step_m):
            return math.inf
        variance = self.covariance[0] + self.noise_m2
        # without the logarithm, people lost for long, who may be anywhere, would attract every pose
        cost = step_m**2 / variance + 3 * math.log(variance / self.noise_m2)
        cost += min((self.misfit_m / POSTURE_SIGMA_M) ** 2, MAX_MISMATCH)
        grown = log_size_ratio(self.found.lengths_m, self.person.lengths_m, self.person.counts)
        return cost + min((grown / BUILD_SIGMA) ** 2, MAX_MISMATCH)

    def accept(self, now_s: float) -> None:
        """Update the person with the pose: one step of the Kalman filter."""
        person, (place, both, velocity) = self.person, self.covariance
        gains = place / (place + self.noise_m2), both / (place + self.noise_m2)
        step_m = self.centre_m - self.place_m
        person.place_m = self.place_m + gains[0] * step_m
        person.velocity_m_s = person.velocity_m_s + gains[1] * step_m
        person.covariance = (place - gains[0] * place, both - gains[0] * both, velocity - gains[1] * both)
        person.offsets_m = self.joints_m - self.centre_m
        person.seen_s = now_s
        person.measure(self.found)


def _place_variance(found: _Detection, joints_m: np.ndarray) -> float:
    """Variance, along an axis, of the centre of joints (J, 3), NaN = unknown; it falls with their confidence."""
    known = int(np.count_nonzero(np.isfinite(joints_m[:, 0])))
    share = found.total / max(known, 1)
    return float(PLACE_SIGMA_M / max(share, MIN_SHARE)) ** 2
