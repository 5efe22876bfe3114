"""Costs agree with their naive twin, and gradients with finite differences of it."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body_model.kernels.curvature import Curvature, curve
from posepipe.body_model.kernels.explanation import NEAR_M, OUTSIDE_M, explained
from posepipe.body_model.kernels.fit_arrays import (
    CONTACT,
    FREE_SPACE,
    Assignment,
    Equations,
    FitScratch,
    Targets,
    Weights,
)
from posepipe.body_model.kernels.fitting import fit_posture
from posepipe.body_model.kernels.placement import Placement, Posture, place, take_step
from posepipe.body_model.kernels.residuals import assign, linearize
from posepipe.body_model.observation import MIN_PROBABILITY, observe_person, sample_points
from tests.body_model.fitted_bodies import human, noisy_pose, random_posture, seen_by_camera
from tests.reference.body_model import curvature as naive_curvature
from tests.reference.body_model import explanation as naive_explanation
from tests.reference.body_model import observation as naive_observation
from tests.reference.body_model import placement as naive_placement
from tests.reference.body_model import residuals as naive

STEP = 1e-6


def _linearized(seed, with_contacts):
    """A body some way off what is seen: every term counts."""
    model, body = human()
    body = body if with_contacts else body._replace(pairs=body.pairs[:0])
    rng = np.random.default_rng(seed)
    truth = random_posture(body, rng)
    frame, pixels = seen_by_camera(model, body, truth)
    image = frame.depth_m, pixels.mask, frame.intrinsics
    seen = observe_person(pixels.points_m, pixels.probabilities, image, model.part_capsules)
    pose = noisy_pose(body, truth, rng, 0.05)
    weights = np.where(rng.random(len(pose.names)) < 0.8, pose.confidences, 0.0)
    last_m = noisy_pose(body, truth, rng, 0.02).joints_m
    targets = Targets(pose.joints_m, weights, last_m, np.linspace(0, 1, len(weights)))
    size = model.n_coefficients + 3 + 3 * len(model.parents)
    posture = naive_placement.take_step(body, truth, rng.normal(0, 0.08, size))
    placement, assigned = Placement.empty(body), Assignment.empty(len(seen.points_m))
    equations = Equations.empty(len(model.parents), model.n_coefficients)
    place(body, posture, placement)
    assign(placement, seen, Weights(), assigned)
    linearize(body, placement, posture, seen, targets, Weights(), assigned, equations)
    return body, posture, placement, seen, targets, assigned, equations


@pytest.mark.parametrize("seed", range(3))
def test_a_placement_agrees_with_its_naive_twin(seed):
    _, body = human()
    posture, placement = random_posture(body, np.random.default_rng(seed)), Placement.empty(body)
    place(body, posture, placement)
    rotations, starts_m, joints_m, ends_m, radii_m = naive_placement.place(body, posture)
    np.testing.assert_allclose(placement.rotations, rotations, atol=1e-12)
    np.testing.assert_allclose(placement.starts_m, starts_m, atol=1e-12)
    np.testing.assert_allclose(placement.joints_m, joints_m, atol=1e-12)
    np.testing.assert_allclose(placement.ends_m, ends_m, atol=1e-12)
    np.testing.assert_allclose(placement.radii_m, radii_m, atol=1e-12)


def test_a_step_agrees_with_its_naive_twin():
    model, body = human()
    rng = np.random.default_rng(0)
    posture, placement = random_posture(body, rng), Placement.empty(body)
    step = rng.normal(0, 0.2, model.n_coefficients + 3 + 3 * len(model.parents))
    place(body, posture, placement)
    out = Posture.empty(len(model.parents), model.n_coefficients)
    take_step(body, *posture, placement, step, out)
    for fast, slow in zip(out, naive_placement.take_step(body, posture, step), strict=True):
        np.testing.assert_allclose(fast, slow, atol=1e-12)


def test_the_sampled_points_agree_with_their_naive_twin():
    model, _ = human()
    rng = np.random.default_rng(0)
    points_m, probabilities = rng.uniform(1, 3, (2000, 3)), rng.dirichlet(np.full(32, 0.1), 2000).astype(np.float32)
    fast = sample_points(points_m, probabilities, model.part_capsules)
    count, each = fast[2].shape
    slow = naive_observation.sample(points_m, probabilities, model.part_capsules, count, each, MIN_PROBABILITY)
    for own, other in zip((fast[0], fast[1], fast[3]), (slow[0], slow[1], slow[3]), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-6)
    assert (fast[2][:, 0] == slow[2][:, 0]).all()  # later ones may tie


@pytest.mark.parametrize("seed", range(3))
def test_the_costs_agree_with_their_naive_twin(seed):
    body, posture, _, seen, targets, assigned, equations = _linearized(seed, with_contacts=True)
    slow = naive.costs(body, posture, seen, targets, Weights(), assigned)
    np.testing.assert_allclose(equations.costs, slow, rtol=1e-5, atol=1e-6)
    assert (np.delete(slow, (FREE_SPACE, CONTACT)) > 0).all()
    assert seed > 0 or slow[FREE_SPACE] > 0


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_the_finite_difference_of_the_naive_cost(seed):
    body, posture, _, seen, targets, assigned, equations = _linearized(seed, with_contacts=False)
    for unknown in range(len(equations.gradient)):
        step = np.zeros(len(equations.gradient))
        step[unknown] = STEP
        moved = [naive_placement.take_step(body, posture, sign * step) for sign in (1, -1)]
        ahead, back = (naive.costs(body, each, seen, targets, Weights(), assigned).sum() for each in moved)
        slope = (ahead - back) / (2 * STEP)
        assert 2 * equations.gradient[unknown] == pytest.approx(slope, rel=2e-3, abs=0.05), unknown


def test_the_curvature_agrees_with_its_naive_twin():
    body, posture, placement, _, _, _, equations = _linearized(0, with_contacts=False)
    slow = naive_curvature.curvature(body, posture, equations.normal, equations.gradient)
    fast = Curvature.empty(len(body.joint_segments), len(posture.shape))
    curve(body, placement, posture.shape, equations, fast)
    for own, other in zip(fast, slow, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-8)


def test_a_fit_places_the_posture_that_it_finds():
    body, posture, _, seen, targets, _, _ = _linearized(1, with_contacts=True)
    scratch = FitScratch.empty(body, len(seen.points_m))
    start = Posture(posture.root_m, posture.turns, np.zeros(0))
    curvature = Curvature.empty(len(body.joint_segments), len(posture.shape))
    given = body, start, start._replace(shape=posture.shape), seen, targets, targets, Weights()
    before, after = (fit_posture(*given, steps, True, scratch, curvature) for steps in (0, 4))
    assert after < 0.8 * before
    found = naive_placement.place(body, Posture(start.root_m, start.turns, posture.shape))
    np.testing.assert_allclose(scratch.placement.joints_m, found[2], atol=1e-12)
    built = naive.costs(body, Posture(*start[:2], posture.shape), seen, targets, Weights(), scratch.assigned)
    assert built.sum() == pytest.approx(after, rel=1e-6)
    assert (curvature.sigmas_m > 0).all()


def test_capsules_that_enter_each_other_are_pushed_apart():
    body, posture, placement, seen, targets, assigned, equations = _linearized(0, with_contacts=True)
    thick = Weights(contact_share=2.5)  # as if the thighs overlapped
    linearize(body, placement, posture, seen, targets, thick, assigned, equations)
    with_contacts = equations.gradient.copy()
    assert equations.costs[CONTACT] == pytest.approx(
        naive.costs(body, posture, seen, targets, thick, assigned)[CONTACT]
    )
    apart = body._replace(pairs=body.pairs[:0])
    linearize(apart, placement, posture, seen, targets, thick, assigned, equations)
    pushed = with_contacts - equations.gradient
    step = np.zeros(len(pushed))
    step -= 1e-7 * pushed
    step[: len(posture.shape)] = 0.0
    moved = naive_placement.take_step(body, posture, step)
    before, after = (naive.costs(body, each, seen, targets, thick, assigned)[CONTACT] for each in (posture, moved))
    assert after < before


def test_what_is_explained_agrees_with_its_naive_twin():
    _, _, placement, seen, _, assigned, _ = _linearized(0, with_contacts=False)
    slow = naive_explanation.explained(placement.ends_m, placement.radii_m, seen, assigned.capsules, NEAR_M, OUTSIDE_M)
    assert explained(placement, seen, assigned) == pytest.approx(slow, abs=0.006)  # one point at the bound
    assert 0 < slow[0] < 1
