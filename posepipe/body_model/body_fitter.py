"""Fitting: from a person's pixels and pose to a body with constant bones, orientations and uncertainty.

The fit of a new person starts from several hypotheses: the pose as found, and the pose with its legs swapped. Later it
starts from the last posture of the track, and from the pose where the last posture explains the person badly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.body_model.body_arrays import body_arrays, built_arrays
from posepipe.body_model.body_model import BodyModel
from posepipe.body_model.kernels.aiming import aim
from posepipe.body_model.kernels.descent import descend, joint_sigmas
from posepipe.body_model.kernels.explanation import explained
from posepipe.body_model.kernels.fit_arrays import Assignment, Equations, Observation, Targets, Weights
from posepipe.body_model.kernels.placement import BodyArrays, Placement, Posture, place
from posepipe.body_model.kernels.residuals import linearize
from posepipe.body_model.kernels.rotations import quaternion_of
from posepipe.body_model.observation import observe_person
from posepipe.body_model.shape_memory import ShapeMemory, frame_information
from posepipe.frames import DepthFrame
from posepipe.results import BodyFit, Pose, Track

SWAPPED = ("knee", "ankle", "foot")
"""Joints of the legs: a pose from behind often has the legs swapped, while the trunk is right."""
FACING_CAMERA = np.diag([1.0, -1.0, -1.0])
"""Rotation of an upright body that faces a level camera."""
FORGET_AFTER_S = 2.0
REST_S = 0.1
"""Time after which the last place of a joint says nothing about its next one."""
WORSE = 1.1
"""Cost of the last posture in a new frame, over its cost before, beyond which the pose is tried as well."""
BUILD_ROUNDS = 3
"""Times that the posture and the build of a new person are improved in turn."""
CONFIDENCES = (
    (0.0, 0.14, 0.29, 0.50, 0.71, 0.85, 0.93, 0.97, 1.0),
    (0.27, 0.30, 0.51, 0.65, 0.80, 0.90, 0.95, 0.99, 1.0),
)
"""Confidences before the fit, and the share of such joints that lie within 10 cm of the truth after it."""
CURVATURE_SCALE = 1.8
"""Standard deviation of joints that are surely found, over that by the curvature of the fit."""
MISTAKES_M = (0.3, 0.5, 0.7, 0.85, 0.95, 1.0), (0.085, 0.08, 0.065, 0.04, 0.014, 0.008)
"""Confidences after the fit, and what mistaken limbs add to the standard deviation, metres."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonPixels:
    """Classified pixels of one person, in space, and the person in the image."""

    points_m: np.ndarray  #: float (N, 3), camera axes, metres
    probabilities: np.ndarray  #: float32 (N, 1 + P), of the parts
    mask: np.ndarray  #: bool (H, W)


@dataclass(slots=True, eq=False)
class _Known:
    """What is remembered of one track."""

    seen_s: float
    posture: Posture
    joints_m: np.ndarray  #: float64 (J, 3)
    cost: float
    memory: ShapeMemory


@dataclass(slots=True, eq=False)
class BodyFitter:
    """The stage that fits a body to every track; of each track it remembers shape and last posture.

    Raises
    ------
    ValueError
        When the body model has other joints or parts than the body definition.
    """

    body: BodyDefinition
    model: BodyModel
    tracking: bool = True  #: False = every frame alone
    first_steps: int = 3  #: of each hypothesis
    last_steps: int = 3  #: of the best one, for every estimate of a new person's build
    tracked_steps: int = 1  #: of the best one, of a person who was fitted before
    weights: Weights = field(default_factory=Weights)
    _arrays: BodyArrays = field(init=False, repr=False)
    _frames: np.ndarray = field(init=False, repr=False)  #: int (J,), segment whose orientation a joint has
    _known: dict[int, _Known] = field(default_factory=dict, init=False, repr=False)
    _equations: tuple[Equations, Equations] = field(init=False, repr=False)  #: of the posture alone
    _with_shape: Equations = field(init=False, repr=False)
    _now_s: float = field(default=-np.inf, init=False)

    def __post_init__(self) -> None:
        if (self.model.joint_names, self.model.part_names) != (self.body.joints, self.body.parts):
            raise ValueError(
                f"the body model has {len(self.model.joint_names)} joints and {len(self.model.part_names)} parts, and"
                f" body {self.body.name!r} has {len(self.body.joints)} and {len(self.body.parts)}, or other names;"
                " build a body model of this body with `python -m synth.tools.build_body_model`"
            )
        self._arrays = body_arrays(self.model)
        self._frames = _frames_of(self.model)
        segments = len(self.model.parents)
        self._equations = Equations.empty(segments, 0), Equations.empty(segments, 0)
        self._with_shape = Equations.empty(segments, self.model.n_coefficients)

    def update(self, tracks: Sequence[Track], pixels: Sequence[PersonPixels], frame: DepthFrame) -> tuple[Track, ...]:
        """Fit a body to every track of a frame, and replace its pose by the joints of the body."""
        now_s = frame.timestamp_s
        if not self.tracking or now_s < self._now_s:
            self.reset()
        self._now_s = now_s
        self._known = {i: each for i, each in self._known.items() if now_s - each.seen_s <= FORGET_AFTER_S}
        return tuple(self._fit_track(track, own, frame) for track, own in zip(tracks, pixels, strict=True))

    def reset(self) -> None:
        """Forget all tracks."""
        self._known, self._now_s = {}, -np.inf

    def _fit_track(self, track: Track, pixels: PersonPixels, frame: DepthFrame) -> Track:
        if len(pixels.points_m) == 0 or not pixels.mask.any():
            return track
        known = self._known.get(track.id)
        image = frame.depth_m, pixels.mask, frame.intrinsics
        seen = observe_person(pixels.points_m, pixels.probabilities, image, self.model.part_capsules)
        targets = self._targets(track.pose, known)
        new, fit = self._fit(targets, seen, known, frame.timestamp_s)
        if self.tracking:
            self._known[track.id] = new
        pose = _fitted_pose(track.pose, fit, self.body)
        return Track(track.id, pose, replace(fit, sigma_m=calibrated_sigmas(fit.sigma_m, pose.confidences)))

    def _fit(self, targets: Targets, seen: Observation, known: _Known | None, now_s: float) -> tuple[_Known, BodyFit]:
        """Fit the posture at the build as it is known, and learn the build from the frame."""
        before = ShapeMemory.unknown(self.model.n_coefficients) if known is None else known.memory
        body, memory = built_arrays(self._arrays, before.shape), before
        found, assigned = (Placement.empty(self._arrays), seen, targets), Assignment.empty(len(seen.points_m))
        posture = self._best_start(body, found, assigned, known)
        rounds, steps = (BUILD_ROUNDS, self.last_steps) if known is None else (1, self.tracked_steps)
        for _ in range(rounds):
            body = built_arrays(self._arrays, memory.shape)
            cost = self._descend(body, posture, found, steps, assigned)
            fit = self._described(body, found[0], seen, assigned, memory.shape)
            memory = before.updated(*self._information(posture, found, assigned, memory.shape))
        return _Known(now_s, posture, fit.joints_m, cost, memory), fit

    def _descend(
        self,
        body: BodyArrays,
        posture: Posture,
        found: tuple[Placement, Observation, Targets],
        steps: int,
        assigned: Assignment,
    ) -> float:
        return float(descend(body, posture, *found, self.weights, steps, assigned, *self._equations))

    def _best_start(
        self,
        body: BodyArrays,
        found: tuple[Placement, Observation, Targets],
        assigned: Assignment,
        known: _Known | None,
    ) -> Posture:
        """The posture of lowest cost after a few steps from each hypothesis."""
        _, seen, targets = found
        starts, costs = [], []
        if known is not None:
            starts.append(known.posture.copy())
            costs.append(self._descend(body, starts[0], found, self.first_steps, assigned))
            if costs[0] <= WORSE * known.cost:
                return starts[0]
        swapped = self._swapped(targets) if known is None else None
        for wanted in (targets,) if swapped is None else (targets, swapped):
            starts.append(self._aimed(body, wanted, seen))
            costs.append(self._descend(body, starts[-1], found, self.first_steps, assigned))
        return starts[int(np.argmin(costs))]

    def _information(
        self,
        posture: Posture,
        found: tuple[Placement, Observation, Targets],
        assigned: Assignment,
        shape: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the frame says about the build; see `frame_information`."""
        placement, seen, targets = found
        k = len(shape)
        free = seen._replace(shape_mean=shape, shape_precision=np.zeros((k, k)))
        targets = targets._replace(last_weights=np.zeros(len(targets.weights)))
        own = Posture(posture.root_m, posture.turns, shape)
        place(self._arrays, own, placement)
        given = placement, own, free, targets, self.weights, assigned, self._with_shape
        linearize(self._arrays, *given)
        return frame_information(self._with_shape, shape)

    def _targets(self, pose: Pose, known: _Known | None) -> Targets:
        """Joints of a pose, weighted by confidence, and those of the last frame."""
        targets = Targets.empty(len(self.body.joints))
        for name, xyz_m, confidence in zip(pose.names, pose.joints_m, pose.confidences, strict=True):
            row = self.body.joint_index(name)
            targets.joints_m[row], targets.weights[row] = xyz_m, confidence
        if known is not None and self._now_s - known.seen_s <= REST_S:
            targets.last_m[:], targets.last_weights[:] = known.joints_m, 1.0
        return targets

    def _swapped(self, targets: Targets) -> Targets | None:
        """Targets with left and right legs swapped; None where the body has none."""
        rows = [r for r, name in enumerate(self.body.joints) if name != mirror_name(name) and _stem(name) in SWAPPED]
        if not rows:
            return None
        order = np.arange(len(self.body.joints))
        order[rows] = self.body.mirrored_joints()[rows]
        return targets._replace(joints_m=targets.joints_m[order], weights=targets.weights[order])

    def _aimed(self, body: BodyArrays, targets: Targets, seen: Observation) -> Posture:
        """The posture of a build that is turned towards its targets."""
        posture = Posture.empty(len(self.model.parents), 0)
        posture.turns[0] = FACING_CAMERA
        found = targets.weights > 0
        own = found & (self.model.joint_segments == 0)
        at_root = own & (np.abs(self.model.joints_m[0]).sum(axis=1) < 1e-6)
        rows = next((rows for rows in (at_root, own, found) if rows.any()), None)
        posture.root_m[:] = seen.points_m.mean(axis=0) if rows is None else targets.joints_m[rows].mean(axis=0)
        aim(body, targets, posture, Placement.empty(body))
        return posture

    def _described(
        self,
        body: BodyArrays,
        placement: Placement,
        seen: Observation,
        assigned: Assignment,
        shape: np.ndarray,
    ) -> BodyFit:
        sigmas_m, turns = np.full(len(self._frames), np.nan), np.empty((len(self._frames), 4))
        joint_sigmas(body, placement, self._equations[0], sigmas_m)
        for row, segment in enumerate(self._frames.tolist()):
            quaternion_of(placement.rotations[segment], turns[row])
        points, outline = explained(placement, seen, assigned)
        return BodyFit(self.body.joints, placement.joints_m.copy(), turns, sigmas_m, shape, points, outline)


def _stem(name: str) -> str:
    return name.removeprefix("left_").removeprefix("right_")


def _frames_of(model: BodyModel) -> np.ndarray:
    """Segment whose orientation each joint has: the one that starts there, else the one that it lies on."""
    frames = model.joint_segments.copy()
    for segment, parent in enumerate(model.parents):
        same = np.abs(model.joints_m[0] - model.origins_m[0, segment]).sum(axis=1) < 1e-4
        frames[same & (model.joint_segments == parent)] = segment
    return frames


def _fitted_pose(pose: Pose, fit: BodyFit, body: BodyDefinition) -> Pose:
    """The pose with all joints of the body, those that were not found included."""
    confidences = np.zeros(len(body.joints))
    confidences[[body.joint_index(name) for name in pose.names]] = pose.confidences
    return Pose(body.joints, fit.joints_m, fitted_confidences(confidences), pose.source_proposals)


def fitted_confidences(confidences: np.ndarray) -> np.ndarray:
    """Calibrated confidences of joints of a fitted body, by those before the fit; 0 = not found."""
    return np.interp(confidences, *CONFIDENCES)


def calibrated_sigmas(sigmas_m: np.ndarray, confidences: np.ndarray) -> np.ndarray:
    """Standard deviation of fitted joints along an axis, by the curvature of the fit and what was found.

    Parameters
    ----------
    sigmas_m : float (J,), by the curvature, metres; NaN = unknown
    confidences : float (J,), after the fit

    Returns
    -------
    float64 (J,), metres: about 68 % of joints lie within 1.88 of it, as in a Gaussian of three dimensions
    """
    return np.hypot(CURVATURE_SCALE * sigmas_m, np.interp(confidences, *MISTAKES_M))
