"""Levenberg and Marquardt's descent, with dense matrices."""

from __future__ import annotations

import numpy as np

from tests.reference.body_model.placement import take_step


def descend(body, posture, equations_at, steps, constants):
    """The posture found, and its cost.

    ``equations_at`` gives cost, normal matrix and half gradient of a posture; ``constants`` is the module under test,
    of which only the constants are read.
    """
    damping, shapes = constants.FIRST_DAMPING, len(posture.shape)
    cost, normal, gradient = equations_at(posture)
    limits = np.full(len(gradient), constants.MAX_STEP_RAD)
    limits[:shapes], limits[shapes : shapes + 3] = constants.MAX_STEP_SHAPE, constants.MAX_STEP_M
    for _ in range(steps):
        step = np.linalg.solve(normal + np.diag(damping * np.diag(normal) + 1e-6), -gradient)
        tried = take_step(body, posture, step / max(1, (np.abs(step) / limits).max()))
        there = equations_at(tried)
        if there[0] > cost:
            damping *= 10
            continue
        gain = cost - there[0]
        posture, damping, (cost, normal, gradient) = tried, max(0.3 * damping, 1e-5), there
        if gain < constants.CONVERGED * cost:
            break
    return posture, cost
