"""Kernel: a posture improved, and what the frame then says of joints and build. The one kernel that a fit calls."""

from __future__ import annotations

from typing import NamedTuple

from posepipe.body_model.kernels.curvature import curve
from posepipe.body_model.kernels.descent import descend
from posepipe.body_model.kernels.fit_arrays import Assignment, Equations, Targets
from posepipe.body_model.kernels.placement import LENGTHS, BodyArrays, Placement, Posture, build, place
from posepipe.body_model.kernels.residuals import assign, linearize
from posepipe.compilation import njit


class FitScratch(NamedTuple):
    """Arrays that a fit writes, and that the next one uses again."""

    built: BodyArrays  #: of the build, without coefficients
    placement: Placement  #: of the posture found
    assigned: Assignment  #: of the posture found
    equations: Equations  #: of the posture
    trial: Equations  #: of a posture that is tried
    with_shape: Equations  #: of posture and shape

    @classmethod
    def empty(cls, body: BodyArrays, points: int) -> FitScratch:
        """Arrays for fits of one kind of body to at most so many points."""
        segments, coefficients = len(body.parents), len(body.origins_m) - 1
        lengths = {name: getattr(body, name)[:1].copy() for name in LENGTHS}
        return cls(
            body._replace(**lengths),
            Placement.empty(body),
            Assignment.empty(points),
            Equations.empty(segments, 0),
            Equations.empty(segments, 0),
            Equations.empty(segments, coefficients),
        )


@njit(cache=True)
def fit_posture(body, shape, posture, seen, targets, weights, steps, curved, scratch, curvature):
    """Improve a posture of one build, in place; return the sum of its costs.

    Parameters
    ----------
    body : BodyArrays, of K coefficients
    shape : float64 (K,), coefficients of the build
    posture : Posture without coefficients, changed in place
    seen : Observation
    targets : Targets
    weights : Weights
    steps : int, maximum number of steps that are tried
    curved : bool, whether the curvature is wanted
    scratch : FitScratch; where the curvature is wanted, placement and assignment are those of the posture found
    curvature : Curvature, written in place, by the frame alone: without the last places of the joints

    References
    ----------
    Naive twins: tests/reference/body_model/
    """
    built, placement, assigned = scratch.built, scratch.placement, scratch.assigned
    build(body, shape, built)
    cost = descend(built, posture, placement, seen, targets, weights, steps, assigned, scratch.equations, scratch.trial)
    if not curved:
        return cost
    own = Posture(posture.root_m, posture.turns, shape)
    place(body, own, placement)
    assign(placement, seen, weights, assigned)
    alone = Targets(targets.joints_m, targets.weights, targets.last_m, targets.last_weights[:0])
    linearize(body, placement, own, seen, alone, weights, assigned, scratch.with_shape)
    curve(body, placement, shape, scratch.with_shape, curvature)
    return cost
