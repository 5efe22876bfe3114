"""A body of capsules in a random posture, and what a depth camera sees of it."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from posepipe.body_model.body_arrays import body_arrays
from posepipe.body_model.body_fitter import FACING_CAMERA, PersonPixels
from posepipe.body_model.body_model import BodyModel, read_body_model
from posepipe.body_model.kernels.fit_arrays import Assignment, Equations, Observation, Targets, Weights
from posepipe.body_model.kernels.placement import BodyArrays, Placement, Posture
from posepipe.body_model.kernels.placement import place as fast_place
from posepipe.body_model.kernels.residuals import assign, linearize
from posepipe.body_model.observation import observe_person
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.results import Pose
from tests.reference.body_model.placement import place, take_step

INTRINSICS = Intrinsics(140.0, 140.0, 79.5, 59.5)
HEIGHT, WIDTH = 120, 160


@cache
def human() -> tuple[BodyModel, BodyArrays]:
    model = read_body_model()
    return model, body_arrays(model)


def random_posture(body: BodyArrays, rng: np.random.Generator, spread: float = 0.5) -> Posture:
    """A posture near the mean, facing the camera at 2.5 m."""
    along = spread * rng.normal(0, body.turn_sigma_rad)
    along = np.clip(along, body.turn_low_rad, body.turn_high_rad)
    vectors = body.turn_mean_rad + np.einsum("sia,si->sa", body.turn_axes, along)
    turns = Rotation.from_rotvec(vectors).as_matrix()
    turns[0] = FACING_CAMERA @ Rotation.from_rotvec([0, rng.normal(0, 0.5), 0]).as_matrix()
    return Posture(np.array([0.0, 0.0, 2.5]), turns, rng.normal(0, 0.5, len(body.origins_m) - 1))


def seen_by_camera(model: BodyModel, body: BodyArrays, posture: Posture) -> tuple[DepthFrame, PersonPixels]:
    """Depth of many points on the capsules, the nearest of each pixel, with its part."""
    _, _, _, ends, radii = place(body, posture)
    rng = np.random.default_rng(0)
    depth_m, capsules = np.zeros((HEIGHT, WIDTH), np.float32), np.zeros((HEIGHT, WIDTH), int)
    outwards = rng.normal(size=(6000, 3))
    outwards /= np.linalg.norm(outwards, axis=1, keepdims=True)
    for c, (own, girth) in enumerate(zip(ends, radii, strict=True)):
        share = rng.random((len(outwards), 1))
        x, y, z = (own[0] + share * (own[1] - own[0]) + (girth[0] + share * (girth[1] - girth[0])) * outwards).T
        cols = np.round(INTRINSICS.fx * x / z + INTRINSICS.cx).astype(int)
        rows = np.round(INTRINSICS.fy * y / z + INTRINSICS.cy).astype(int)
        for row, col, near in zip(rows, cols, z, strict=True):
            if 0 <= row < HEIGHT and 0 <= col < WIDTH and not 0 < depth_m[row, col] <= near:
                depth_m[row, col], capsules[row, col] = near, c
    frame, mask = DepthFrame(depth_m, INTRINSICS), depth_m > 0
    rows, cols = np.nonzero(mask)
    probabilities = np.zeros((len(rows), len(HUMAN.parts) + 1), np.float32)
    probabilities[np.arange(len(rows)), model.part_capsules.argmax(axis=0)[capsules[mask]]] = 1
    points_m = INTRINSICS.deproject_pixels(rows, cols, depth_m[rows, cols])
    return frame, PersonPixels(points_m, probabilities, mask)


def noisy_pose(body: BodyArrays, posture: Posture, rng: np.random.Generator, sigma_m: float) -> Pose:
    """The true joints with noise, at a middling confidence."""
    joints_m = place(body, posture)[2]
    joints_m = joints_m + rng.normal(0, sigma_m, joints_m.shape)
    return Pose(HUMAN.joints, joints_m, np.full(len(joints_m), 0.6))


def misfit(
    rng: np.random.Generator, with_contacts: bool = True, off: float = 0.08
) -> tuple[BodyArrays, Posture, Observation, Targets]:
    """A body some way off what is seen, in metres, radians and coefficients: every term counts."""
    model, body = human()
    body = body if with_contacts else body._replace(pairs=body.pairs[:0])
    truth = random_posture(body, rng)
    frame, pixels = seen_by_camera(model, body, truth)
    image = frame.depth_m, pixels.mask, frame.intrinsics
    seen = observe_person(pixels.points_m, pixels.probabilities, image, model.part_capsules)
    pose = noisy_pose(body, truth, rng, 0.05)
    weights = np.where(rng.random(len(pose.names)) < 0.8, pose.confidences, 0.0)
    last_m, moved_m = (noisy_pose(body, truth, rng, 0.02).joints_m for _ in range(2))
    targets = Targets(pose.joints_m, weights, last_m, moved_m, np.linspace(0, 1, len(weights)), elapsed_s=0.05)
    size = model.n_coefficients + 3 + 3 * len(model.parents)
    return body, take_step(body, truth, rng.normal(0, off, size)), seen, targets


def linearized(
    body: BodyArrays, posture: Posture, seen: Observation, targets: Targets
) -> tuple[Placement, Assignment, Equations]:
    """Where a posture is, the capsules of the points, and the equations of a step from there."""
    placement, assigned = Placement.empty(body), Assignment.empty(len(seen.points_m))
    equations = Equations.empty(len(body.parents), len(posture.shape))
    fast_place(body, posture, placement)
    assign(placement, seen, Weights(), assigned)
    linearize(body, placement, posture, seen, targets, Weights(), assigned, equations)
    return placement, assigned, equations
