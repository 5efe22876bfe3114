"""Kernels: damped Gauss-Newton steps, from several postures to the one that explains most."""

from __future__ import annotations

import numpy as np

from posepipe.body_model.kernels.fit_arrays import (
    ASSIGNMENT_TYPE,
    EQUATIONS_TYPE,
    OBSERVATION_TYPE,
    TARGETS_TYPE,
    WEIGHTS_TYPE,
)
from posepipe.body_model.kernels.normal_equations import factor, solve
from posepipe.body_model.kernels.placement import (
    BODY_ARRAYS_TYPE,
    PLACEMENT_TYPE,
    POSTURE_TYPE,
    place,
    take_step,
)
from posepipe.body_model.kernels.residuals import assign, linearize
from posepipe.compilation import compiled_for, helper, njit

FIRST_DAMPING = 1e-2
CONVERGED = 0.003
"""Share of the cost below which the gain of a step ends the descent."""
MAX_STEP_RAD = 0.6
"""Longest turn of a segment in one step; longer steps are shortened as a whole."""
MAX_STEP_M = 0.3
MAX_STEP_SHAPE = 2.0


@compiled_for(
    BODY_ARRAYS_TYPE,
    POSTURE_TYPE,
    PLACEMENT_TYPE,
    OBSERVATION_TYPE,
    TARGETS_TYPE,
    WEIGHTS_TYPE,
    "i8",
    ASSIGNMENT_TYPE,
    EQUATIONS_TYPE,
    EQUATIONS_TYPE,
)
@njit(cache=True, error_model="numpy")
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
    iterations : int, maximum number of steps that are tried
    assigned : Assignment, scratch
    equations : Equations, filled with those of the last posture
    trial : Equations, scratch

    References
    ----------
    Levenberg 1944, Marquardt 1963. A step that costs more is tried again with ten times the damping.
    """
    coefficients, size = len(posture.shape), len(equations.gradient)
    step, right, damped = np.empty(size), np.empty(size), np.empty((size, size))
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
            limit = MAX_STEP_SHAPE if i < coefficients else (MAX_STEP_M if i < coefficients + 3 else MAX_STEP_RAD)
            longest = max(longest, abs(step[i]) / limit)
        for i in range(size):
            step[i] /= longest
        _copy_posture(posture.root_m, posture.turns, posture.shape, root_m, turns, shape)
        take_step(body, root_m, turns, shape, placement, step, posture)
        place(body, posture, placement)
        assign(placement, seen, weights, assigned)
        tried = linearize(body, placement, posture, seen, targets, weights, assigned, trial)
        if tried <= cost:
            gained, cost, damping = cost - tried, tried, max(damping * 0.3, 1e-5)
            for i in range(size):
                equations.gradient[i] = trial.gradient[i]
                for j in range(i + 1):
                    equations.normal[i, j] = trial.normal[i, j]
            for term in range(len(trial.costs)):
                equations.costs[term] = trial.costs[term]
            if gained < CONVERGED * cost:
                break
        else:
            _copy_posture(root_m, turns, shape, posture.root_m, posture.turns, posture.shape)
            place(body, posture, placement)
            damping *= 10
    return cost


@helper(cache=True, error_model="numpy")
def _copy_posture(root_m, turns, shape, to_root_m, to_turns, to_shape):
    for a in range(3):
        to_root_m[a] = root_m[a]
        for s in range(len(turns)):
            for b in range(3):
                to_turns[s, a, b] = turns[s, a, b]
    for k in range(len(shape)):
        to_shape[k] = shape[k]
