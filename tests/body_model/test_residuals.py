"""Gradients are finite differences of the naive cost, and what a fit does with them."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body_model.kernels.curvature import Curvature
from posepipe.body_model.kernels.explanation import explained
from posepipe.body_model.kernels.fit_arrays import CONTACT, FitScratch, Weights
from posepipe.body_model.kernels.fitting import curve_at_posture, improve_posture
from posepipe.body_model.kernels.placement import Posture
from posepipe.body_model.kernels.residuals import linearize
from tests.body_model.fitted_bodies import linearized, misfit
from tests.reference.body_model import placement as naive_placement
from tests.reference.body_model import residuals as naive

STEP = 1e-6


def _linearized(seed, with_contacts):
    known = misfit(np.random.default_rng(seed), with_contacts)
    return *known, *linearized(*known)


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_the_finite_difference_of_the_naive_cost(seed):
    body, posture, seen, targets, _, assigned, equations = _linearized(seed, with_contacts=False)
    for unknown in range(len(equations.gradient)):
        step = np.zeros(len(equations.gradient))
        step[unknown] = STEP
        moved = [naive_placement.take_step(body, posture, sign * step) for sign in (1, -1)]
        ahead, back = (naive.costs(body, each, seen, targets, Weights(), assigned).sum() for each in moved)
        slope = (ahead - back) / (2 * STEP)
        assert 2 * equations.gradient[unknown] == pytest.approx(slope, rel=2e-3, abs=0.05), unknown


@pytest.mark.parametrize("points", [9, 25, 160])
def test_no_more_than_the_whole_surface_is_explained(points):
    _, _, seen, _, placement, assigned, _ = _linearized(0, with_contacts=True)
    on_body = np.tile(placement.ends_m[0, 0] + [0, 0, placement.radii_m[0, 0]], (points, 1))
    weights = np.full(points, 1 / points)  # in floating point, nine ninths are more than 1
    assigned.capsules[:points] = 0
    share, _ = explained(placement, seen._replace(points_m=on_body, point_weights=weights), assigned)
    assert share <= 1
    assert share == pytest.approx(1)


def test_a_fit_places_the_posture_that_it_finds():
    body, posture, seen, targets, *_ = _linearized(1, with_contacts=True)
    scratch = FitScratch.empty(body, len(seen.points_m))
    start = Posture(posture.root_m, posture.turns, np.zeros(0))
    curvature = Curvature.empty(len(body.joint_segments), len(posture.shape))
    shaped = start._replace(shape=posture.shape)
    given = seen, targets, Weights()
    before, after = (improve_posture(body, start, shaped, *given, steps, scratch) for steps in (0, 4))
    curve_at_posture(body, shaped, *given, scratch, curvature)
    assert after < 0.8 * before
    found = naive_placement.place(body, Posture(start.root_m, start.turns, posture.shape))
    np.testing.assert_allclose(scratch.placement.joints_m, found[2], atol=1e-12)
    built = naive.costs(body, Posture(*start[:2], posture.shape), seen, targets, Weights(), scratch.assigned)
    assert built.sum() == pytest.approx(after, rel=1e-6)
    assert (curvature.sigmas_m > 0).all()


def test_capsules_that_enter_each_other_are_pushed_apart():
    body, posture, seen, targets, placement, assigned, equations = _linearized(0, with_contacts=True)
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
