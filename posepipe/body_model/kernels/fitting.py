"""One fit, kernel after kernel: a posture improved, and what the frame then says of joints and build.

In Python: a kernel that calls all of these would compile all of them once more.
"""

from __future__ import annotations

from posepipe.body_model.kernels.curvature import Curvature, curve
from posepipe.body_model.kernels.descent import descend
from posepipe.body_model.kernels.fit_arrays import FitScratch, Observation, Targets, Weights
from posepipe.body_model.kernels.placement import BodyArrays, Posture, build, place
from posepipe.body_model.kernels.residuals import assign, linearize


def fit_posture(
    body: BodyArrays,
    posture: Posture,
    shaped: Posture,
    seen: Observation,
    targets: Targets,
    alone: Targets,
    weights: Weights,
    steps: int,
    curved: bool,
    scratch: FitScratch,
    curvature: Curvature,
) -> float:
    """Improve a posture of one build, in place; return the sum of its costs.

    Parameters
    ----------
    body : BodyArrays, of K coefficients
    posture : Posture without coefficients, changed in place
    shaped : Posture, the same arrays and the coefficients of the build
    seen : Observation
    targets : Targets
    alone : Targets, the same without the last places of the joints, for the curvature
    weights : Weights
    steps : int, maximum number of steps that are tried
    curved : bool, whether the curvature is wanted
    scratch : FitScratch; where the curvature is wanted, placement and assignment are those of the posture found
    curvature : Curvature, written in place, by the frame alone

    References
    ----------
    Naive twins: tests/reference/body_model/
    """
    built, placement, assigned = scratch.built, scratch.placement, scratch.assigned
    build(body, shaped.shape, built)
    cost = descend(built, posture, placement, seen, targets, weights, steps, assigned, scratch.equations, scratch.trial)
    if not curved:
        return float(cost)
    place(body, shaped, placement)
    assign(placement, seen, weights, assigned)
    linearize(body, placement, shaped, seen, alone, weights, assigned, scratch.with_shape)
    curve(body, placement, shaped.shape, scratch.with_shape, curvature)
    return float(cost)
