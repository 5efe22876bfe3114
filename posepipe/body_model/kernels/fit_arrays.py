"""What the kernels of the fit take and fill: weights, what the camera shows, normal equations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.body_model.kernels.placement import LENGTHS, BodyArrays, Placement

N_TERMS = 8
POINTS, LABELS, SILHOUETTE, FREE_SPACE, TARGETS, TURNS, CONTACT, REST = range(N_TERMS)
"""Rows of the costs."""


class Weights(NamedTuple):
    """Standard deviations of the terms; at its bound a squared residual costs half of the most it can."""

    point_sigma_m: float = 0.02
    point_bound_m: float = 0.08
    points: float = 120.0  #: independent measurements that all points together are worth
    label: float = 1.0  #: share of -2 log probability of its capsule that a point's choice costs
    silhouette_sigma_m: float = 0.07
    silhouette_bound_m: float = 0.15
    free_sigma_m: float = 0.1
    free_bound_m: float = 0.2
    target_sigma_m: float = 0.015  #: of a joint of confidence 1
    target_bound_m: float = 0.15
    rest_sigma_m: float = 0.01  #: of the motion of a joint that rests, since the last frame
    rest_bound_m: float = 0.02  #: joints that move further do not rest
    motion_sigma_m_s: float = 0.9  #: of the speed of any joint, beside that of the person
    motion_bound_m_s: float = 7.0  #: faster joints were in the wrong place
    turn: float = 0.7  #: share of the squared turns, measured in their standard deviations
    limit_sigma_rad: float = 0.1
    contact_sigma_m: float = 0.02
    contact_share: float = 0.8  #: of the radii: flesh gives way


WEIGHTS_TYPE = Weights, ", ".join(["f8"] * len(Weights._fields))


class Observation(NamedTuple):
    """What the camera shows of one person."""

    points_m: np.ndarray  #: float64 (N, 3), camera axes
    point_weights: np.ndarray  #: float64 (N,), their sum is 1
    choices: np.ndarray  #: int64 (N, M), capsules that a point may lie on, highest probability first
    choice_costs: np.ndarray  #: float64 (N, M), -2 log probability
    outside_px: np.ndarray  #: float32 (H, W), distance of each cell of a grid from the person, cells; 0 = within
    depth_m: np.ndarray  #: float32 (H, W), of the cells; 0 = no reading
    camera: np.ndarray  #: float64 (4,), fx fy cx cy, of the grid


OBSERVATION_TYPE = Observation, "f8[:,::1], f8[::1], i8[:,::1], f8[:,::1], f4[:,::1], f4[:,::1], f8[::1]"


class Targets(NamedTuple):
    """Where joints are thought to be before the fit."""

    joints_m: np.ndarray  #: float64 (J, 3), camera axes
    weights: np.ndarray  #: float64 (J,), 0 = not found
    last_m: np.ndarray  #: float64 (J, 3), joints of the body in the last frame of the track
    moved_m: np.ndarray  #: float64 (J, 3), these joints, moved as the person has moved since
    last_weights: np.ndarray  #: float64 (J,), 0 = no last frame
    elapsed_s: float  #: since the last frame

    @classmethod
    def empty(cls, joints: int) -> Targets:
        """Targets of nothing."""
        places_m = (np.zeros((joints, 3)) for _ in range(3))
        return cls(next(places_m), np.zeros(joints), next(places_m), next(places_m), np.zeros(joints), 1.0)


TARGETS_TYPE = Targets, "f8[:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[::1], f8"


class Assignment(NamedTuple):
    """The capsule of each point, and the place on it."""

    capsules: np.ndarray  #: int64 (N,)
    shares: np.ndarray  #: float64 (N,), of the axis
    label_costs: np.ndarray  #: float64 (N,), of the capsules

    @classmethod
    def empty(cls, points: int) -> Assignment:
        """Arrays to be filled by `assign`."""
        return cls(np.zeros(points, np.int64), np.zeros(points), np.zeros(points))


ASSIGNMENT_TYPE = Assignment, "i8[::1], f8[::1], f8[::1]"


class Equations(NamedTuple):
    """Normal equations of a step of D unknowns, and the arrays that they are summed in."""

    normal: np.ndarray  #: float64 (D, D), lower triangle
    gradient: np.ndarray  #: float64 (D,), half the derivative of the cost where no bound applies
    costs: np.ndarray  #: float64 (N_TERMS,)
    sums: np.ndarray  #: float64 (S, 6 + K, 6 + K), of `add_residual`
    forces: np.ndarray  #: float64 (S, 6 + K)

    @classmethod
    def empty(cls, segments: int, coefficients: int) -> Equations:
        """Arrays to be filled by `linearize`."""
        size, row = coefficients + 3 + 3 * segments, 6 + coefficients
        return cls(
            np.zeros((size, size)),
            np.zeros(size),
            np.zeros(N_TERMS),
            np.zeros((segments, row, row)),
            np.zeros((segments, row)),
        )


EQUATIONS_TYPE = Equations, "f8[:,::1], f8[::1], f8[::1], f8[:,:,::1], f8[:,::1]"


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
