"""Kernels: damped Gauss-Newton steps, from several postures to the one that explains most."""

from __future__ import annotations

import math

import numpy as np

from posepipe.body_model.kernels.normal_equations import factor, solve, solve_half
from posepipe.body_model.kernels.placement import place, take_step
from posepipe.body_model.kernels.residuals import assign, linearize
from posepipe.compilation import njit

FIRST_DAMPING = 1e-2
MAX_STEP_RAD = 0.6
"""Longest turn of a segment in one step; longer steps are shortened as a whole."""
MAX_STEP_M = 0.3
MAX_STEP_SHAPE = 2.0


@njit(cache=True)
def descend(body, posture, placement, seen, targets, weights, iterations, assigned, equations, trial):
    """Improve a posture, in place, by damped Gauss-Newton steps; return the sum of its costs.

    Parameters
    ----------
    body : BodyArrays
    posture : Posture, changed in place
    placement : Placement, filled with that of the last posture
    seen : Observation
    targets : Targets
    weights : Weights
    iterations : int, number of steps that are tried
    assigned : Assignment, scratch
    equations : Equations, filled with those of the last posture
    trial : Equations, scratch

    References
    ----------
    Levenberg 1944, Marquardt 1963. A step that costs more is tried again with ten times the damping.
    """
    coefficients, size = len(posture.shape), len(equations.gradient)
    step, right, damped = np.zeros(size), np.zeros(size), np.zeros((size, size))
    root_m, turns, shape = posture.root_m.copy(), posture.turns.copy(), posture.shape.copy()
    damping = FIRST_DAMPING
    place(body, posture, placement)
    assign(placement, seen, weights, assigned)
    cost = linearize(body, placement, posture, seen, targets, weights, assigned, equations)
    for _ in range(iterations):
        for i in range(size):
            for j in range(i + 1):
                damped[i, j] = equations.normal[i, j]
            damped[i, i] += damping * damped[i, i] + 1e-6
            right[i] = -equations.gradient[i]
        if not factor(damped):
            damping *= 10
            continue
        solve(damped, right, step)
        longest = 1.0
        for i in range(size):
            limit = MAX_STEP_M if i < 3 else (MAX_STEP_SHAPE if i < 3 + coefficients else MAX_STEP_RAD)
            longest = max(longest, abs(step[i]) / limit)
        for i in range(size):
            step[i] /= longest
        _copy_posture(posture.root_m, posture.turns, posture.shape, root_m, turns, shape)
        take_step(body, root_m, turns, shape, placement, step, posture)
        place(body, posture, placement)
        assign(placement, seen, weights, assigned)
        tried = linearize(body, placement, posture, seen, targets, weights, assigned, trial)
        if tried <= cost:
            cost, damping = tried, max(damping * 0.3, 1e-5)
            for i in range(size):
                equations.gradient[i] = trial.gradient[i]
                for j in range(i + 1):
                    equations.normal[i, j] = trial.normal[i, j]
            for term in range(len(trial.costs)):
                equations.costs[term] = trial.costs[term]
        else:
            _copy_posture(root_m, turns, shape, posture.root_m, posture.turns, posture.shape)
            place(body, posture, placement)
            damping *= 10
    return cost


@njit(cache=True)
def _copy_posture(root_m, turns, shape, to_root_m, to_turns, to_shape):
    for a in range(3):
        to_root_m[a] = root_m[a]
        for s in range(len(turns)):
            for b in range(3):
                to_turns[s, a, b] = turns[s, a, b]
    for k in range(len(shape)):
        to_shape[k] = shape[k]


@njit(cache=True)
def joint_sigmas(body, placement, equations, out):
    """Fill ``out``, float64 (J,), metres, with the standard deviation of each joint along an axis, by the curvature.

    The inverse of the normal equations is the covariance of a step where all residuals are independent and Gaussian.
    Returns False, and fills nothing, where they determine no covariance.
    """
    size, coefficients = len(equations.gradient), len(equations.gradient) - 3 - 3 * len(body.parents)
    factored, right, half = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for i in range(size):
        for j in range(i + 1):
            factored[i, j] = equations.normal[i, j]
        factored[i, i] += 1e-6
    if not factor(factored):
        return False
    for j in range(len(out)):
        variance = 0.0
        for a in range(3):
            for i in range(size):
                right[i] = 0.0
            right[a] = 1.0
            s = body.joint_segments[j]
            for k in range(coefficients):
                value = placement.starts_by_shape[s, k, a]
                for b in range(3):
                    value += placement.rotations[s, a, b] * body.joints_m[1 + k, j, b]
                right[3 + k] = value
            while s >= 0:
                first = 3 + coefficients + 3 * s
                b, c = (a + 1) % 3, (a + 2) % 3  # the motion along a by a turn w: w_b x_c - w_c x_b
                right[first + b] = placement.joints_m[j, c] - placement.starts_m[s, c]
                right[first + c] = -(placement.joints_m[j, b] - placement.starts_m[s, b])
                s = body.parents[s]
            solve_half(factored, right, half)
            for i in range(size):
                variance += half[i] * half[i] / 3
        out[j] = math.sqrt(variance)
    return True
