"""One fit, kernel after kernel: a posture improved, and what the frame then says of joints and build.

In Python: a kernel that calls all of these would compile all of them once more.
"""

from __future__ import annotations

from posepipe.body_model.kernels.curvature import Curvature, curve
from posepipe.body_model.kernels.descent import descend
from posepipe.body_model.kernels.fit_arrays import FitScratch, Observation, Targets, Weights
from posepipe.body_model.kernels.placement import BodyArrays, Posture, build, place
from posepipe.body_model.kernels.residuals import assign, linearize


def improve_posture(
    body: BodyArrays,
    posture: Posture,
    shaped: Posture,
    seen: Observation,
    targets: Targets,
    weights: Weights,
    steps: int,
    scratch: FitScratch,
) -> float:
    """Improve a posture of one build, in place; return the sum of its costs.

    Parameters
    ----------
    body : BodyArrays, of K coefficients
    posture : Posture without coefficients, changed in place
    shaped : Posture, the same arrays and the coefficients of the build
    seen : Observation
    targets : Targets
    weights : Weights
    steps : int, maximum number of steps that are tried
    scratch : FitScratch

    References
    ----------
    Naive twins: tests/reference/body_model/
    """
    built, equations, trial = scratch.built, scratch.equations, scratch.trial
    build(body, shaped.shape, built)
    given = built, posture, scratch.placement, seen, targets, weights, steps, scratch.assigned, equations, trial
    return float(descend(*given))


def curve_at_posture(
    body: BodyArrays,
    shaped: Posture,
    seen: Observation,
    targets: Targets,
    weights: Weights,
    scratch: FitScratch,
    curvature: Curvature,
) -> None:
    """Fill in the curvature of the cost at a posture.

    Parameters
    ----------
    body : BodyArrays, of K coefficients
    shaped : Posture, with the coefficients of the build
    seen : Observation
    targets : Targets without the last places of the joints: the curvature is that of the frame alone
    weights : Weights
    scratch : FitScratch; placement and assignment are those of the posture afterwards
    curvature : Curvature, written in place
    """
    placement, assigned = scratch.placement, scratch.assigned
    place(body, shaped, placement)
    assign(placement, seen, weights, assigned)
    linearize(body, placement, shaped, seen, targets, weights, assigned, scratch.with_shape)
    curve(body, placement, shaped.shape, scratch.with_shape, curvature)
