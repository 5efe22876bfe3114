"""Kernels that turn and place a body of capsules."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.body_model.body_fitter import FACING_CAMERA
from posepipe.body_model.kernels.aiming import MEAN_WEIGHT, NEXT_WEIGHT, aim, nearest_rotation
from posepipe.body_model.kernels.capsules import nearest_on_capsule, nearest_shares, set_axis
from posepipe.body_model.kernels.fit_arrays import FitScratch, Targets
from posepipe.body_model.kernels.placement import Placement, Posture, build, place, take_step
from posepipe.body_model.kernels.rotations import inverse_jacobian, quaternions_of, rotation_of, vector_of
from tests.body_model.fitted_bodies import human, noisy_pose, random_posture
from tests.kernels.kernel import Kernel
from tests.reference.body_model import aiming as naive_aiming
from tests.reference.body_model import capsules as naive_capsules
from tests.reference.body_model import placement as naive_placement
from tests.reference.body_model import rotations as naive_rotations

SPECIAL_RAD = np.array([[0, 0, 0], [1e-7, -2e-7, 0], [-2.2, 0.3, 2.1], [0, 3.1415, 0]])
"""No turn, a tiny one, and two of nearly half a turn, one about an axis."""


def _turns(rng, size):
    """Rotation vectors up to 3 rad, the special ones first."""
    along = rng.normal(size=(size, 3))
    along *= rng.uniform(0, 3, (size, 1)) / np.linalg.norm(along, axis=1, keepdims=True)
    vectors = np.concatenate([SPECIAL_RAD, along])
    return SimpleNamespace(vectors=vectors, rotations=naive_rotations.rotation_of(vectors))


def _turns_of_one_vector(rng, size):
    """The same without half turns, at which the vector jumps."""
    return SimpleNamespace(vectors=np.delete(_turns(rng, size).vectors, -1, axis=0))


def _filled(fill, rows, shape):
    """What a kernel writes in place for each of some rows: float64 (N, ...)."""
    out = np.empty((len(rows), *shape))
    for row, each in zip(rows, out, strict=True):
        fill(row, each)
    return out


def _quaternions(rotations):
    out = np.empty((len(rotations), 4))
    quaternions_of(rotations, np.arange(len(rotations)), out)
    return out


def _matrices(rng, size):
    """Random matrices; half of them are what one joint says, with a little of the mean turn."""
    matrices = rng.normal(size=(size, 3, 3))
    matrices[::2] = matrices[::2, :, :1] @ matrices[::2, :1] + 0.02 * np.eye(3)
    return SimpleNamespace(matrices=matrices)


def _capsules(rng, size):
    """A point beside each of some capsules."""
    return SimpleNamespace(
        ends_m=rng.normal(0, 0.3, (size, 2, 3)),
        radii_m=rng.uniform(0.03, 0.15, (size, 2)),
        points_m=rng.normal(0, 0.5, (size, 3)),
    )


def _distances(inputs):
    """Distance of each point from its capsule; and how much further the sphere is that is said to be the nearest."""
    ends_m, radii_m, axes = inputs.ends_m, inputs.radii_m, np.empty((len(inputs.ends_m), 5))
    for c in range(len(ends_m)):
        set_axis(ends_m, radii_m, c, axes)
    nearest = [nearest_on_capsule(inputs.points_m, c, ends_m, radii_m, axes, c) for c in range(len(ends_m))]
    shares, distances_m = np.transpose(nearest)
    to_centres = inputs.points_m - _along(ends_m, shares)
    return distances_m, np.linalg.norm(to_centres, axis=1) - _along(radii_m, shares) - distances_m


def _along(ends, shares):
    """Between the ends, (N, 2, ...), by a share of each."""
    shares = shares.reshape(-1, *[1] * (ends.ndim - 2))
    return ends[:, 0] + shares * (ends[:, 1] - ends[:, 0])


def _distances_naively(inputs):
    arrays = inputs.points_m, inputs.ends_m, inputs.radii_m
    distances_m = [naive_capsules.distance(*each) for each in zip(*arrays, strict=True)]
    return distances_m, np.zeros(len(distances_m))


def _gaps(inputs):
    """Distance of the nearest points of each segment and the next."""
    ends_m = inputs.ends_m
    shares = np.array([nearest_shares(ends_m, k, k + 1) for k in range(len(ends_m) - 1)])
    return np.linalg.norm(_along(ends_m[:-1], shares[:, 0]) - _along(ends_m[1:], shares[:, 1]), axis=1)


def _gaps_naively(inputs):
    pairs = zip(inputs.ends_m[:-1], inputs.ends_m[1:], strict=True)
    return [naive_capsules.segment_distance(one_m, other_m) for one_m, other_m in pairs]


def _posture(rng, size):
    """A posture and a step from it; the size is that of the body."""
    model, body = human()
    step = rng.normal(0, 0.2, model.n_coefficients + 3 + 3 * size)
    return SimpleNamespace(body=body, posture=random_posture(body, rng), step=step)


def _built(inputs):
    built = FitScratch.empty(inputs.body, 0).built
    build(inputs.body, inputs.posture.shape, built)
    return built.origins_m[0], built.joints_m[0], built.capsule_ends_m[0], built.radii_m[0]


def _placed(inputs):
    placement = Placement.empty(inputs.body)
    place(inputs.body, inputs.posture, placement)
    return placement


def _placement(inputs):
    placed = _placed(inputs)
    return placed.rotations, placed.starts_m, placed.joints_m, placed.ends_m, placed.radii_m


def _stepped(inputs):
    out = inputs.posture.copy()
    take_step(inputs.body, *inputs.posture, _placed(inputs), inputs.step, out)
    return tuple(out)


def _aimed_at(rng, size):
    """Joints of a posture with noise, a fifth of them not found, and the posture that a fit starts from."""
    _, body = human()
    truth = random_posture(body, rng)
    targets, start = Targets.empty(len(body.joint_segments)), Posture.empty(size, 0)
    targets.joints_m[:] = noisy_pose(body, truth, rng, 0.03).joints_m
    targets.weights[:] = rng.uniform(0.2, 1, len(targets.weights)) * (rng.random(len(targets.weights)) < 0.8)
    start.root_m[:], start.turns[0] = truth.root_m, FACING_CAMERA
    return SimpleNamespace(body=body, targets=targets, start=start, root_weight=0.3)


def _aimed(inputs):
    posture = inputs.start.copy()
    aim(inputs.body, inputs.targets, posture, Placement.empty(inputs.body), inputs.root_weight)
    return posture.turns


KERNELS = (
    Kernel(
        "rotation_of",
        lambda i: _filled(rotation_of, i.vectors, (3, 3)),
        lambda i: naive_rotations.rotation_of(i.vectors),
        _turns,
        size=50,
        tolerance=1e-12,
        reason="float64: a series for small angles",
    ),
    Kernel(
        "vector_of",
        lambda i: _filled(lambda n, out: vector_of(i.rotations, n, out), range(len(i.rotations)), (3,)),
        lambda i: naive_rotations.vector_of(i.rotations),
        _turns,
        size=50,
        tolerance=1e-12,
        reason="float64: a series for small angles",
    ),
    Kernel(
        "quaternions_of",
        lambda i: _quaternions(i.rotations),
        lambda i: naive_rotations.quaternion_of(i.rotations),
        _turns,
        size=50,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
    Kernel(
        "inverse_jacobian",
        lambda i: _filled(inverse_jacobian, i.vectors, (3, 3)),
        lambda i: np.array([naive_rotations.inverse_jacobian(vector) for vector in i.vectors]),
        _turns_of_one_vector,
        size=50,
        tolerance=1e-6,
        reason="the twin is a finite difference",
    ),
    Kernel(
        "nearest_rotation",
        lambda i: _filled(nearest_rotation, i.matrices, (3, 3)),
        lambda i: np.array([naive_aiming.nearest_rotation(matrix) for matrix in i.matrices]),
        _matrices,
        size=40,
        tolerance=1e-8,
        reason="eigenvectors by sweeps, of matrices of nearly one rank",
    ),
    Kernel(
        "nearest_on_capsule",
        _distances,
        _distances_naively,
        _capsules,
        size=40,
        tolerance=(1e-6, 1e-9),
        reason="the twin tries 20,001 spheres",
    ),
    Kernel(
        "nearest_shares",
        _gaps,
        _gaps_naively,
        _capsules,
        size=40,
        tolerance=2e-3,
        reason="the twin tries 401 points of each segment",
    ),
    Kernel(
        "build",
        _built,
        lambda i: naive_placement.build(i.body, i.posture.shape),
        _posture,
        size=17,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "place",
        _placement,
        lambda i: naive_placement.place(i.body, i.posture),
        _posture,
        size=17,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
    Kernel(
        "take_step",
        _stepped,
        lambda i: tuple(naive_placement.take_step(i.body, i.posture, i.step)),
        _posture,
        size=17,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
    Kernel(
        "aim",
        _aimed,
        lambda i: naive_aiming.aim(i.body, i.targets, i.start, MEAN_WEIGHT, NEXT_WEIGHT, i.root_weight),
        _aimed_at,
        size=17,
        tolerance=1e-8,
        reason="as for nearest_rotation",
    ),
)
