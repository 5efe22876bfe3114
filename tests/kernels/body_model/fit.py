"""Kernels that fit a body of capsules to what is seen."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np

from posepipe.body_model.kernels import descent
from posepipe.body_model.kernels.curvature import Curvature, curve
from posepipe.body_model.kernels.explanation import NEAR_M, OUTSIDE_M, explained
from posepipe.body_model.kernels.fit_arrays import Assignment, Equations, Weights
from posepipe.body_model.kernels.normal_equations import add_residual, factor, solve, spread
from posepipe.body_model.kernels.placement import Placement
from posepipe.body_model.kernels.residuals import assign, linearize
from posepipe.body_model.observation import MIN_PROBABILITY, N_CHOICES, N_POINTS, sample_points
from tests.body_model.fitted_bodies import human, linearized, misfit
from tests.body_model.random_residuals import N_SHAPE, PARENTS, random_residuals, random_starts_m
from tests.kernels.kernel import Kernel
from tests.reference.body_model import curvature as naive_curvature
from tests.reference.body_model import descent as naive_descent
from tests.reference.body_model import explanation as naive_explanation
from tests.reference.body_model import normal_equations as naive_normal_equations
from tests.reference.body_model import observation as naive_observation
from tests.reference.body_model import residuals as naive_residuals

WEIGHTS = Weights()
STEPS = 20
"""Of a descent from far off: steps are shortened and refused, and some end it."""


def _classified_points(rng, size):
    model, _ = human()
    return SimpleNamespace(
        points_m=rng.uniform(1, 3, (size, 3)),
        probabilities=rng.dirichlet(np.full(32, 0.1), size).astype(np.float32),
        part_capsules=model.part_capsules,
    )


def _sample(points_m, weights, choices, costs):
    """The second and later choices may tie."""
    return points_m, weights, choices[:, 0], costs


def _residuals(rng, size):
    return SimpleNamespace(starts_m=random_starts_m(rng), residuals=random_residuals(rng, size))


def _summed(inputs):
    sums, forces = np.zeros((len(PARENTS), 6 + N_SHAPE, 6 + N_SHAPE)), np.zeros((len(PARENTS), 6 + N_SHAPE))
    for segment, point_m, direction, *rest in inputs.residuals:
        add_residual(sums, forces, segment, *point_m, *direction, *rest)
    size = N_SHAPE + 3 + 3 * len(PARENTS)
    normal, gradient = np.zeros((size, size)), np.zeros(size)
    spread(PARENTS, inputs.starts_m, sums, forces, normal, gradient)
    return np.tril(normal), gradient


def _summed_naively(inputs):
    normal, gradient = naive_normal_equations.normal_equations(PARENTS, inputs.starts_m, N_SHAPE, inputs.residuals)
    return np.tril(normal), gradient


def _equations(rng, size):
    """Normal matrix, definite, with zeros where neither of two segments is beyond the other; and gradient."""
    normal, gradient = _summed_naively(_residuals(rng, size))
    return SimpleNamespace(matrix=normal + np.tril(normal, -1).T + 0.1 * np.eye(len(normal)), right=gradient)


def _solved(inputs):
    factored, out = np.tril(inputs.matrix), np.empty(len(inputs.right))
    assert factor(factored)
    solve(factored, inputs.right.copy(), out)
    return out


def _misfit(rng, size, off=0.08):
    """A body some way off the so many points that are seen, and the equations there."""
    body, posture, seen, targets = misfit(rng, off=off)
    seen = seen._replace(
        points_m=seen.points_m[:size],
        point_weights=seen.point_weights[:size],
        choices=seen.choices[:size],
        choice_costs=seen.choice_costs[:size],
    )
    placement, assigned, equations = linearized(body, posture, seen, targets)
    return SimpleNamespace(
        body=body,
        posture=posture,
        seen=seen,
        targets=targets,
        placement=placement,
        assigned=assigned,
        equations=equations,
    )


def _assigned(inputs):
    out = Assignment.empty(len(inputs.seen.points_m))
    assign(inputs.placement, inputs.seen, WEIGHTS, out)
    return tuple(out)


def _costs(inputs):
    equations = Equations.empty(len(inputs.body.parents), len(inputs.posture.shape))
    known = inputs.body, inputs.placement, inputs.posture, inputs.seen, inputs.targets, WEIGHTS, inputs.assigned
    return linearize(*known, equations), equations.costs


def _costs_naively(inputs):
    costs = naive_residuals.costs(inputs.body, inputs.posture, inputs.seen, inputs.targets, WEIGHTS, inputs.assigned)
    return costs.sum(), costs


def _curvature(inputs):
    curvature = Curvature.empty(len(inputs.body.joint_segments), len(inputs.posture.shape))
    equations = Equations(*(array.copy() for array in inputs.equations))
    curve(inputs.body, inputs.placement, inputs.posture.shape, equations, curvature)
    return _of_shape(*curvature)


def _curvature_naively(inputs):
    equations = inputs.equations
    return _of_shape(*naive_curvature.curvature(inputs.body, inputs.posture, equations.normal, equations.gradient))


def _of_shape(sigmas_m, precision, information):
    """Standard deviations of joints, covariance and mean of the shape coefficients."""
    return sigmas_m, np.linalg.inv(precision), np.linalg.solve(precision, information)


def _descended(inputs):
    body, posture = inputs.body, inputs.posture.copy()
    segments, coefficients, points = len(body.parents), len(posture.shape), len(inputs.seen.points_m)
    scratch = Assignment.empty(points), *(Equations.empty(segments, coefficients) for _ in range(2))
    known = Placement.empty(body), inputs.seen, inputs.targets, WEIGHTS
    cost = descent.descend(body, posture, *known, STEPS, *scratch)
    return *posture, cost


def _descended_naively(inputs):
    def equations_at(posture):
        *_, equations = linearized(inputs.body, posture, inputs.seen, inputs.targets)
        normal = equations.normal
        return equations.costs.sum(), np.tril(normal) + np.tril(normal, -1).T, equations.gradient

    posture, cost = naive_descent.descend(inputs.body, inputs.posture, equations_at, STEPS, descent)
    return *posture, cost


KERNELS = (
    Kernel(
        "sample_points",
        lambda i: _sample(*sample_points(i.points_m, i.probabilities, i.part_capsules)),
        lambda i: _sample(
            *naive_observation.sample(
                i.points_m, i.probabilities, i.part_capsules, N_POINTS, N_CHOICES, MIN_PROBABILITY
            )
        ),
        _classified_points,
        size=2000,
        tolerance=1e-6,
        reason="float32 probabilities",
    ),
    Kernel(
        "normal_equations",
        _summed,
        _summed_naively,
        _residuals,
        size=60,
        tolerance=(1e-11, 1e-12),
        reason="order of float64 sums",
    ),
    Kernel(
        "solve",
        _solved,
        lambda i: np.linalg.solve(i.matrix, i.right),
        _equations,
        size=60,
        tolerance=1e-11,
        reason="order of float64 sums",
    ),
    Kernel(
        "assign",
        _assigned,
        lambda i: naive_residuals.assign(i.seen, i.placement.ends_m, i.placement.radii_m, WEIGHTS),
        _misfit,
        size=160,
        tolerance=(0, 5e-5, 0),
        reason="the twin tries 20,001 places of an axis",
    ),
    Kernel(
        "linearize",
        _costs,
        _costs_naively,
        _misfit,
        size=160,
        tolerance=1e-9,
        reason="order of float64 sums",
    ),
    Kernel(
        "curve",
        _curvature,
        _curvature_naively,
        _misfit,
        size=160,
        tolerance=1e-8,
        reason="the twin moves joints by finite differences",
    ),
    Kernel(
        "descend",
        _descended,
        _descended_naively,
        partial(_misfit, off=0.4),
        size=160,
        tolerance=1e-6,
        reason="order of float64 sums, step after step",
    ),
    Kernel(
        "explained",
        lambda i: explained(i.placement, i.seen, i.assigned),
        lambda i: naive_explanation.explained(
            i.placement.ends_m, i.placement.radii_m, i.seen, i.assigned.capsules, NEAR_M, OUTSIDE_M
        ),
        _misfit,
        size=160,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
)
