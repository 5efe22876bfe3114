"""Kernel: part probabilities of pixels, given a pose as well.

A pixel 3 cm from the left wrist is hardly one of the head, whatever the forest says of it. The logarithms of the
forest's probabilities and of the distances to the joints, each joint weighted by its confidence, are summed with fitted
weights: a log-linear pool, which a multinomial logistic regression fits. Distances do not change when a person turns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.compilation import compiled_for, njit, prange
from posepipe.parts import PartProbabilities

LEAST_PROBABILITY = np.float32(0.01)
"""Added to probabilities before their logarithm."""
LEAST_DISTANCE_M = np.float32(0.03)
"""Added to distances before their logarithm."""
NEUTRAL_M = np.float32(0.2)
"""Distance, less the one above, at which a joint says nothing; a joint that is not sure says little elsewhere too."""


@dataclass(frozen=True, slots=True, eq=False)
class Relabelling:
    """Weights of the relabelling, for K parts and J joints."""

    weights: np.ndarray  #: float32 (K + J, K), of the forest's log probabilities, then of the log distances
    bias: np.ndarray  #: float32 (K,)

    def check(self, body: BodyDefinition) -> None:
        """Raise ValueError when shapes or types are not those of a body, or a value is not finite."""
        parts, joints = len(body.parts), len(body.joints)
        for name, shape in (("weights", (parts + joints, parts)), ("bias", (parts,))):
            have = getattr(self, name)
            if have.shape != shape or have.dtype != np.float32 or not np.isfinite(have).all():
                raise ValueError(f"relabelling: {name} must be finite float32 {shape}, got {have.dtype} {have.shape}")


def pool_terms(values: np.ndarray, points_m: np.ndarray, joints_m: np.ndarray, confidences: np.ndarray) -> np.ndarray:
    """The terms that the relabelling weights, as training sees them.

    Parameters
    ----------
    values : float32 (N, 1 + K), part probabilities, class 0 first
    points_m : float32 (N, 3), metres
    joints_m : float32 (J, 3), metres, in the axes of the points; any value where the confidence is 0
    confidences : float32 (J,), 0 = the pose lacks the joint

    Returns
    -------
    float32 (N, K + J)
    """
    terms = np.empty((len(values), values.shape[1] - 1 + len(joints_m)), np.float32)
    _fill_terms(values, points_m, joints_m, confidences, terms)
    return terms


def relabel(
    parts: PartProbabilities,
    points_m: np.ndarray,
    joints_m: np.ndarray,
    confidences: np.ndarray,
    relabelling: Relabelling,
) -> PartProbabilities:
    """Part probabilities given a pose; the probability of class 0 stays.

    Parameters
    ----------
    parts : PartProbabilities of N pixels
    points_m : float32 (N, 3), metres, of these pixels
    joints_m : float32 (J, 3), metres, in the axes of the points; any value where the confidence is 0
    confidences : float32 (J,), 0 = the pose lacks the joint
    relabelling : Relabelling

    Returns
    -------
    PartProbabilities of the same pixels

    References
    ----------
    Log-linear pooling: Genest and Zidek, Statistical Science 1986. Labels that see an earlier labelling's context: Tu,
    CVPR 2008. Naive twin: tests/reference/second_pass/relabelling.py
    """
    values = np.empty_like(parts.values)
    _relabel(parts.values, points_m, joints_m, confidences, relabelling.weights, relabelling.bias, values)
    return replace(parts, values=values)


@compiled_for("f4[:,::1], f4[:,::1], f4[:,::1], f4[::1], f4[:,::1]")
@njit(cache=True, parallel=True)
def _fill_terms(values, points_m, joints_m, confidences, terms):
    n_parts = values.shape[1] - 1
    for n in prange(len(values)):
        for k in range(n_parts):
            terms[n, k] = np.log(values[n, k + 1] + LEAST_PROBABILITY)
        for j in range(len(joints_m)):
            terms[n, n_parts + j] = np.float32(0)
            if confidences[j] > 0:
                x, y = points_m[n, 0] - joints_m[j, 0], points_m[n, 1] - joints_m[j, 1]
                z = points_m[n, 2] - joints_m[j, 2]
                apart_m = np.sqrt(x * x + y * y + z * z)
                terms[n, n_parts + j] = confidences[j] * np.log((apart_m + LEAST_DISTANCE_M) / NEUTRAL_M)


@compiled_for("f4[:,::1], f4[:,::1], f4[:,::1], f4[::1], f4[:,::1], f4[::1], f4[:,::1]")
@njit(cache=True, parallel=True)
def _relabel(values, points_m, joints_m, confidences, weights, bias, out):
    n_parts = len(bias)
    log_of_least = np.log(LEAST_PROBABILITY)
    for n in prange(len(values)):  # a pixel owns its row of `out`
        log_odds = bias.copy()
        for c in range(n_parts):
            p = values[n, c + 1]
            term = log_of_least if p == 0 else np.log(p + LEAST_PROBABILITY)  # most are 0
            for k in range(n_parts):
                log_odds[k] += weights[c, k] * term
        for j in range(len(joints_m)):
            if confidences[j] > 0:
                x, y = points_m[n, 0] - joints_m[j, 0], points_m[n, 1] - joints_m[j, 1]
                z = points_m[n, 2] - joints_m[j, 2]
                apart_m = np.sqrt(x * x + y * y + z * z)
                term = confidences[j] * np.log((apart_m + LEAST_DISTANCE_M) / NEUTRAL_M)
                for k in range(n_parts):
                    log_odds[k] += weights[n_parts + j, k] * term
        highest, total = log_odds.max(), np.float32(0)
        for k in range(n_parts):
            log_odds[k] = np.exp(log_odds[k] - highest)
            total += log_odds[k]
        out[n, 0] = values[n, 0]
        for k in range(n_parts):
            out[n, k + 1] = log_odds[k] * ((np.float32(1) - values[n, 0]) / total)
