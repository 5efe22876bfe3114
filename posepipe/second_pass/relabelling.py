"""Kernels: part probabilities of pixels, given a pose as well.

A pixel 3 cm from the left wrist is hardly one of the head, whatever the forest says of it. The logarithms of the
forest's probabilities and of the distances to the joints, each joint weighted by its confidence, are summed with fitted
weights: a log-linear pool, which a multinomial logistic regression fits. Distances do not change when a person turns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.compilation import compiled_for, njit, prange
from posepipe.joints.mlp import mlp_forward
from posepipe.parts import PartProbabilities

ADDED_PROBABILITY = np.float32(0.01)
"""Added to probabilities before their logarithm, which is finite at 0 too."""
ADDED_DISTANCE_M = np.float32(0.03)
"""Added to distances before their logarithm, in the same way."""
NEUTRAL_M = np.float32(0.2)
"""Sum, with ADDED_DISTANCE_M, at which a joint says nothing. Elsewhere it says less, the lower its confidence."""
MAX_WEIGHT = 1e4
"""Maximum of a weight, positive or negative: sums of larger ones could overflow."""
MIN_LOG_ODDS = np.float32(-17)
"""Log-odds against the most probable part below which a part has probability 0: less is lost in rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Relabelling:
    """Weights of the relabelling, for K parts and J joints."""

    weights: np.ndarray  #: float32 (K + J, K), of the forest's log probabilities, then of the log distances
    bias: np.ndarray  #: float32 (K,)

    def check(self, body: BodyDefinition) -> None:
        """Raise ValueError when shapes or types are not those of a body, or a weight is beyond MAX_WEIGHT."""
        parts, joints = len(body.parts), len(body.joints)
        for name, shape in (("weights", (parts + joints, parts)), ("bias", (parts,))):
            have = getattr(self, name)
            if have.shape != shape or have.dtype != np.float32:
                raise ValueError(f"relabelling: {name} must be float32 {shape}, got {have.dtype} {have.shape}")
            beyond = have[~(np.abs(have) <= MAX_WEIGHT)]  # NaN, too
            if len(beyond):
                raise ValueError(f"relabelling: {name} must lie within {MAX_WEIGHT:g} of 0, got {beyond[0]:g}")


def pool_terms(values: np.ndarray, points_m: np.ndarray, joints_m: np.ndarray, confidences: np.ndarray) -> np.ndarray:
    """The terms that the relabelling weights.

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
    terms = pool_terms(parts.probabilities, points_m, joints_m, confidences)
    log_odds = mlp_forward(terms, [_whole_vectors(relabelling.weights)], [_whole_vectors(relabelling.bias)])
    values = np.empty_like(parts.probabilities)
    _share_among_parts(parts.probabilities, log_odds, values)
    return replace(parts, probabilities=values)


def _whole_vectors(weights: np.ndarray) -> np.ndarray:
    """Add columns of 0 up to a multiple of 8, which are computed as fast as one: half of the time of a human body."""
    padded = np.zeros((*weights.shape[:-1], -(-weights.shape[-1] // 8) * 8), np.float32)
    padded[..., : weights.shape[-1]] = weights
    return padded


@compiled_for("f4[:,::1], f4[:,::1], f4[:,::1], f4[::1], f4[:,::1]")
@njit(cache=True, parallel=True)
def _fill_terms(values, points_m, joints_m, confidences, terms):
    n_parts, of_none = values.shape[1] - 1, np.log(ADDED_PROBABILITY)
    for n in prange(len(values)):  # a pixel owns its row of `terms`
        for k in range(n_parts):
            p = values[n, k + 1]
            terms[n, k] = np.log(p + ADDED_PROBABILITY) if p > 0 else of_none
        for j in range(len(joints_m)):
            terms[n, n_parts + j] = np.float32(0)
            if confidences[j] > 0:
                x, y = points_m[n, 0] - joints_m[j, 0], points_m[n, 1] - joints_m[j, 1]
                z = points_m[n, 2] - joints_m[j, 2]
                apart_m = np.sqrt(x * x + y * y + z * z)
                terms[n, n_parts + j] = confidences[j] * np.log((apart_m + ADDED_DISTANCE_M) / NEUTRAL_M)


@compiled_for("f4[:,::1], f4[:,::1], f4[:,::1]")
@njit(cache=True, parallel=True)
def _share_among_parts(before, log_odds, after):
    n_parts = after.shape[1] - 1
    for n in prange(len(log_odds)):  # a pixel owns its row of `after`
        highest, total = log_odds[n, :n_parts].max(), np.float32(0)
        for k in range(n_parts):
            beneath = log_odds[n, k] - highest
            after[n, k + 1] = np.exp(beneath) if beneath > MIN_LOG_ODDS else np.float32(0)
            total += after[n, k + 1]
        after[n, 0] = before[n, 0]
        for k in range(n_parts):
            after[n, k + 1] *= max(np.float32(1) - before[n, 0], np.float32(0)) / total
