"""Fitting: from a person's pixels and pose to a body with constant bones, orientations and uncertainty.

The fit of a new person starts from the pose as found. Later it starts from the last posture of the track, and from the
pose where the last posture explains the person badly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.body_model.body_arrays import body_arrays
from posepipe.body_model.body_model import BodyModel
from posepipe.body_model.kernels.aiming import aim
from posepipe.body_model.kernels.curvature import Curvature
from posepipe.body_model.kernels.explanation import explained
from posepipe.body_model.kernels.fit_arrays import FitScratch, Observation, Targets, Weights
from posepipe.body_model.kernels.fitting import curve_at_posture, improve_posture
from posepipe.body_model.kernels.placement import BodyArrays, Posture
from posepipe.body_model.kernels.rotations import quaternions_of
from posepipe.body_model.observation import N_POINTS, UNSEEN, observe_person
from posepipe.body_model.shape_memory import ShapeMemory
from posepipe.frames import DepthFrame
from posepipe.results import BACKWARDS_S, BodyFit, Pose, Track

FACING_CAMERA = np.diag([1.0, -1.0, -1.0])
"""Rotation of an upright body that faces a level camera."""
REST_S = 0.1
"""Time after which the last place of a joint says nothing about its next one: an interval of 10 frames a second, which
rounding makes a little longer in half of the frames."""
MIN_ELAPSED_S = 0.005
"""Lower bound of the time in which joints move: drivers double frames, with their times."""
_ROUNDING_S = 1e-6
FACING_WEIGHT = 0.01
"""Weight of the direction that a facing network sees with full confidence, against joints: confidence x m^2."""
WORSE = 1.1
"""Cost from the last posture, over what the track costs at best, beyond which the pose is tried as well."""
FORGIVEN = 1.03
"""Growth of what a track costs at best, a frame: somebody may stay hidden in part."""
BUILD_ROUNDS = 2
"""Times that the build of a new person, and then their posture, are improved again."""
CONFIDENCES = (
    (0.0, 0.14, 0.29, 0.50, 0.71, 0.85, 0.93, 0.97, 1.0),
    (0.27, 0.30, 0.51, 0.65, 0.80, 0.90, 0.95, 0.99, 1.0),
)
"""Confidences before the fit, and the share of such joints that lie within 10 cm of the truth after it."""
GUESSED = CONFIDENCES[1][1]
"""Confidence of a fitted joint up to which it may be a guess: hardly anything was seen of it."""
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
    across: np.ndarray | None = None  #: float (2,), x and z, from their right to their left; None = as joints have it


class _Given(NamedTuple):
    """What one frame gives to the fit of one person."""

    seen: Observation
    targets: Targets
    curvature: Curvature  #: written in place
    upright: np.ndarray  #: float64 (3, 3), rotation of an upright body that faces as the person does
    root_weight: float  #: of that rotation, against the joints


@dataclass(slots=True, eq=False)
class _Known:
    """What is remembered of one track."""

    seen_s: float
    posture: Posture
    joints_m: np.ndarray  #: float64 (J, 3)
    cost: float  #: of the best frames
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
    forget_after_s: float = 2.0  #: as of the tracker
    first_steps: int = 6  #: from the pose, at most; it begins far away
    last_steps: int = 3  #: for later estimates of the build
    tracked_steps: int = 5  #: from the last posture, of a person who was fitted before, at most
    weights: Weights = field(default_factory=Weights)
    _arrays: BodyArrays = field(init=False, repr=False)  #: of any build
    _scratch: FitScratch = field(init=False, repr=False)
    _frames: np.ndarray = field(init=False, repr=False)  #: int (J,), segment whose orientation a joint has
    _known: dict[int, _Known] = field(default_factory=dict, init=False, repr=False)
    _now_s: float = field(default=-np.inf, init=False)

    def __post_init__(self) -> None:
        if (self.model.joint_names, self.model.part_names) != (self.body.joints, self.body.parts):
            raise ValueError(
                f"the body model has {len(self.model.joint_names)} joints and {len(self.model.part_names)} parts, and"
                f" body {self.body.name!r} has {len(self.body.joints)} and {len(self.body.parts)}, or other names;"
                " build a body model of this body with `python -m synth.tools.build_body_model`"
            )
        self._arrays = body_arrays(self.model)
        self._scratch = FitScratch.empty(self._arrays, N_POINTS)
        self._frames = _frames_of(self.model)

    def update(self, tracks: Sequence[Track], pixels: Sequence[PersonPixels], frame: DepthFrame) -> tuple[Track, ...]:
        """Fit a body to every track of a frame, and replace its pose by the joints of the body."""
        self._begin_frame(frame.timestamp_s)
        return tuple(self._fit_track(track, own, frame) for track, own in zip(tracks, pixels, strict=True))

    def update_joints(self, tracks: Sequence[Track], now_s: float) -> tuple[Track, ...]:
        """Fit a body to the joints of every track alone; confidences stay, and joints that were not found have none.

        For joints of several cameras, whose pixels are not of one image. Limbs turn about their own axes as the build
        of people has it, and as the joints beyond them show.
        """
        self._begin_frame(now_s)
        return tuple(self._fit_joints(track) for track in tracks)

    def reset(self) -> None:
        """Forget all tracks."""
        self._known, self._now_s = {}, -np.inf

    def _begin_frame(self, now_s: float) -> None:
        if not self.tracking or now_s < self._now_s - BACKWARDS_S:
            self.reset()
        self._now_s = max(self._now_s, now_s)
        self._known = {i: each for i, each in self._known.items() if self._now_s - each.seen_s <= self.forget_after_s}

    def _fit_joints(self, track: Track) -> Track:
        if not track.pose.names:
            return track
        fit = self._fit_and_remember(track, UNSEEN, None)
        _, confidences = track.pose.in_rows_of(self.body.joints)
        pose = Pose(self.body.joints, fit.joints_m, confidences, track.pose.source_proposals)
        return Track(track.id, pose, replace(fit, sigma_m=calibrated_sigmas(fit.sigma_m, confidences)))

    def _fit_track(self, track: Track, pixels: PersonPixels, frame: DepthFrame) -> Track:
        if len(pixels.points_m) == 0 or not pixels.mask.any():
            return track
        image = frame.depth_m, pixels.mask, frame.intrinsics
        seen = observe_person(pixels.points_m, pixels.probabilities, image, self.model.part_capsules)
        fit = self._fit_and_remember(track, seen, pixels.across)
        pose = self._fitted_pose(track.pose, fit)
        return Track(track.id, pose, replace(fit, sigma_m=calibrated_sigmas(fit.sigma_m, pose.confidences)))

    def _fit_and_remember(self, track: Track, seen: Observation, across: np.ndarray | None) -> BodyFit:
        known = self._known.get(track.id)
        curvature = Curvature.empty(len(self.body.joints), self.model.n_coefficients)
        given = _Given(
            seen,
            self._targets(track.pose, known),
            curvature,
            upright_turn(across),
            0.0 if across is None else FACING_WEIGHT * float(across @ across),
        )
        new, fit = self._fit(given, known)
        if self.tracking:
            self._known[track.id] = new
        return fit

    def _fit(self, given: _Given, known: _Known | None) -> tuple[_Known, BodyFit]:
        """Fit the posture at the build as it is known, and learn the build from the frame."""
        if known is None:
            before = ShapeMemory.unknown(self.model.n_coefficients)
            posture, cost, shape = self._begin(given, before)
        else:
            before, shape = known.memory, known.memory.shape
            posture, cost = self._follow(given, known, shape)
        memory = before.updated(given.curvature.precision, given.curvature.information)
        fit = self._described(given.seen, given.curvature, shape)
        return _Known(self._now_s, posture, fit.joints_m.copy(), cost, memory), fit  # the caller holds the fit

    def _begin(self, given: _Given, memory: ShapeMemory) -> tuple[Posture, float, np.ndarray]:
        """Posture, cost and build of a new person."""
        shape, posture, curvature = memory.shape, self._aimed(given), given.curvature
        cost = self._improve(shape, posture, given, self.first_steps)
        self._curve(shape, posture, given)
        for _ in range(BUILD_ROUNDS):
            shape = memory.updated(curvature.precision, curvature.information).shape
            cost = self._improve(shape, posture, given, self.last_steps)
            self._curve(shape, posture, given)
        return posture, cost, shape

    def _follow(self, given: _Given, known: _Known, shape: np.ndarray) -> tuple[Posture, float]:
        """Last posture of a track, improved, and what the track costs at best. The pose helps where it fails."""
        posture = known.posture.copy()
        cost = self._improve(shape, posture, given, self.tracked_steps)
        if cost > WORSE * known.cost:
            found = self._aimed(given)
            if self._improve(shape, found, given, self.first_steps) < cost:
                posture, cost = found, self._improve(shape, found, given, self.last_steps)
        self._curve(shape, posture, given)
        return posture, min(cost, FORGIVEN * known.cost)

    def _improve(self, shape: np.ndarray, posture: Posture, given: _Given, steps: int) -> float:
        """Improve a posture in place; return its cost."""
        shaped = posture._replace(shape=shape)
        return improve_posture(
            self._arrays, posture, shaped, given.seen, given.targets, self.weights, steps, self._scratch
        )

    def _curve(self, shape: np.ndarray, posture: Posture, given: _Given) -> None:
        """Fill in the curvature at a posture, by the frame alone, and leave the body placed."""
        targets = given.targets
        shaped, alone = posture._replace(shape=shape), targets._replace(last_weights=targets.last_weights[:0])
        curve_at_posture(self._arrays, shaped, given.seen, alone, self.weights, self._scratch, given.curvature)

    def _targets(self, pose: Pose, known: _Known | None) -> Targets:
        """Joints of a pose, weighted by confidence, and those of the last frame.

        A person has moved by the median of their joints: when they walk, no joint is expected where it was.
        """
        targets = Targets.empty(len(self.body.joints))
        joints_m, targets.weights[:] = pose.in_rows_of(self.body.joints)
        targets.joints_m[:] = np.where(np.isnan(joints_m), 0.0, joints_m)
        if known is None or self._now_s - known.seen_s > REST_S + _ROUNDING_S:
            return targets
        moved_m = (joints_m - known.joints_m)[targets.weights > 0]
        targets.last_m[:], targets.last_weights[:] = known.joints_m, 1.0
        targets.moved_m[:] = known.joints_m + (np.median(moved_m, axis=0) if len(moved_m) else 0.0)
        return targets._replace(elapsed_s=max(self._now_s - known.seen_s, MIN_ELAPSED_S))

    def _aimed(self, given: _Given) -> Posture:
        """The posture of the mean build that is turned towards its targets."""
        targets, seen = given.targets, given.seen
        posture = Posture.empty(len(self.model.parents), 0)
        posture.turns[0] = given.upright
        found = targets.weights > 0
        own = found & (self.model.joint_segments == 0)
        at_root = own & (np.abs(self.model.joints_m[0]).sum(axis=1) < 1e-6)
        rows = next((rows for rows in (at_root, own, found) if rows.any()), None)
        posture.root_m[:] = seen.points_m.mean(axis=0) if rows is None else targets.joints_m[rows].mean(axis=0)
        aim(self._arrays, targets, posture, self._scratch.placement, given.root_weight)
        return posture

    def _fitted_pose(self, pose: Pose, fit: BodyFit) -> Pose:
        """The pose with all joints of the body, those that were not found included."""
        _, confidences = pose.in_rows_of(self.body.joints)
        return Pose(self.body.joints, fit.joints_m, fitted_confidences(confidences), pose.source_proposals)

    def _described(self, seen: Observation, curvature: Curvature, shape: np.ndarray) -> BodyFit:
        placement, turns = self._scratch.placement, np.empty((len(self._frames), 4))
        quaternions_of(placement.rotations, self._frames, turns)
        points, outline = explained(placement, seen, self._scratch.assigned)
        return BodyFit(self.body.joints, placement.joints_m.copy(), turns, curvature.sigmas_m, shape, points, outline)


def _frames_of(model: BodyModel) -> np.ndarray:
    """Segment whose orientation each joint has: the one that starts there, else the one that it lies on."""
    frames = model.joint_segments.copy()
    for segment, parent in enumerate(model.parents):
        same = np.abs(model.joints_m[0] - model.origins_m[0, segment]).sum(axis=1) < 1e-4
        frames[same & (model.joint_segments == parent)] = segment
    return frames


def upright_turn(across: np.ndarray | None) -> np.ndarray:
    """Rotation of an upright body before a level camera: float64 (3, 3).

    Parameters
    ----------
    across : float (2,), x and z of the camera, from the body's right to its left; None = it faces the camera
    """
    if across is None:
        return FACING_CAMERA
    x, z = across / max(float(np.linalg.norm(across)), 1e-9)
    return np.array([[x, 0.0, z], [0.0, -1.0, 0.0], [z, 0.0, -x]])


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
    float64 (J,), metres; of a Gaussian of three dimensions 68 % lie within 1.88 of it
    """
    return np.hypot(CURVATURE_SCALE * sigmas_m, np.interp(confidences, *MISTAKES_M))
