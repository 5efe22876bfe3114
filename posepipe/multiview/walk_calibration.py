"""The pose of one camera relative to another, from a person who walks through both views.

Poses of one moment, one of each view, are the same joints in the axes of both cameras. A random sample of moments gives
a rigid motion; the one that most moments agree with is refined on their joints. The offset between both clocks is
searched for in the same way, if asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.errors import PosepipeError
from posepipe.multiview.joint_tracks import JointPairs, JointTrack, pair_tracks
from posepipe.multiview.rigid_alignment import RigidMotion, fit_rigid_motion, refine_rigid_motion

AGREE_M = 0.15
"""Maximum mean distance of the joints of a moment that agrees with a motion."""
MIN_MOMENTS = 10
"""Minimum number of moments that agree."""
MIN_SHARE = 0.3
"""Minimum share of the moments with somebody in both views that agree."""
MIN_WALK_M = 0.8
"""Minimum length of the walk at these moments: of somebody who stands, the heading is uncertain."""
MAX_MOMENTS, COARSE_MOMENTS = 400, 100
"""Evenly spaced moments that are used; for each offset between clocks the second."""
SAMPLES, COARSE_SAMPLES = 400, 60
"""Random samples; for each offset between clocks the second."""
REFINEMENTS = 3
"""Refinements, each on the moments that agree with the last."""
SAMPLE_POSES = 2
"""Poses of one sample, at places MIN_APART_M apart where there are such."""
MIN_APART_M = 0.5
OFFSET_STEP_S = 1 / 15
"""Step of the search for an offset between clocks: a person walks 5 to 10 cm meanwhile."""
SAME_OFFSET_S, MAX_AMBIGUITY = 0.25, 0.85
"""Offsets farther from the best than the first must agree less than the second times as well as the best."""
_FINE_STEPS = 8  # of an offset step: the best step and both sides of it are searched again


@dataclass(frozen=True, slots=True, eq=False)
class WalkCalibration:
    """Pose of the second camera relative to the first, and how well it fits."""

    motion: RigidMotion  #: from the axes of the second camera to those of the first
    time_offset_s: float  #: added to the times of the second camera for those of the first
    moments: int  #: with somebody in both views
    agreeing: int  #: of these
    residual_m: float  #: median distance of the joints of agreeing moments
    walk_m: float  #: length of the walk at agreeing moments


def calibrate_walk(
    first: Sequence[JointTrack], second: Sequence[JointTrack], max_offset_s: float = 0.0, seed: int = 0
) -> WalkCalibration:
    """Find the pose of a second camera relative to a first.

    Parameters
    ----------
    first, second : people in both views, in the axes of their cameras
    max_offset_s : largest offset between both clocks that is searched for; 0 = they agree
    seed : of the random samples

    Raises
    ------
    PosepipeError
        When too little of a person is in both views, the views do not agree, or the person hardly walks.
    """
    rng = np.random.default_rng(seed)
    offset_s = _find_offset_s(first, second, max_offset_s, rng) if max_offset_s else 0.0
    pairs = pair_tracks(first, second, offset_s, MAX_MOMENTS)
    moments = len(np.unique(pairs.moments))
    wanted = max(MIN_MOMENTS, round(MIN_SHARE * moments))
    if moments < MIN_MOMENTS:
        raise PosepipeError(
            f"somebody is in both views at {moments} moments, wanted {MIN_MOMENTS}: let one person walk where both"
            " cameras see them whole"
        )
    motion = _refined(_sampled(pairs, SAMPLES, rng), pairs)
    distance_m = _distances_m(motion, pairs)
    rows = _agreeing(distance_m, pairs)
    if len(rows) < wanted:
        farther = f"a larger --max-offset than {max_offset_s:g}" if max_offset_s else "--max-offset 2"
        raise PosepipeError(
            f"the views agree at {len(rows)} of {moments} moments, wanted {wanted}: do they show the same person at the"
            f" same time? {farther} searches for an offset between their clocks"
        )
    walk_m = _walk_m(pairs, rows)
    if walk_m < MIN_WALK_M:
        raise PosepipeError(
            f"the person walks {walk_m:.1f} m where both cameras see them, wanted {MIN_WALK_M:g} m: let them walk about"
        )
    apart_m = np.linalg.norm(motion.apply(pairs.second_m[rows]) - pairs.first_m[rows], axis=2)[pairs.weight[rows] > 0]
    return WalkCalibration(motion, offset_s, moments, len(rows), float(np.median(apart_m)), walk_m)


def _find_offset_s(
    first: Sequence[JointTrack], second: Sequence[JointTrack], max_offset_s: float, rng: np.random.Generator
) -> float:
    """Offset at which the views agree best: coarsely, then finely around the best."""
    steps = int(np.ceil(max_offset_s / OFFSET_STEP_S))
    coarse = np.clip(OFFSET_STEP_S * np.arange(-steps, steps + 1), -max_offset_s, max_offset_s)
    scores = np.array([_agreement(first, second, offset_s, None, rng) for offset_s in coarse])
    best_s = float(coarse[np.argmax(scores)])
    others = scores[np.abs(coarse - best_s) > SAME_OFFSET_S]
    if others.max(initial=0.0) > MAX_AMBIGUITY * scores.max():
        raise PosepipeError(
            "the walk looks alike at other offsets between the clocks: let the person walk in curves, stop and turn"
        )
    pairs = pair_tracks(first, second, best_s, MAX_MOMENTS)
    if not len(pairs.moments):
        return 0.0
    motion = _refined(_sampled(pairs, SAMPLES, rng), pairs)
    around = OFFSET_STEP_S * np.arange(-_FINE_STEPS, _FINE_STEPS + 1) / _FINE_STEPS
    fine = np.clip(best_s + around, -max_offset_s, max_offset_s)
    of_fine = [_agreement(first, second, offset_s, motion, rng) for offset_s in fine]
    return float(fine[np.argmax(of_fine)])


def _agreement(
    first: Sequence[JointTrack],
    second: Sequence[JointTrack],
    offset_s: float,
    motion: RigidMotion | None,
    rng: np.random.Generator,
) -> float:
    """How well the views agree at an offset: by a motion refined there, from a given one or from samples."""
    pairs = pair_tracks(first, second, offset_s, MAX_MOMENTS if motion else COARSE_MOMENTS, between=True)
    if len(pairs.moments) < SAMPLE_POSES:
        return 0.0
    motion = _sampled(pairs, COARSE_SAMPLES, rng) if motion is None else _refined(motion, pairs)
    return _score(_distances_m(motion, pairs), pairs)


def _sampled(pairs: JointPairs, samples: int, rng: np.random.Generator) -> RigidMotion:
    """The motion of a random sample of moments that most moments agree with.

    References
    ----------
    Fischler and Bolles, Random sample consensus, Communications of the ACM 1981.
    """
    centres_m = _centres_m(pairs)
    best, best_score = None, -1.0
    for _ in range(samples):
        row = int(rng.integers(len(pairs.moments)))
        away = np.flatnonzero(np.linalg.norm(centres_m - centres_m[row], axis=1) >= MIN_APART_M)
        others = away if len(away) else np.arange(len(pairs.moments))
        rows = [row, *rng.choice(others, SAMPLE_POSES - 1).tolist()]
        weight = pairs.weight[rows].ravel()
        motion = fit_rigid_motion(pairs.second_m[rows].reshape(-1, 3), pairs.first_m[rows].reshape(-1, 3), weight)
        score = _score(_distances_m(motion, pairs), pairs)
        if score > best_score:
            best, best_score = motion, score
    assert best is not None
    return best


def _refined(motion: RigidMotion, pairs: JointPairs) -> RigidMotion:
    """Refine a motion on the joints of the moments that agree with it."""
    for _ in range(REFINEMENTS):
        rows = _agreeing(_distances_m(motion, pairs), pairs)
        if not len(rows):
            return motion
        weight = pairs.weight[rows].ravel()
        found = weight > 0
        second_m, first_m = pairs.second_m[rows].reshape(-1, 3), pairs.first_m[rows].reshape(-1, 3)
        motion = refine_rigid_motion(motion, second_m[found], first_m[found], weight[found])
    return motion


def _distances_m(motion: RigidMotion, pairs: JointPairs) -> np.ndarray:
    """Mean distance of the joints of each pair, weighted by confidence: float64 (N,)."""
    distance_m = np.linalg.norm(motion.apply(pairs.second_m) - pairs.first_m, axis=2)
    return (pairs.weight * distance_m).sum(axis=1) / pairs.weight.sum(axis=1)


def _score(distance_m: np.ndarray, pairs: JointPairs) -> float:
    """Number of moments that agree, each less the farther its best pair is apart."""
    of_moment = np.zeros(int(pairs.moments.max()) + 1)
    np.maximum.at(of_moment, pairs.moments, np.maximum(1 - (distance_m / AGREE_M) ** 2, 0.0))
    return float(of_moment.sum())


def _agreeing(distance_m: np.ndarray, pairs: JointPairs) -> np.ndarray:
    """Rows of the best pair of every moment that agrees."""
    order = np.argsort(distance_m, kind="stable")
    order = order[distance_m[order] <= AGREE_M]
    _, first = np.unique(pairs.moments[order], return_index=True)
    return np.sort(order[first])


def _centres_m(pairs: JointPairs) -> np.ndarray:
    """Weighted mean of the joints of each pair in the first view: float64 (N, 3)."""
    return (pairs.weight[..., None] * pairs.first_m).sum(axis=1) / pairs.weight.sum(axis=1)[:, None]


def _walk_m(pairs: JointPairs, rows: np.ndarray) -> float:
    """Extent of the places of a person along their main direction, without the outermost twentieths."""
    centres_m = _centres_m(pairs)[rows]
    _, _, axes = np.linalg.svd(centres_m - centres_m.mean(axis=0), full_matrices=False)
    low, high = np.percentile(centres_m @ axes[0], [5, 95])
    return float(high - low)
