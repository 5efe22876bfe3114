"""Fitting: from a person's pixels and pose to a body with constant bones, orientations and uncertainty.

The fit starts from several hypotheses: the pose as found, the pose with its legs swapped, and the last posture of the
track. After a few steps each, the one of lowest cost is improved further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.body_model.aiming import aim
from posepipe.body_model.body_model import BodyModel
from posepipe.body_model.contacts import contact_pairs
from posepipe.body_model.descent import descend, joint_sigmas
from posepipe.body_model.explanation import explained
from posepipe.body_model.fit_arrays import Assignment, Equations, Observation, Targets, Weights
from posepipe.body_model.observation import observe_person
from posepipe.body_model.placement import BodyArrays, Placement, Posture
from posepipe.body_model.rotations import quaternion_of
from posepipe.body_model.shape_memory import ShapeMemory
from posepipe.frames import DepthFrame
from posepipe.results import BodyFit, Pose, Track

SWAPPED = ("knee", "ankle", "foot")
"""Joints of the legs: a pose from behind often has the legs swapped, while the trunk is right."""
FACING_CAMERA = np.diag([1.0, -1.0, -1.0])
"""Rotation of an upright body that faces a level camera."""
FORGET_AFTER_S = 2.0
CONFIDENCES = (
    (0.0, 0.14, 0.29, 0.50, 0.71, 0.85, 0.93, 0.97, 1.0),
    (0.27, 0.30, 0.51, 0.65, 0.80, 0.90, 0.95, 0.99, 1.0),
)
"""Confidences before the fit, and the share of such joints that lie within 10 cm of the truth after it."""


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
    shape: ShapeMemory


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
    first_steps: int = 4  #: of each hypothesis
    last_steps: int = 5  #: of the best one
    weights: Weights = field(default_factory=Weights)
    _arrays: BodyArrays = field(init=False, repr=False)
    _frames: np.ndarray = field(init=False, repr=False)  #: int (J,), segment whose orientation a joint has
    _known: dict[int, _Known] = field(default_factory=dict, init=False, repr=False)
    _equations: tuple[Equations, Equations] = field(init=False, repr=False)
    _now_s: float = field(default=-np.inf, init=False)

    def __post_init__(self) -> None:
        if (self.model.joint_names, self.model.part_names) != (self.body.joints, self.body.parts):
            raise ValueError(
                f"the body model has {len(self.model.joint_names)} joints and {len(self.model.part_names)} parts, and"
                f" body {self.body.name!r} has {len(self.body.joints)} and {len(self.body.parts)}, or other names;"
                " build a body model of this body with `python -m synth.tools.build_body_model`"
            )
        self._arrays = BodyArrays.of(self.model, contact_pairs(self.model))
        self._frames = _frames_of(self.model)
        sizes = len(self.model.parents), self.model.n_coefficients
        self._equations = Equations.empty(*sizes), Equations.empty(*sizes)

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
        memory = ShapeMemory.unknown(self.model.n_coefficients) if known is None else known.shape
        seen = observe_person(
            pixels.points_m,
            pixels.probabilities,
            (frame.depth_m, pixels.mask, frame.intrinsics),
            self.model.part_capsules,
            memory,
        )
        posture, fit = self._fit(self._targets(track.pose), seen, None if known is None else known.posture)
        if self.tracking:
            memory = memory.updated(posture.shape, self._equations[0].normal)
            self._known[track.id] = _Known(frame.timestamp_s, posture, memory)
        return Track(track.id, _fitted_pose(track.pose, fit, self.body), fit)

    def _fit(self, targets: Targets, seen: Observation, last: Posture | None) -> tuple[Posture, BodyFit]:
        """Fit from every hypothesis, and improve the one of lowest cost."""
        placement, assigned = Placement.empty(self._arrays), Assignment.empty(len(seen.points_m))
        starts = self._starts(targets, seen, last)
        costs = [self._descend(start, placement, seen, targets, self.first_steps, assigned) for start in starts]
        posture = starts[int(np.argmin(costs))]
        self._descend(posture, placement, seen, targets, self.last_steps, assigned)
        return posture, self._described(posture, placement, seen, assigned)

    def _descend(
        self,
        posture: Posture,
        placement: Placement,
        seen: Observation,
        targets: Targets,
        steps: int,
        assigned: Assignment,
    ) -> float:
        found = posture, placement, seen, targets
        return float(descend(self._arrays, *found, self.weights, steps, assigned, *self._equations))

    def _targets(self, pose: Pose) -> Targets:
        """Joints of a pose, weighted by confidence."""
        targets = Targets(np.zeros((len(self.body.joints), 3)), np.zeros(len(self.body.joints)))
        for name, xyz_m, confidence in zip(pose.names, pose.joints_m, pose.confidences, strict=True):
            row = self.body.joint_index(name)
            targets.joints_m[row], targets.weights[row] = xyz_m, confidence
        return targets

    def _starts(self, targets: Targets, seen: Observation, last: Posture | None) -> list[Posture]:
        """The postures that the fit starts from."""
        starts = [self._aimed(targets, seen)]
        swapped = self._swapped(targets)
        if swapped is not None:
            starts.append(self._aimed(swapped, seen))
        if last is not None:
            starts.append(last.copy())
        return starts

    def _swapped(self, targets: Targets) -> Targets | None:
        """Targets with left and right legs swapped; None where the body has none."""
        rows = [r for r, name in enumerate(self.body.joints) if name != mirror_name(name) and _stem(name) in SWAPPED]
        if not rows:
            return None
        order = np.arange(len(self.body.joints))
        order[rows] = self.body.mirrored_joints()[rows]
        return Targets(targets.joints_m[order], targets.weights[order])

    def _aimed(self, targets: Targets, seen: Observation) -> Posture:
        posture = Posture.empty(len(self.model.parents), self.model.n_coefficients)
        posture.turns[0], posture.shape[:] = FACING_CAMERA, seen.shape_mean
        found = targets.weights > 0
        own = found & (self.model.joint_segments == 0)
        at_root = own & (np.abs(self.model.joints_m[0]).sum(axis=1) < 1e-6)
        rows = next((rows for rows in (at_root, own, found) if rows.any()), None)
        posture.root_m[:] = seen.points_m.mean(axis=0) if rows is None else targets.joints_m[rows].mean(axis=0)
        aim(self._arrays, targets, posture, Placement.empty(self._arrays))
        return posture

    def _described(self, posture: Posture, placement: Placement, seen: Observation, assigned: Assignment) -> BodyFit:
        sigmas_m, turns = np.full(len(self._frames), np.nan), np.empty((len(self._frames), 4))
        joint_sigmas(self._arrays, placement, self._equations[0], sigmas_m)
        for row, segment in enumerate(self._frames.tolist()):
            quaternion_of(placement.rotations[segment], turns[row])
        points, outline = explained(placement, seen, assigned)
        return BodyFit(self.body.joints, placement.joints_m, turns, sigmas_m, posture.shape.copy(), points, outline)


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
