"""Kernels from classified pixels to modes: weights, mean shift, votes, push-back."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.joints.calibration import (
    confidence_of_mass,
)
from posepipe.joints.modes.mean_shift import MAX_MODES, find_modes
from posepipe.joints.modes.offset_votes import find_vote_modes
from posepipe.joints.modes.push_back import push_back
from posepipe.joints.part_moments import MIN_SURFACE_M2, part_moments
from posepipe.joints.weighted_points import weigh_points
from posepipe.parts import JointVotes, PartProbabilities
from tests.kernels.kernel import Kernel
from tests.reference.joints import calibration as naive_calibration
from tests.reference.joints import mean_shift as naive_mean_shift
from tests.reference.joints import offset_votes as naive_offset_votes
from tests.reference.joints import part_moments as naive_part_moments
from tests.reference.joints import push_back as naive_push_back
from tests.reference.joints import weighted_points as naive_weighted_points
from tests.support import random_inputs


def _weigh_points(rng, size):
    depth_m, mask = random_inputs.depth_image(rng, 120, 160)
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, size)
    values = rng.dirichlet(np.ones(6), size).astype(np.float32)
    return SimpleNamespace(
        depth_m=depth_m,
        intrinsics=Intrinsics(140.0, 150.0, 79.5, 59.5),
        parts=PartProbabilities(pixels, values, stride=(2, 3)),
        landmark_classes=np.array([[0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]], bool),
    )


def _points_and_weights(inputs):
    points = weigh_points(inputs.depth_m, inputs.intrinsics, inputs.parts, inputs.landmark_classes)
    return points.points_m, points.weights


def _part_moments(rng, size):
    """A thousand pixels of so many parts; of the first there are nearly none."""
    values = rng.dirichlet(np.ones(size + 1), 1000).astype(np.float32)
    values[:, 1] *= 1e-5
    return SimpleNamespace(
        points_m=random_inputs.blobs(rng, np.array([[0.2, -0.1, 2.5], [0.4, 0.3, 2.2]]), 500, 0.1),
        area_m2=rng.uniform(2e-5, 4e-5, 1000).astype(np.float32),
        values=values,
    )


def _find_modes(rng, size):
    """Three blobs a landmark, far apart and narrower than the kernel, of clearly different mass."""
    points, owner, mass = [], [], []
    for landmark in range(3):
        centres = np.array([[0, 0, 2], [0.9, 0, 2.2], [0, -0.9, 2.4]]) + rng.uniform(-0.1, 0.1, (3, 3))
        for centre, heavy in zip(centres, (1.0, 0.7, 0.4), strict=True):
            points.append(random_inputs.blobs(rng, centre[None], size // 9, 0.02))
            owner += [landmark] * (size // 9)
            mass += [heavy] * (size // 9)
    order = rng.permutation(len(owner))
    points, owner, mass = np.concatenate(points)[order], np.array(owner)[order], np.array(mass)[order]
    probabilities = np.full((len(points), 3), 0.05, np.float32)
    probabilities[np.arange(len(points)), owner] = mass
    return SimpleNamespace(
        points_m=points,
        probabilities=probabilities,
        area_m2=rng.uniform(2e-5, 4e-5, len(points)).astype(np.float32),
        bandwidth_m=np.array([0.05, 0.065, 0.09], np.float32),
        min_probability=np.full(3, 0.1, np.float32),
    )


def _votes(rng, size):
    """Votes for three joints that err by a centimetre, some of each joint's rows unused."""
    joints = np.array([[0, 0, 2], [0.8, 0.1, 2.3], [-0.7, 0.6, 2.1]])
    counts = rng.integers(size // 6, size // 3, 3)
    used = np.arange(size // 3) < counts[:, None]
    places = joints[:, None] + rng.uniform(-0.01, 0.01, (3, size // 3, 3))
    weights = rng.uniform(2e-5, 15e-5, used.shape)
    return SimpleNamespace(
        votes=JointVotes(
            np.where(used[..., None], places, 0).astype(np.float32),
            np.where(used, weights, 0).astype(np.float32),
            counts,
        ),
        bandwidth_m=np.array([0.05, 0.06, 0.07], np.float32),
    )


def _find_vote_modes_naively(inputs):
    votes = inputs.votes
    cast = [
        list(zip(places[:count], weights[:count], strict=True))
        for places, weights, count in zip(votes.places_m, votes.weights_m2, votes.counts, strict=True)
    ]
    return naive_offset_votes.find_vote_modes(cast, inputs.bandwidth_m, 1)


def _heaviest(found):
    return found[0][:, :1], found[1][:, :1]


def _surface_points(rng, size):
    return SimpleNamespace(
        modes=rng.uniform([-1, -1, 1], [1, 1, 4], (size, 4, 3)).astype(np.float32),
        push=rng.uniform(0, 0.1, (size, 4)).astype(np.float32),
        masses=np.exp(rng.uniform(-10, 0, (size, 4))).astype(np.float32),
        confidence=rng.uniform([0, 0], [8, 2], (size, 2)).astype(np.float32),
    )


KERNELS = (
    Kernel(
        "weigh_points",
        _points_and_weights,
        lambda i: naive_weighted_points.weigh_points(
            i.depth_m,
            i.intrinsics.fx,
            i.intrinsics.fy,
            i.intrinsics.cx,
            i.intrinsics.cy,
            i.parts.pixels,
            i.parts.probabilities,
            i.parts.stands_for,
            i.landmark_classes,
        ),
        _weigh_points,
        size=1000,
        tolerance=(1e-6, 1e-9),
        reason="float32 metres up to 4, and weights up to 1e-3 square metres",
    ),
    Kernel(
        "part_moments",
        lambda i: part_moments(i.points_m, i.area_m2, i.values),
        lambda i: naive_part_moments.part_moments(i.points_m, i.area_m2, i.values, MIN_SURFACE_M2),
        _part_moments,
        size=12,
        tolerance=1e-8,
        reason="float32 squares of probabilities",
    ),
    Kernel(
        "find_modes",
        lambda i: find_modes(i.points_m, i.probabilities, i.area_m2, i.bandwidth_m, i.min_probability),
        lambda i: naive_mean_shift.find_modes(
            i.points_m, i.probabilities, i.area_m2, i.bandwidth_m, i.min_probability, MAX_MODES
        ),
        _find_modes,
        size=900,
        tolerance=(5e-4, 2e-6),
        reason="mean shift ends at a step of half a millimetre, and blobs narrower than the kernel shorten every step;"
        " masses are of some thousandths of a square metre, at the place where it ended",
    ),
    Kernel(
        "find_vote_modes",
        lambda i: _heaviest(find_vote_modes(i.votes, i.bandwidth_m)),
        _find_vote_modes_naively,
        _votes,
        size=300,
        tolerance=(1e-3, 2e-6),
        reason="as for find_modes",
    ),
    Kernel(
        "push_back",
        lambda i: push_back(i.modes, i.push),
        lambda i: naive_push_back.push_back(i.modes, i.push),
        _surface_points,
        size=200,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
    Kernel(
        "confidence_of_mass",
        lambda i: confidence_of_mass(i.masses, i.confidence),
        lambda i: naive_calibration.confidence_of_mass(i.masses, i.confidence),
        _surface_points,
        size=200,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
)
